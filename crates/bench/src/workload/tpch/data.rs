//! Generates the rows of TPC-H's tables as CSV lines with `|` between the columns, without files.

use std::fmt::{Display, Write as _};
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator, PartSuppGenerator,
    RegionGenerator, SupplierGenerator,
};

/// The tables in load order.
pub(crate) const TABLES: [&str; 8] =
    ["region", "nation", "part", "supplier", "partsupp", "customer", "orders", "lineitem"];

/// Passes the lines of `table` at `scale` to `take`, in chunks of about 1 MiB.
pub(crate) fn lines(table: &str, scale: f64, take: impl FnMut(String)) {
    match table {
        "region" => chunks(RegionGenerator::new(scale, 1, 1).iter(), take),
        "nation" => chunks(NationGenerator::new(scale, 1, 1).iter(), take),
        "part" => chunks(PartGenerator::new(scale, 1, 1).iter(), take),
        "supplier" => chunks(SupplierGenerator::new(scale, 1, 1).iter(), take),
        "partsupp" => chunks(PartSuppGenerator::new(scale, 1, 1).iter(), take),
        "customer" => chunks(CustomerGenerator::new(scale, 1, 1).iter(), take),
        "orders" => chunks(OrderGenerator::new(scale, 1, 1).iter(), take),
        _ => chunks(LineItemGenerator::new(scale, 1, 1).iter(), take),
    }
}

fn chunks<T: Display>(rows: impl Iterator<Item = T>, mut take: impl FnMut(String)) {
    let mut text = String::new();
    for row in rows {
        let start = text.len();
        // Writing to a String cannot fail.
        let _ = write!(text, "{row}");
        // dbgen ends each line with the delimiter, which CSV would read as another column.
        if text.get(start..).is_some_and(|line| line.ends_with('|')) {
            text.pop();
        }
        text.push('\n');
        if text.len() > 1 << 20 {
            take(std::mem::take(&mut text));
        }
    }
    take(text);
}
