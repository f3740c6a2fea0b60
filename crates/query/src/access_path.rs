//! How a scan reaches its rows: key ranges, byte predicates, and what is left to check on each row.
//!
//! One function decides twice. Before parameters are known ([`pushdown`]) it says which filters a scan will take;
//! when the scan is made ([`AccessPath::new`]) it says how. A filter that was taken is always checked by the scan:
//! if neither ranges nor bytes express it after all, row by row.

use crate::convert::expr_to_condition::{Mode, is_useful};
use crate::convert::expr_to_filter::{byte_filter, has_byte_form};
use crate::convert::expr_to_ranges::{key_condition, narrows_key, ranges_of};
use catalog::row_codec::RowCodec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use rowkey::range::{Access, Condition, KeyRanges};
use store::Filter;

/// May a scan of this table take the filter?
pub(crate) fn pushdown(codec: &RowCodec, filter: &Expr) -> TableProviderFilterPushDown {
    if filter.is_volatile() {
        return TableProviderFilterPushDown::Unsupported;
    }
    if narrows_key(codec, filter) || has_byte_form(codec, filter) {
        TableProviderFilterPushDown::Exact
    } else {
        TableProviderFilterPushDown::Unsupported
    }
}

/// Where the rows are and what they must satisfy. Plain data.
#[derive(Clone, Debug)]
pub(crate) struct AccessPath {
    /// What the filters say about the key, for later narrowing.
    pub(crate) conditions: Vec<Condition>,
    /// The ranges.
    pub(crate) ranges: KeyRanges,
    /// Filters that the ranges express wholly or in part.
    pub(crate) key_filters: Vec<Expr>,
    /// Predicates on bytes.
    pub(crate) filter: Option<Filter>,
    /// The filters that those stand for: checked again on rows that the store could not judge.
    pub(crate) byte_filters: Vec<Expr>,
    /// Filters that the scan checks on every row.
    pub(crate) row_filters: Vec<Expr>,
}

impl AccessPath {
    /// The path for `filters`, whose constants are all known.
    pub(crate) fn new(codec: &RowCodec, filters: &[Expr]) -> Self {
        let conditions: Vec<Condition> =
            filters.iter().map(|filter| key_condition(codec, Mode::Values, filter)).collect();
        let mut ranges = ranges_of(codec, &conditions);
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
        let bytes = byte_filter(codec, &open);
        let (mut byte_filters, mut row_filters) = (Vec::new(), Vec::new());
        for (filter, taken) in open.into_iter().zip(&bytes.taken) {
            if *taken { byte_filters.push(filter.clone()) } else { row_filters.push(filter.clone()) }
        }
        if bytes.never {
            ranges.ranges.clear();
            ranges.access = Access::Empty;
        }
        Self { conditions, ranges, key_filters, filter: bytes.filter, byte_filters, row_filters }
    }

    /// Is every row in the ranges wanted?
    pub(crate) fn checks_nothing(&self) -> bool {
        self.filter.is_none() && self.row_filters.is_empty()
    }

    /// Name of the way to the rows, as EXPLAIN shows it.
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
