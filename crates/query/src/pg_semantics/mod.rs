//! Where PostgreSQL's meaning of an expression differs from the planner's own.
//!
//! ```text
//!   operators     while names become a plan   unknown literals, row values, text against numbers, char(n), numeric /
//!   types         while names become a plan   what a cast names
//!   settle        once, on the plan           integers are int4 if they fit; now() and the like become parameters
//!   arithmetic    after coercion              integer + - * fail on overflow
//! ```

mod adapt;
mod arithmetic;
mod operators;
mod rows;
mod settle;
mod types;

pub(crate) use arithmetic::IntegerArithmetic;
pub(crate) use operators::PostgresOperators;
pub(crate) use settle::{check_limit, in_list, settle};
pub(crate) use types::PostgresTypes;
