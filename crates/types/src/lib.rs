//! SQL types and values: their names, their order, and how they are parsed and printed.
//!
//! ```text
//!   SQL text  --text::parse-->  Datum  --text::print-->  SQL text
//!                                 |
//!                                 +-- compare (SQL order), coerce (assignment casts)
//!                                 +-- rowkey turns it into bytes (not here: no bytes, no I/O in this crate)
//! ```
//!
//! Invariants:
//! - One table, [`DataType`], ties a type's SQL name, its PostgreSQL oid and its Phoenix aliases together.
//! - Values that SQL calls equal are equal here too: `-0.0 = 0.0`, numeric `1.0 = 1.00`, `NaN = NaN`.
//! - Text forms are PostgreSQL's: dates in ISO, `bytea_output = hex`, and otherwise by a [`Style`].
//!
//! Read next: `rowkey` (values to bytes).

pub mod array;
mod close_name;
pub mod coerce;
mod column_limits;
pub mod compare;
mod compare_op;
mod data_type;
mod datum;
pub mod decimal;
mod element;
mod error;
pub mod ident;
pub mod interrupt;
mod interval;
pub mod json;
pub mod keyword;
mod referential_action;
mod stored_clock;
mod style;
pub mod temporal;
pub mod text;
mod type_name;

pub use close_name::close_name;
pub use column_limits::ArrayLimits;
pub use compare_op::CompareOp;
pub use data_type::{DataType, MAX_DIGITS, NUMERIC_MAX_SCALE};
pub use datum::Datum;
pub use decimal::Decimal;
pub use element::ElementType;
pub use error::TypeError;
pub use interval::{Interval, IntervalField, IntervalFields, print_interval};
pub use referential_action::ReferentialAction;
pub use style::{DateOrder, IntervalStyle, Style};
