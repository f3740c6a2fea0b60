//! The interface for front ends: sessions, statements, transactions.
//!
//! ```text
//!   text ── Session::parse, prepare ──> Source ── plan_cache: which tier? ──┐
//!                                                                           │
//!     tier 1  key_program, dml    keys given: encode, get, scan or lock     │ on the caller's task
//!     tier 2  row_program         few rows: joined, sorted, aggregated      │ on the caller's task
//!     tier 3  cached query::Plan  bind parameters, run                      │ on the query threads
//!     tier 4  query::Planner      plan, run                                 │ on the query threads
//!                                                                           v
//!                                        Answer: a stream of rows, a tag, or a COPY stream
//! ```
//!
//! Invariants:
//! - A statement reads one snapshot and one catalog version; a session always sees its own commits.
//! - A statement is atomic, in a transaction block too (where its failure fails the whole block).
//! - Changes of a statement are durable before its answer is returned (unless `synchronous_commit = off`).
//! - Every error has one SQLSTATE; `error/sqlstate.rs` chooses those of other crates' errors.
//!
//! Read next: `pg-server` (this interface in the wire protocol).

mod analyze;
pub mod binary;
mod block;
mod check_indexes;
mod copy;
mod ddl;
mod dml;
mod engine;
mod error;
mod jobs;
mod key_program;
mod load;
mod metrics;
mod references;
mod row_program;
mod row_writer;
mod session;
mod settings;
mod statement;
mod threads;

pub use analyze::AutoAnalyzeOptions;
pub use builtins::TimeZone;
pub use copy::{Append, CopyBlock, CopyIn, CopyOut};
pub use engine::{Engine, EngineOptions, SessionStart};
pub use error::{ClientFault, EngineError};
pub use key_program::StoredRows;
pub use query::{Cell, HeldMemory, RustBody, RustFunction};
pub use session::end::SessionEnd;
pub use session::live_notices::LiveNotices;
pub use session::notice::Notice;
pub use session::timer::StatementTimer;
pub use session::{IdleLimit, Session, TransactionStatus};
pub use settings::Keepalive;
pub use statement::Prepared;
pub use statement::answer::{Answer, Chunk, ColumnDesc, RowStream};
pub use statement::script::{CursorStep, Script};
pub use threads::progress::Watched;
pub use threads::query_runtime::connection_runtime;
