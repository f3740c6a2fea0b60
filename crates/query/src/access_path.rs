//! The access path of a scan: key ranges, byte predicates, and the filters left to check on each row.
//!
//! Filters are judged twice by the same code. Before parameters are known ([`pushdown`]) it tells DataFusion which
//! filters a scan takes; when the scan is planned ([`AccessPath::of`]) it decides how. A filter that was taken is
//! always checked by the scan: row by row, if neither ranges nor byte predicates express it.

use crate::convert::expr_to_condition::{Mode, is_useful};
use crate::convert::expr_to_filter::{byte_filter, has_byte_predicate};
use crate::convert::expr_to_ranges::{narrows_key, ranges_of};
use crate::scan_source::{ScanSource, TableIndex};
use catalog::row_codec::RowCodec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use rowkey::range::{Access, Condition, KeyRanges, RangeLimits};
use std::sync::Arc;
use store::Filter;

/// Can a scan of this table, or of one of its indexes, take the filter?
pub(crate) fn pushdown<'a>(
    codec: &RowCodec,
    mut indexes: impl Iterator<Item = &'a Arc<TableIndex>>,
    filter: &Expr,
) -> TableProviderFilterPushDown {
    if filter.is_volatile() {
        return TableProviderFilterPushDown::Unsupported;
    }
    let mut by_index = || indexes.any(|index| index.may_benefit_from(filter));
    if narrows_key(codec, filter) || has_byte_predicate(codec, filter) || by_index() {
        TableProviderFilterPushDown::Exact
    } else {
        TableProviderFilterPushDown::Unsupported
    }
}

/// Filters that are checked on rows, or on index entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filters {
    /// Predicates on encoded bytes.
    pub(crate) store: Option<Filter>,
    /// The filters that `store` implements: checked again on rows that the store left undecided.
    pub(crate) bytes: Vec<Expr>,
    /// Filters that the scan checks on every row.
    pub(crate) rows: Vec<Expr>,
    /// Is one of them never true?
    never: bool,
}

impl Filters {
    fn new(codec: &RowCodec, open: &[&Expr]) -> Self {
        let found = byte_filter(codec, open);
        let (mut bytes, mut rows) = (Vec::new(), Vec::new());
        for (filter, taken) in open.iter().zip(&found.taken) {
            if *taken { bytes.push((*filter).clone()) } else { rows.push((*filter).clone()) }
        }
        Self { store: found.filter, bytes, rows, never: found.never }
    }

    fn check_nothing(&self) -> bool {
        self.store.is_none() && self.rows.is_empty()
    }
}

/// Where a filter is checked that the ranges do not express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// On the scanned rows or entries.
    OnScanned,
    /// On the fetched rows.
    OnRows,
    /// Not on this index: the other index of an intersection implies it.
    Elsewhere,
}

/// The key ranges and filters of a scan. Plain data.
#[derive(Clone, Debug)]
pub(crate) struct AccessPath {
    /// The conditions of the filters on the scanned key, for narrowing at run time.
    pub(crate) conditions: Vec<Condition>,
    /// The key ranges.
    pub(crate) ranges: KeyRanges,
    /// Filters that the ranges express, fully or partly.
    pub(crate) key_filters: Vec<Expr>,
    /// Filters that are checked on the scanned rows or entries.
    pub(crate) scanned: Filters,
    /// Filters that are checked on the fetched rows.
    pub(crate) fetched: Filters,
}

impl AccessPath {
    /// The path for `filters`, whose parameters are bound, with at most as many ranges as `limits` allows.
    pub(crate) fn of(
        source: &ScanSource,
        filters: &[Expr],
        checked: &dyn Fn(&Expr) -> Checked,
        limits: &RangeLimits,
    ) -> Self {
        let scanned = source.scanned();
        let conditions: Vec<Condition> =
            filters.iter().map(|filter| source.key_condition(Mode::Values, filter)).collect();
        let mut ranges = ranges_of(scanned, &conditions, limits);
        let mut key_filters = Vec::new();
        let mut open: Vec<&Expr> = Vec::new();
        for ((filter, condition), exact) in filters.iter().zip(&conditions).zip(&ranges.exact) {
            if is_useful(condition) && ranges.parts_used > 0 {
                key_filters.push(filter.clone());
            }
            if !exact {
                open.push(filter);
            }
        }
        let those = |at: Checked| open.iter().copied().filter(|filter| checked(filter) == at).collect::<Vec<_>>();
        let here = Filters::new(scanned, &those(Checked::OnScanned));
        let later = Filters::new(source.table_codec(), &those(Checked::OnRows));
        if here.never || later.never {
            ranges.ranges.clear();
            ranges.access = Access::Empty;
        }
        Self { conditions, ranges, key_filters, scanned: here, fetched: later }
    }

    /// Do the filters restrict the key?
    pub(crate) fn narrows(&self) -> bool {
        self.ranges.parts_used > 0 && self.ranges.access != Access::Full
    }

    /// Does every row in the ranges pass?
    pub(crate) fn checks_nothing(&self) -> bool {
        self.scanned.check_nothing() && self.fetched.check_nothing()
    }

    /// Is the filter checked on the fetched rows, so that it may not hold for an entry?
    pub(crate) fn leaves(&self, filter: &Expr) -> bool {
        self.fetched.bytes.contains(filter) || self.fetched.rows.contains(filter)
    }

    /// Are the ranges, one after the other, in key order?
    pub(crate) fn is_in_key_order(&self) -> bool {
        self.ranges.buckets.as_ref().is_none_or(|buckets| buckets.len() <= 1)
    }

    /// The name of the access path in EXPLAIN.
    pub(crate) fn name(&self) -> &'static str {
        match self.ranges.access {
            Access::Empty => "No rows",
            Access::Points(_) => "Point lookup",
            Access::Range => "Range scan",
            Access::SkipScan => "Skip scan",
            Access::Full => "Full scan",
        }
    }
}
