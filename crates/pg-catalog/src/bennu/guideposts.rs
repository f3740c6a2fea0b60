//! `bennu.guideposts`: the guideposts of ANALYZE, which split regions into ranges; Phoenix's SYSTEM.STATS.

use crate::rows::{Cell, Rows};
use crate::source::Source;
use std::fmt::Write;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    for table in source.catalog.tables() {
        let Some(found) = table.statistics().filter(|found| found.storage == table.storage) else { continue };
        for post in &found.guideposts {
            rows.add([
                ("schemaname", source.catalog.schema_name(table).into()),
                ("tablename", table.name.as_str().into()),
                ("region", post.region.into()),
                ("guidepost", post.key.as_ref().map_or(Cell::Null, |key| Cell::Text(hex(key)))),
                ("rows", count(post.size.rows).into()),
                ("bytes", count(post.size.bytes).into()),
            ]);
        }
    }
}

/// Prints bytes like `bytea`.
fn hex(key: &[u8]) -> String {
    key.iter().fold("\\x".to_owned(), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
