//! Predicates over key parts to byte ranges: a pure function, [`key_ranges`].
//!
//! ```text
//!   conditions  --normalize-->  boxes       a box: for each part a set of intervals; boxes are ORed
//!   boxes       --skip_scan-->  byte ranges the cross product of the leading parts, then one interval
//!               --salt, merge-> sorted disjoint ranges
//! ```
//!
//! A condition that the ranges do not express (a function of a column, a part behind an interval) makes them wider,
//! never narrower, and is reported as not exact: whoever scans must check it on each row. Comparisons never match
//! NULL, as in SQL.
//!
//! Read in this order: [`condition`], `interval`, `bound`, `normalize`, `skip_scan`, `describe`; `leading` is a
//! short cut for the commonest case.

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

/// The byte ranges in which every row lies that satisfies all `conditions`.
///
/// Never fails: a value that is not of its part's type, or a part that does not exist, is a condition that says
/// nothing.
pub fn key_ranges(schema: &KeySchema, conditions: &[Condition], limits: &RangeLimits) -> KeyRanges {
    if let Some(ranges) = leading::ranges(schema, conditions, limits) {
        return ranges;
    }
    let boxes = normalize::conjunction(schema, conditions, limits.max_ranges);
    skip_scan::ranges(schema, &boxes, limits)
}
