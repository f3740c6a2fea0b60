//! Filters of a scan to key ranges.
//!
//! ```text
//!   filters   --expr_to_condition-->  conditions on key parts   --rowkey::range-->  ranges, and which are exact
//! ```
//! A filter that the ranges cover exactly needs no further check; the caller checks the others.

use crate::convert::expr_to_condition::{ConditionBuilder, Mode, is_useful};
use catalog::row_codec::{Place, RowCodec};
use datafusion::common::Column;
use datafusion::logical_expr::Expr;
use rowkey::range::{Condition, KeyRanges, RangeLimits, key_ranges};
use store::{Bytes, KeyRange};
use types::DataType;

/// Maximum keys of a list that a join passes down. The scan decides whether so many lookups are worthwhile.
pub(crate) const MAX_JOIN_KEYS: usize = 16_384;
/// Lists that a join of several partitions may pass down at once.
const LISTS: usize = 4;

/// Returns the index, place and type of the column of that name.
pub(crate) fn place_of(codec: &RowCodec, column: &Column) -> Option<(usize, Place, DataType)> {
    let index = codec.table().columns.iter().position(|candidate| candidate.name == column.name)?;
    let ty = codec.table().columns.get(index)?.ty;
    Some((index, *codec.places().get(index)?, ty))
}

/// Returns the key part and the type of a column.
fn key_part(codec: &RowCodec, column: &Column) -> Option<(usize, DataType)> {
    match place_of(codec, column)? {
        (_, Place::Key(part), ty) => Some((part, ty)),
        _ => None,
    }
}

/// Returns the condition of one filter on the key.
pub(crate) fn key_condition(codec: &RowCodec, mode: Mode, filter: &Expr) -> Condition {
    let part_of = |column: &Column| key_part(codec, column);
    ConditionBuilder::new(mode, &part_of).condition(filter)
}

/// Returns whether a filter narrows the key ranges for any values of its parameters.
pub(crate) fn narrows_key(codec: &RowCodec, filter: &Expr) -> bool {
    is_useful(&key_condition(codec, Mode::Shape, filter))
}

/// Returns the key ranges of all conditions together.
pub(crate) fn ranges_of(codec: &RowCodec, conditions: &[Condition], limits: &RangeLimits) -> KeyRanges {
    key_ranges(codec.key_schema(), conditions, limits)
}

/// As [`ranges_of`], for keys that joins pass down: there may be many.
pub(crate) fn ranges_of_join_keys(codec: &RowCodec, conditions: &[Condition]) -> KeyRanges {
    key_ranges(codec.key_schema(), conditions, &RangeLimits::of(MAX_JOIN_KEYS * LISTS))
}

/// Returns how many ranges a scan may have. With `one_range`, at most one for each salt bucket.
pub(crate) fn range_limits(codec: &RowCodec, one_range: bool) -> RangeLimits {
    match one_range {
        true => RangeLimits::of(codec.key_schema().salt_buckets.map_or(1, usize::from)),
        false => RangeLimits::default(),
    }
}

/// Converts ranges of the algebra to ranges of the store.
pub(crate) fn to_store_ranges(ranges: &[rowkey::range::ByteRange]) -> Vec<KeyRange> {
    let convert = |range: &rowkey::range::ByteRange| KeyRange {
        start: Bytes::copy_from_slice(&range.start),
        end: range.end.as_deref().map(Bytes::copy_from_slice),
    };
    ranges.iter().map(convert).collect()
}
