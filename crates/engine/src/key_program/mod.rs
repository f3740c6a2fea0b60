//! Tier 1 for reading: queries that name keys or short key ranges. No plan, no Arrow, no other thread.
//!
//! ```text
//!   PointSelect   WHERE full key = …                          one get
//!   RangeSelect   WHERE conditions on key columns             one scan of the key ranges, or one for each
//!                 [ORDER BY the key's order] [LIMIT n]        salt bucket, merged
//! ```
//! Both are compiled from bound queries of one shape: columns of one table (`compile.rs`). All other queries are row
//! programs or plans.

mod compile;
mod conditions;
mod cursor;
mod operand;
mod order;
mod point_select;
mod range_select;
mod stored_rows;

pub(crate) use compile::compile;
pub(crate) use cursor::Cursor;
pub(crate) use point_select::PointSelect;
pub(crate) use range_select::RangeSelect;
pub use stored_rows::StoredRows;

use crate::ColumnDesc;
use std::sync::Arc;

/// A query that names keys.
#[derive(Debug)]
pub(crate) enum KeyProgram {
    /// One key.
    Point(Box<PointSelect>),
    /// Ranges of keys.
    Range(Arc<RangeSelect>),
}

/// A compiled query with its columns.
pub(crate) struct Compiled {
    pub(crate) program: KeyProgram,
    pub(crate) columns: Vec<ColumnDesc>,
}
