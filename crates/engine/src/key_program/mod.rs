//! Tier 1 for reading: statements that name keys. No plan, no Arrow, no other thread.
//!
//! ```text
//!   PointSelect   WHERE full key = …                          one get
//!   RangeSelect   WHERE conditions on key columns             one scan of the key ranges, or one for each
//!                 [ORDER BY the key's order] [LIMIT n]        salt bucket, merged
//! ```
//! Both are compiled from statements of one shape: plain columns of one table (`shape.rs`). Whatever is more
//! than that is a plan.

mod conditions;
mod cursor;
mod operand;
mod order;
mod point_select;
mod range_select;
mod shape;
mod stored_rows;

pub(crate) use cursor::Cursor;
pub(crate) use point_select::PointSelect;
pub(crate) use range_select::RangeSelect;
pub use stored_rows::StoredRows;

use crate::ColumnDesc;
use types::DataType;

/// What a query compiled to, with its parameters and columns.
pub(crate) type Compiled<P> = (P, Vec<DataType>, Vec<ColumnDesc>);
