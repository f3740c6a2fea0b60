//! The representation that DataFusion's operators want of values with PostgreSQL's types.
//!
//! The binder has resolved names, types, functions and operators; nothing here looks up a name or chooses a type.
//!
//! ```text
//!   operators     while a tree is lowered     patterns, moments and numerics by functions of ours
//!   represent     once, on the lowered plan   intervals by length, floats without the sign of zero, counts as bigints, casts, now() as a parameter
//!   in_zone       then, if it is not UTC      what depends on the session's time zone
//!   arithmetic    after coercion              integer + - * fail on overflow
//! ```

mod absent;
mod adapt;
mod aggregates;
mod arithmetic;
mod arrays;
mod calls;
mod casts;
mod common_type;
mod comparisons;
mod equality;
mod growth;
mod in_zone;
mod interval_keys;
mod lists;
mod named_columns;
mod operators;
mod patterns;
mod recursive;
mod represent;
mod row_counts;
mod rows;
mod shared_aggregates;
mod signless_zero;
mod united_columns;
mod window_calls;
mod window_frames;
mod zoned_rows;

pub(crate) use arithmetic::IntegerArithmetic;
pub(crate) use growth::bounded;
pub(crate) use in_zone::in_zone;
pub(crate) use lists::in_list;
pub(crate) use operators::{planned_aggregate, planned_operator, planned_window};
pub(crate) use recursive::is_work_table;
pub(crate) use represent::represent;
pub(crate) use row_counts::check_limit;
pub(crate) use rows::{compare_rows, join as join_all};
pub(crate) use window_calls::check_windows;
