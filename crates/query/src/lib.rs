//! Plans and runs rows: DataFusion over the store, and compiled key programs without it.
//!
//! ```text
//!   bind::tree::Bound ──lower──> Plan (kept) ──bind──> operators over RegionScanExec ──> Arrow batches
//!                                                            │
//!                                                    choose_path: the table, or an index of it
//!                                                    access_path: filters to key ranges and byte predicates
//! ```
//!
//! Invariants:
//! - A plan holds neither a snapshot nor the time of day: it can be kept as long as its catalog version is current.
//! - A filter that a scan takes is checked by the scan: by its ranges, on bytes, or row by row.
//! - DataFusion's DELETE and UPDATE hooks are never used; they lose conditions.
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
/// What a statement reads: a snapshot, and over it its transaction's own writes.
pub use txn::ReadView as Reader;
