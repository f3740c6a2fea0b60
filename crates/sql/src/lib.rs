//! Parses text into statements, in the syntax of PostgreSQL and Phoenix.
//!
//! ```text
//!   text ──lexer──> tokens, cut at `;` ──parser, phoenix──> Statement ──reject, rewrite──> Parsed
//!                   `?` becomes $n       own grammar for      what the binder would silently
//!                   depth is bounded     statements, sqlparser's  ignore is refused; FETCH FIRST
//!                                        for queries and exprs    becomes LIMIT
//! ```
//!
//! Invariants:
//! - Nothing is parsed and then ignored: a clause is in the [`Statement`], or it is an error that names it.
//! - No text panics or overflows the stack: length, nesting and chains of operators are bounded before parsing.
//! - Errors and statements carry exact byte positions in the text.
//! - Names in a [`Statement`] are folded; names inside queries and expressions ([`ast`]) are as written.
//! - Row comparisons such as `(a, b) > (1, 2)` stay as they are: `query` reads key ranges from them.
//!
//! Read next: `engine` (what a statement does).

mod data_type;
mod dialect;
mod error;
mod escape;
mod lexer;
mod locking_subqueries;
mod name;
mod output_names;
mod parser;
mod phoenix;
mod placeholders;
mod print;
mod qualify;
mod reject;
mod rewrite;
mod shape;
mod statement;
mod tree_size;

pub use data_type::data_type;
pub use error::{Position, SqlError};
pub use lexer::{DISTINCT_GROUPS, JOIN_ALIAS, byte_of};
pub use locking_subqueries::{LockingSubquery, has_locking_subquery, without_subquery_locks};
pub use name::folded;
pub use output_names::with_names;
pub use parser::{Parsed, parse, parse_expr, parse_query};
pub use placeholders::{placeholders, with_values};
pub use print::printed;
pub use qualify::qualify;
pub use shape::{Literal, LiteralValue, Parameterized, Shape, parameterize};
/// sqlparser's tree of queries and expressions, which the binder reads.
pub use sqlparser::ast;
/// The location of a part of a statement, in lines and characters.
pub use sqlparser::tokenizer::{Location, Span as SourceSpan};
pub use statement::*;
pub use tree_size::tree_bytes;
