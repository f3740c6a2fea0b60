//! The lines of a scan: access path, key ranges, salt buckets, filters, and the store's counters.

use super::expr_text::logical;
use crate::exec::RegionScanExec;
use crate::exec::scan::Regions;
use datafusion::logical_expr::{Expr, Operator};
use datafusion::physical_plan::ExecutionPlan;
use rowkey::KeySchema;
use rowkey::range::{Access, ByteRange, KeyRanges, describe};

/// How many ranges are shown; of the others only the number.
const RANGES_SHOWN: usize = 4;

/// `Range scan on flights`, `Index only scan using flights_dest on flights`.
pub(super) fn title(scan: &RegionScanExec) -> String {
    let back = if scan.is_reverse() { " backward" } else { "" };
    let source = scan.source();
    let table = &source.table_codec().table().name;
    let how = match source.fetched_by() {
        Some(_) => "Index scan",
        None => "Index only scan",
    };
    match source.used_index() {
        Some(index) if scan.path().ranges.access != Access::Empty => {
            let other = scan.partner().map(|partner| format!(" and {}", partner.index.codec.index().name));
            format!("{how}{back} using {}{} on {table}", index.codec.index().name, other.unwrap_or_default())
        }
        _ => format!("{}{back} on {table}", scan.path().name()),
    }
}

/// Returns the lines below the title.
pub(super) fn details(scan: &RegionScanExec, regions: Option<Regions>, verbose: bool) -> Vec<String> {
    let path = scan.path();
    let ranges = &path.ranges;
    let mut lines = Vec::new();
    if verbose {
        let columns: Vec<&str> = scan.output_columns().collect();
        lines.push(format!("Output: {}", columns.join(", ")));
    }
    if !matches!(ranges.access, Access::Full | Access::Empty) {
        let of = if scan.source().used_index().is_some() { "Index" } else { "Key" };
        lines.push(format!("{of} ranges: {}", ranges_text(scan.source().scanned().key_schema(), ranges)));
    }
    if let Some(partner) = scan.partner() {
        let name = &partner.index.codec.index().name;
        let shown = ranges_text(partner.index.entries.key_schema(), &partner.path.ranges);
        let how = if partner.merges { "merged by rowkey" } else { "rowkeys kept" };
        lines.push(format!("Index ranges of {name}: {shown} ({how})"));
    }
    if let (Some(buckets), Some(all)) = (&ranges.buckets, scan.source().scanned().key_schema().salt_buckets)
        && ranges.access != Access::Empty
    {
        let how = if scan.merges_buckets() { ", merged in key order" } else { "" };
        lines.push(format!("Salt buckets: {} of {all}{how}", buckets.len()));
    }
    if let Some(regions) = regions.filter(|_| ranges.access != Access::Empty) {
        lines.push(format!("Regions: {} of {}", regions.touched, regions.all));
    }
    lines.extend(filter_lines(scan));
    if let Some(columns) = scan.skips().filter(|columns| !columns.is_empty()) {
        lines.push(format!("Skips to the next: {}", columns.join(", ")));
    }
    if scan.has_dynamic_filter() {
        lines.push("Narrowed while running by the operators above".to_owned());
    }
    lines.extend(scan.fetch().map(|fetch| format!("Limit: {fetch}")));
    lines
}

/// Formats the filters, by where they are checked.
fn filter_lines(scan: &RegionScanExec) -> impl Iterator<Item = String> {
    let path = scan.path();
    let (scanned, fetched) = (&path.scanned, &path.fetched);
    let lines = match scan.source().used_index() {
        None => vec![
            ("Key filter", &path.key_filters),
            ("Checked on bytes", &scanned.bytes),
            ("Checked on rows", &scanned.rows),
        ],
        // The filters on rows are empty if the index is a covered index.
        Some(_) => vec![
            ("Index filter", &path.key_filters),
            ("Checked on bytes of entries", &scanned.bytes),
            ("Checked on entries", &scanned.rows),
            ("Checked on bytes", &fetched.bytes),
            ("Checked on rows", &fetched.rows),
        ],
    };
    let of_partner = scan.partner().into_iter().flat_map(|partner| {
        let (name, path) = (&partner.index.codec.index().name, &partner.path);
        let lines = [
            ("Index filter", &path.key_filters),
            ("Checked on bytes of entries", &path.scanned.bytes),
            ("Checked on entries", &path.scanned.rows),
        ];
        lines.into_iter().filter_map(move |(label, filters)| filter_line(&format!("{label} of {name}"), filters))
    });
    lines.into_iter().filter_map(|(label, filters)| filter_line(label, filters)).chain(of_partner)
}

fn filter_line(label: &str, filters: &[Expr]) -> Option<String> {
    let bracketed = |filter: &Expr| match filter {
        Expr::BinaryExpr(binary) if binary.op == Operator::Or && filters.len() > 1 => format!("({})", logical(filter)),
        _ => logical(filter),
    };
    let texts: Vec<String> = filters.iter().map(bracketed).collect();
    (!texts.is_empty()).then(|| format!("{label}: {}", texts.join(" AND ")))
}

/// Formats the ranges, of one bucket if all buckets have the same.
fn ranges_text(schema: &KeySchema, ranges: &KeyRanges) -> String {
    let shared = shared_ranges(ranges);
    let shown = shared.as_ref().unwrap_or(&ranges.ranges);
    let mut texts: Vec<String> =
        shown.iter().take(RANGES_SHOWN).map(|range| range_text(schema, range, shared.is_some())).collect();
    if shown.len() > RANGES_SHOWN {
        texts.push(format!("and {} more", shown.len() - RANGES_SHOWN));
    }
    texts.join(", ")
}

/// Returns the ranges of the first bucket, if all buckets have the same except for the salt.
fn shared_ranges(ranges: &KeyRanges) -> Option<Vec<ByteRange>> {
    let buckets = ranges.buckets.as_ref().filter(|buckets| buckets.len() > 1)?;
    let mut first: Option<(Vec<ByteRange>, Vec<Vec<u8>>)> = None;
    for bucket in buckets {
        let of_bucket = ranges.in_bucket(*bucket);
        let starts: Vec<Vec<u8>> =
            of_bucket.iter().map(|range| range.start.iter().skip(1).copied().collect()).collect();
        match &first {
            None => first = Some((of_bucket, starts)),
            Some((_, same)) if *same == starts => {}
            Some(_) => return None,
        }
    }
    first.map(|(ranges, _)| ranges)
}

fn range_text(schema: &KeySchema, range: &ByteRange, any_bucket: bool) -> String {
    let text = describe(schema, range);
    if !any_bucket {
        return text;
    }
    match text.split_once(':') {
        Some((salt, rest)) if salt.chars().all(|letter| letter.is_ascii_digit()) => rest.to_owned(),
        _ => text,
    }
}

/// Formats the store's counters of a scan.
pub(super) fn counters(node: &dyn ExecutionPlan) -> Option<String> {
    let scan = node.downcast_ref::<RegionScanExec>()?;
    let metrics = node.metrics()?;
    let count = |name: &str| metrics.sum_by_name(name).map_or(0, |value| value.as_usize());
    let names = ["seeks", "rows_read", "rows_returned", "bytes_read", "block_rows"];
    let texts: Vec<String> = names.iter().map(|name| format!("{name}={}", count(name))).collect();
    let met = scan.partner().map(|partner| {
        let name = &partner.index.codec.index().name;
        format!(" entries_of_{name}={} in_both={}", count("other_entries"), count("in_both"))
    });
    Some(format!("Store: {}{}", texts.join(" "), met.unwrap_or_default()))
}
