//! Row programs: short statements without DataFusion, compiled from the bound tree and run on the connection's own
//! thread.
//!
//! ```text
//!   Bound ──compile──> Program, or WhyNot        conditions become keys, joins become lookups   (plan, access)
//!   Program ──run(view, parameters)──> rows       operators pull batches of rows                 (exec)
//!                                                 expressions call functions of builtins         (expr)
//! ```
//!
//! Invariants:
//! - A program reads a bounded number of rows and holds a bounded number of bytes. Beyond that it fails with
//!   [`RowsError::OverBudget`]; it has returned and written nothing by then, so the statement's plan runs instead.
//! - It reads one [`txn::ReadView`]: a snapshot, overlaid with the transaction's own writes.
//! - Expressions over rows in memory ([`Exprs`]) are compiled in the same way, without a query, for statements that
//!   write.
//! - Unsupported statements are refused when they are compiled ([`WhyNot`]).
//!
//! Read next: `bind::tree` (the compiler's input), `rowkey::range` (from conditions to keys).

mod access;
mod error;
mod exec;
mod explain;
mod explained;
mod expr;
mod exprs;
mod functions;
mod plan;
mod program;
mod why_not;

pub use access::clause;
pub use error::{RowsError, RowsResult};
pub use explain::Made;
pub use explained::{Actual, Estimate, ExplainedPlan, PlanNode, Planning, Property};
pub use exprs::{Exprs, compile_exprs};
pub use functions::{Builtins, Functions, OutsideBody, Test};
pub use program::{Answer, Input, Limits, Options, Program, compile};
pub use why_not::WhyNot;
