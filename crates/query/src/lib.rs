//! Plans and executes queries: DataFusion over the store.
//!
//! ```text
//!   bind::tree::Bound ──lower──> Plan (cached) ──bind──> operators over RegionScanExec ──> Arrow batches
//!                                                            │
//!                                                    choose_path: the table, or one of its indexes
//!                                                    access_path: filters to key ranges and byte predicates
//! ```
//!
//! Invariants:
//! - A plan contains neither a snapshot nor the current time: it may be cached as long as its catalog version is
//!   current.
//! - A filter that a scan takes is checked by the scan: by its ranges, on bytes, or row by row.
//! - DataFusion's DELETE and UPDATE hooks are not used, because they drop conditions.
//! - Every error that leaves this crate is a [`QueryError`].
//!
//! Read next: `engine` (which statement goes where).

mod access_path;
mod bound_index;
mod choose_path;
mod classify;
mod context;
pub mod convert;
mod error;
pub mod exec;
mod explain;
mod functions;
mod held_memory;
mod intersected;
mod join_order;
mod key_partitions;
mod lower;
mod optimizer;
mod plan;
pub mod provider;
mod sample;
mod scan_source;
mod scan_statistics;
mod value_selectivity;

pub use catalog::{Cell, RowCodec, RowReader, row_codec};
pub use context::{FunctionLookup, QueryContext, Settings};
pub use error::{QueryError, QueryResult, Refusal};
pub use explain::ExplainOptions;
pub use functions::{RowBody, RustBody, RustFunction, RustFunctions};
pub use held_memory::HeldMemory;
pub use index::{IndexChoice, ScanHints};
pub use lower::RowInput;
pub use plan::{
    Execution, OutputColumn, Phases, Plan, Planner, PlannerOptions, RowExprs, Stop, hint_for_missing_function,
};
/// The read view of a statement: a snapshot, overlaid with its transaction's own writes.
pub use txn::ReadView as Reader;
