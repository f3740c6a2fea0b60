//! The lines of a scan: access path, key ranges, salt buckets, filters, and the store's counters.

use super::expr_text::logical;
use crate::exec::RegionScanExec;
use crate::exec::scan::Regions;
use datafusion::logical_expr::{Expr, Operator};
use datafusion::physical_plan::ExecutionPlan;
use rowkey::KeySchema;
use rowkey::range::{Access, ByteRange, KeyRanges, describe};
use rows::{PlanNode, Property};

/// How many ranges are shown; of the others only the number.
const RANGES_SHOWN: usize = 4;

/// `Range scan on flights`, `Index only scan using flights_dest on flights`.
pub(super) fn titled(scan: &RegionScanExec) -> PlanNode {
    let back = if scan.is_reverse() { " backward" } else { "" };
    let source = scan.source();
    let table = &source.table_codec().table().name;
    let how = match source.fetched_by() {
        Some(_) => "Index scan",
        None => "Index only scan",
    };
    let node = match source.used_index() {
        Some(index) if scan.path().ranges.access != Access::Empty => {
            let other = scan.partner().map(|partner| format!(" and {}", partner.index.codec.index().name));
            let indexes = format!("{}{}", index.codec.index().name, other.unwrap_or_default());
            let title = format!("{how}{back} using {indexes} on {table}");
            PlanNode::of(how).titled(title).naming("Index name", indexes)
        }
        _ => {
            let how = scan.path().name();
            PlanNode::of(how).titled(format!("{how}{back} on {table}"))
        }
    };
    let node = node.naming("Relation name", table);
    if scan.is_reverse() { node.naming("Scan direction", "Backward") } else { node }
}

/// Returns the lines below the title.
pub(super) fn details(scan: &RegionScanExec, regions: Option<Regions>, verbose: bool) -> Vec<Property> {
    let path = scan.path();
    let ranges = &path.ranges;
    let mut lines = Vec::new();
    if verbose {
        let columns: Vec<&str> = scan.output_columns().collect();
        lines.push(Property::new("Output", columns.join(", ")));
    }
    if !matches!(ranges.access, Access::Full | Access::Empty) {
        let of = if scan.source().used_index().is_some() { "Index" } else { "Key" };
        let shown = ranges_text(scan.source().scanned().key_schema(), ranges);
        lines.push(Property::new(format!("{of} ranges"), shown));
    }
    if let Some(partner) = scan.partner() {
        let name = &partner.index.codec.index().name;
        let shown = ranges_text(partner.index.entries.key_schema(), &partner.path.ranges);
        let how = if partner.merges { "merged by rowkey" } else { "rowkeys kept" };
        lines.push(Property::new(format!("Index ranges of {name}"), format!("{shown} ({how})")));
    }
    if let (Some(buckets), Some(all)) = (&ranges.buckets, scan.source().scanned().key_schema().salt_buckets)
        && ranges.access != Access::Empty
    {
        let how = if scan.merges_buckets() { ", merged in key order" } else { "" };
        lines.push(Property::new("Salt buckets", format!("{} of {all}{how}", buckets.len())));
    }
    if let Some(regions) = regions.filter(|_| ranges.access != Access::Empty) {
        lines.push(Property::new("Regions", format!("{} of {}", regions.touched, regions.all)));
    }
    lines.extend(filter_lines(scan));
    if let Some(columns) = scan.skips().filter(|columns| !columns.is_empty()) {
        lines.push(Property::new("Skips to the next", columns.join(", ")));
    }
    if scan.has_dynamic_filter() {
        lines.push(Property::flag("Narrowed while running by the operators above"));
    }
    lines.extend(scan.fetch().map(|fetch| Property::new("Limit", fetch.to_string())));
    lines
}

/// Formats the filters, by where they are checked.
fn filter_lines(scan: &RegionScanExec) -> impl Iterator<Item = Property> {
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

fn filter_line(label: &str, filters: &[Expr]) -> Option<Property> {
    let bracketed = |filter: &Expr| match filter {
        Expr::BinaryExpr(binary) if binary.op == Operator::Or && filters.len() > 1 => format!("({})", logical(filter)),
        _ => logical(filter),
    };
    let texts: Vec<String> = filters.iter().map(bracketed).collect();
    (!texts.is_empty()).then(|| Property::new(label, texts.join(" AND ")))
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
pub(super) fn counters(node: &dyn ExecutionPlan) -> Option<Property> {
    let scan = node.downcast_ref::<RegionScanExec>()?;
    let metrics = node.metrics()?;
    let count = |name: &str| metrics.sum_by_name(name).map_or(0, |value| value.as_usize());
    let names = ["seeks", "rows_read", "rows_returned", "bytes_read", "block_rows"];
    let texts: Vec<String> = names.iter().map(|name| format!("{name}={}", count(name))).collect();
    let met = scan.partner().map(|partner| {
        let name = &partner.index.codec.index().name;
        format!(" entries_of_{name}={} in_both={}", count("other_entries"), count("in_both"))
    });
    Some(Property::new("Store", format!("{}{}", texts.join(" "), met.unwrap_or_default())))
}
