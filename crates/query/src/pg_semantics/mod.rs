//! Where PostgreSQL's meaning of an expression differs from the planner's own.
//!
//! ```text
//!   operators     while names become a plan   unknown literals, row values, text against numbers, char(n), numeric /
//!   types         while names become a plan   what a cast names
//!   settle        once, on the plan           integers are int4 if they fit; now() and the like become parameters
//!   in_zone       then, if it is not UTC       what the session's time zone has a say in
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
mod fields;
mod growth;
mod in_zone;
mod interval_keys;
mod lists;
mod named_columns;
mod operators;
mod patterns;
mod recursive;
mod row_counts;
mod rows;
mod settle;
mod shared_aggregates;
mod signless_zero;
mod simple_case;
mod small_integers;
mod types;
mod united_columns;
mod window_calls;
mod window_frames;
mod zoned_rows;

pub(crate) use arithmetic::IntegerArithmetic;
pub(crate) use growth::bounded;
pub(crate) use in_zone::in_zone;
pub(crate) use lists::in_list;
pub(crate) use operators::{
    DISTINCT, NOT_DISTINCT, PostgresOperators, planned_aggregate, planned_operator, planned_window,
};
pub(crate) use recursive::is_work_table;
pub(crate) use row_counts::check_limit;
pub(crate) use rows::{compare_rows, join as join_all};
pub(crate) use settle::settle;
pub(crate) use types::PostgresTypes;
