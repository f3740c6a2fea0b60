//! Filters of a scan to key ranges.
//!
//! ```text
//!   filters   --expr_to_condition-->  conditions on key parts   --rowkey::range-->  ranges, and which are exact
//! ```
//! A filter that the ranges cover exactly needs no further look; the others stay with whoever asked.

use crate::convert::expr_to_condition::{ConditionBuilder, Mode, is_useful};
use catalog::row_codec::{Place, RowCodec};
use datafusion::common::Column;
use datafusion::logical_expr::Expr;
use rowkey::range::{Condition, KeyRanges, RangeLimits, key_ranges};
use store::{Bytes, KeyRange};
use types::DataType;

/// Most keys that a join hands down as a list. Whoever gets it asks whether so many look-ups are worth while.
pub(crate) const MOST_FOUND: usize = 16_384;
/// Lists that a join of several partitions may hand down at once.
const LISTS: usize = 4;

/// Where the column of that name is.
pub(crate) fn place_of(codec: &RowCodec, column: &Column) -> Option<(usize, Place, DataType)> {
    let index = codec.table().columns.iter().position(|candidate| candidate.name == column.name)?;
    let ty = codec.table().columns.get(index)?.ty;
    Some((index, *codec.places().get(index)?, ty))
}

/// The key part that a column is.
fn key_part(codec: &RowCodec, column: &Column) -> Option<(usize, DataType)> {
    match place_of(codec, column)? {
        (_, Place::Key(part), ty) => Some((part, ty)),
        _ => None,
    }
}

/// What one filter says about the key.
pub(crate) fn key_condition(codec: &RowCodec, mode: Mode, filter: &Expr) -> Condition {
    let part_of = |column: &Column| key_part(codec, column);
    ConditionBuilder::new(mode, &part_of).condition(filter)
}

/// Will key ranges get narrower by a filter, whatever its parameters are?
pub(crate) fn narrows_key(codec: &RowCodec, filter: &Expr) -> bool {
    is_useful(&key_condition(codec, Mode::Shape, filter))
}

/// The ranges of all filters together.
pub(crate) fn ranges_of(codec: &RowCodec, conditions: &[Condition], limits: &RangeLimits) -> KeyRanges {
    key_ranges(codec.key_schema(), conditions, limits)
}

/// As [`ranges_of`], of keys that joins found out: there may be many.
pub(crate) fn ranges_of_found(codec: &RowCodec, conditions: &[Condition]) -> KeyRanges {
    key_ranges(codec.key_schema(), conditions, &RangeLimits::of(MOST_FOUND * LISTS))
}

/// How many ranges a scan may have. `one_range`: one for each salt bucket at most.
pub(crate) fn range_limits(codec: &RowCodec, one_range: bool) -> RangeLimits {
    match one_range {
        true => RangeLimits::of(codec.key_schema().salt_buckets.map_or(1, usize::from)),
        false => RangeLimits::default(),
    }
}

/// The algebra's ranges in the store's form.
pub(crate) fn to_store_ranges(ranges: &[rowkey::range::ByteRange]) -> Vec<KeyRange> {
    let convert = |range: &rowkey::range::ByteRange| KeyRange {
        start: Bytes::copy_from_slice(&range.start),
        end: range.end.as_deref().map(Bytes::copy_from_slice),
    };
    ranges.iter().map(convert).collect()
}
