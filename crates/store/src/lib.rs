//! The store contract: what a backend must promise, in bytes only.
//!
//! ```text
//!   table ── region [start, end) ── family ── rowkey -> fragment (all cells of the row in that family)
//!
//!   writer:  WriteBatch ──apply──> newest state, in log order ──sync──> durable ──> published
//!   reader:  snapshot() = published state;  get / scan at that snapshot
//! ```
//!
//! Terms:
//! - **fragment**: the cells of one row and family as one value; its header carries a timestamp and a
//!   commit number that the store stamps (crate `fragment` owns the layout).
//! - **newest state**: all commits that were applied, durable or not. Only writers build on it.
//! - **published snapshot**: a state that would survive a crash now, apart from its [`Durability::Buffered`] commits.
//!
//! Invariants:
//! - The store never sees a SQL type, an expression or a column name.
//! - A row of a batch is written whole or not at all, under all conditions on it. [`Capabilities::atomic_batch`] states
//!   which rows are written together, for readers and after a crash.
//! - "Changed since it was read" means that the stamp differs from the one that was read. Commit numbers of two rows
//!   are not compared, so a store may count commits per region.
//! - Commit numbers grow in the order of application; a later commit never survives an earlier one that did not.
//! - [`Capabilities`] states every difference between backends.
//!
//! Read next: `fragment` (the row layout), `store-fjall` (the embedded backend).

mod admin;
mod batch;
mod bulk;
mod capabilities;
mod clock;
mod entries;
mod error;
mod filter;
mod ids;
mod key_list;
mod key_range;
mod large;
mod point_read;
mod rows;
mod scan;
mod snapshot;
mod store;
mod wrapper;

pub use admin::{
    CellLayout, CheckReport, FamilySpec, Problem, RegionInfo, StoreStats, TableChange, TableSize, TableSpec,
};
pub use batch::{Condition, Mutation, WriteBatch};
pub use bulk::{BulkLoad, LoadMemory, LoadRows, LoadTable, OnDuplicate, UniquePrefix};
pub use bytes::Bytes;
pub use capabilities::{Capabilities, Scope};
pub use clock::{Clock, ManualClock, SystemClock};
pub use entries::EntryRows;
pub use error::{StoreError, StoreResult};
pub use filter::{Filter, FixedPredicate, NullBit, NullTest};
pub use ids::{CommitNo, FamilyId, RegionId, TableId, Timestamp};
pub use key_list::KeyList;
pub use key_range::KeyRange;
pub use large::{LargeRow, LargeRows, LargeWrite, SortedRows};
pub use point_read::{PointRead, ReadAt};
pub use rows::{RowBatch, RowBatchBuilder, Segment};
pub use scan::{Scan, ScanCounters, ScanRequest};
pub use snapshot::Snapshot;
pub use store::{Durability, Store};
pub use wrapper::Wrapper;
