//! Short statements without DataFusion: compiled from the bound tree, run row by row on the connection's own thread.
//!
//! ```text
//!   Bound ──compile──> Program, or why not        conditions become keys, joins become lookups   (plan, access)
//!   Program ──run(view, parameters)──> rows       operators pull batches of rows                 (exec)
//!                                                 expressions call the bodies of builtins        (expr)
//! ```
//!
//! What holds:
//! - A program reads a bounded number of rows and holds a bounded number of bytes. Past that it gives up with
//!   [`RowsError::OverBudget`]; nothing was sent before, and it only read, so the statement's plan runs instead.
//! - It reads one [`txn::ReadView`]: a snapshot and the transaction's own writes over it.
//! - Expressions over rows at hand ([`Exprs`]) are the same programs without a query: what writes compute.
//! - Whatever it cannot do, it refuses when it is compiled ([`WhyNot`]).
//!
//! Read next: `bind::tree` (what is compiled), `rowkey::range` (how conditions become keys).

mod access;
mod error;
mod exec;
mod explain;
mod expr;
mod exprs;
mod functions;
mod plan;
mod program;
mod why_not;

pub use access::clause;
pub use error::{RowsError, RowsResult};
pub use explain::Made;
pub use exprs::{Exprs, compile_exprs};
pub use functions::{Builtins, Functions, OutsideBody, Test};
pub use program::{Answer, Input, Limits, Options, Program, compile};
pub use why_not::WhyNot;
