//! Converts predicates over key parts to byte ranges: a pure function, [`key_ranges`].
//!
//! ```text
//!   conditions  --normalize-->  boxes       a box: a set of intervals for each part; a list of boxes is a disjunction
//!   boxes       --skip_scan-->  byte ranges the cross product of the leading parts, then one interval
//!               --salt, merge-> sorted disjoint ranges
//! ```
//!
//! A condition that the ranges cannot express (a function of a column, a part after an interval) never narrows the
//! ranges, and is reported as not exact: the scan must check it on each row. Comparisons never match NULL, as in SQL.
//!
//! Read in this order: [`condition`], `interval`, `bound`, `normalize`, `skip_scan`, `describe`; `leading` is a fast
//! path for the most common case.

mod bound;
pub mod condition;
mod describe;
mod interval;
mod leading;
mod like;
mod normalize;
mod skip_scan;

pub use condition::{Access, ByteRange, Condition, KeyRanges, RangeLimits};
pub use describe::describe;
pub use like::like;

use crate::KeySchema;

/// Returns byte ranges that contain every row that satisfies all `conditions`.
///
/// Never fails: a value that is not comparable with its part's type, or a part that does not exist, does not restrict
/// the ranges.
pub fn key_ranges(schema: &KeySchema, conditions: &[Condition], limits: &RangeLimits) -> KeyRanges {
    if let Some(ranges) = leading::ranges(schema, conditions, limits) {
        return ranges;
    }
    let boxes = normalize::conjunction(schema, conditions, limits.max_ranges);
    skip_scan::ranges(schema, &boxes, limits)
}
