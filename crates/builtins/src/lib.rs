//! Built-in types, functions, operators and casts, in one table.
//!
//! ```text
//!   data/*.txt ──> Function, Operator, Cast ──resolve──> FuncId, casts      PostgreSQL's chapter 10
//!                        │
//!                        └── body: fn(&Env, &[Datum]) -> Result<Datum, EvalError>
//! ```
//!
//! This crate depends on values only: no syntax, no catalog of tables, no Arrow.
//!
//! - [`Ty`] and [`TypeId`]: a type as `pg_type` numbers it; [`Ty::of`] and [`Ty::data_type`] convert from and to types
//!   of values.
//! - [`function`], [`functions_named`], [`operators_named`], [`cast`]: rows of the table.
//! - [`resolve::operator`], [`resolve::function`], [`resolve::common_type`], [`resolve::coercion`]: choose a row for
//!   the arguments of a statement, and the types that the arguments are cast to.
//! - [`Function::body`]: computes a call row by row; [`comparison`] returns which calls compare by the order of values.
//! - [`accumulator`]: computes an aggregate row by row.
//! - [`TimeZone`]: conversions to local time, and how a session prints and assigns values.
//! - [`lists`]: the rows of `pg_proc`, `pg_operator`, `pg_cast` and `pg_type`.
//!
//! Read next: `bind`.

mod accumulate;
pub mod bodies;
mod catalog_types;
pub mod digits;
mod env;
mod error;
mod function;
mod like_pattern;
pub mod lists;
pub mod resolve;
mod table;
mod ty;
mod zone;

pub use accumulate::{Accumulator, accumulator};
pub use bodies::comparison;
pub use bodies::{like_escape, like_of_bytes};
pub use env::Env;
pub use error::{EvalError, Reason};
pub use function::{Body, FuncId, Function, Kind, Volatility};
pub use like_pattern::{LikePattern, with_escape};
pub use lists::Operator;
pub use table::{
    Cast, CastContext, CastMethod, cast, function, functions, functions_named, operator_of, operators_named,
};
pub use ty::{Ty, TypeId};
pub use zone::TimeZone;
