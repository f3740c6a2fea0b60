//! The one door for front ends: sessions, statements, transactions.
//!
//! ```text
//!   text ── Session::parse, prepare ──> Source ── plan_cache: which tier? ──┐
//!                                                                           │
//!     tier 1  key_program, dml    keys named: encode them, get, scan or lock│ on the caller's task
//!     tier 2  row_program         few rows: joined, sorted, summed up       │ on the caller's task
//!     tier 3  kept query::Plan    bind parameters, run                      │ on the query threads
//!     tier 4  query::Planner      plan, run                                 │ on the query threads
//!                                                                           v
//!                                        Answer: rows as they come, a tag, or a COPY stream
//! ```
//!
//! Invariants:
//! - A statement reads one snapshot and one catalog version; a session always sees its own commits.
//! - A statement is all or nothing, inside a transaction block too (it is the whole block then that fails).
//! - What a statement changed is durable before its answer is handed out (unless `synchronous_commit = off`).
//! - Every error has one SQLSTATE, chosen in `error/sqlstate.rs` and nowhere else.
//!
//! Read next: `pg-server` (this face on the wire).

mod activity;
mod analyze;
mod answer;
mod array_parameters;
pub mod binary;
mod block;
mod bound_plan;
mod check_indexes;
mod compatibility;
mod context;
mod copy;
mod current_of;
mod cursor;
mod ddl;
mod dml;
mod engine;
mod error;
mod explain;
mod exported_snapshots;
mod held;
mod hints;
mod jobs;
mod key_program;
mod live_notices;
mod load;
mod lock_tables;
mod metrics;
mod notice;
mod plan_cache;
mod prepared;
mod progress;
mod query_runtime;
mod references;
mod row_locks;
mod row_program;
mod row_writer;
mod running;
mod savepoint;
mod script;
mod search_path;
mod sequences;
mod session;
mod session_end;
mod session_state;
mod set_config;
mod settings;
mod shapes;
mod statement;
mod stream;
mod transaction_block;
mod turn;
mod utility;
mod work;
mod written_place;

pub use analyze::AutoAnalyzeOptions;
pub use answer::{Answer, Chunk, ColumnDesc, RowStream};
pub use copy::{Append, CopyBlock, CopyIn, CopyOut};
pub use engine::{Engine, EngineOptions, SessionStart};
pub use error::{ClientFault, EngineError};
pub use key_program::StoredRows;
pub use live_notices::LiveNotices;
pub use notice::Notice;
pub use progress::Watched;
pub use query::{Cell, HeldMemory, RustBody, RustFunction};
pub use query_runtime::connection_runtime;
pub use script::{CursorStep, Script};
pub use session::{IdleLimit, Session, TransactionStatus};
pub use session_end::SessionEnd;
pub use settings::{Keepalive, TimeZone};
pub use statement::Prepared;
