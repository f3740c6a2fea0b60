//! Lists of the built-in functions, operators and casts, with PostgreSQL's oids for those that PostgreSQL has.
//!
//! The lists in `data` contain what can be called, found by calling it: `functions.txt`, `operators.txt` and
//! `casts.txt` are the supported part of PostgreSQL 15's `pg_proc`, `pg_operator` and `pg_cast`; `own.txt` has
//! functions that PostgreSQL lacks (Phoenix's), with oids that PostgreSQL leaves free. Functions that require a
//! constant (`round(t, 'hour')`, `first_values(x, 3)`) are forms of the grammar and not listed.
//!
//! ```text
//!   871 upper fiss 25 25                      oid, name, flags, result, arguments
//!   3058 concat fss 25 2276 v2276 | VARIADIC "any"
//!                                             more words, and the arguments as shown if they are not just their types
//!   15 = bmh 23 20 16 416 36 852              oid, name, flags, left, right, result, commutator, negator, function
//!   10000 20 21 714 a f                       oid, source, target, function, context, method
//! ```
//!
//! Flags of a function: its kind, volatility and parallel safety as in `pg_proc`, `s` for strict, `r` for sets. More
//! words: `v` and the type of the last arguments, `d` and the number of defaults, `k` with the kind and the number of
//! direct arguments of an aggregate. Functions of types (input, output, subscripts) and of casts are listed because
//! `pg_type` and `pg_cast` name them: the server implements them otherwise, and a query cannot call them.
//! `operator_functions.txt` has the functions of operators, which `pg_proc` does not show.

mod format_type;
mod lines;
mod operator_classes;
mod pg_type;
mod routine;

pub use format_type::{attribute_typmod, format_type};
pub use lines::{Cast, Operator, casts, operators};
pub use operator_classes::{OperatorClass, default_operator_class, operator_classes};
pub use pg_type::{ARRAY_OF_ROWS, PgType, ROW, pg_types};
pub use routine::{Routine, operator_routines, routine_by_oid, routines, routines_named};
