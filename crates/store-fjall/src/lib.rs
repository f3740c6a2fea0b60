//! The embedded store: placement, the commit pipeline and block-speed scans on fjall.
//!
//! ```text
//!   apply ──> commit/pipeline ──> journal (page cache) + memtables = newest state
//!                                     │
//!   sync  ──> commit/group_sync: one leader syncs the journal for all waiters
//!                                     │
//!             commit/publish ──> published state ──> snapshot() ──> read/{get, scan}
//!
//!   apply of many rows ──> large: files beside other commits, published as one commit
//!
//!   folder:  STORE (format)  LOCK  watermark  load/ (runs of bulk loads)  staged/ (large commits)  db/ (fjall)
//! ```
//!
//! Terms:
//! - **keyspace**: fjall's unit, one LSM tree. All keyspaces share one journal.
//! - **slot**: a 4-byte id in front of the rowkeys of one (table, family) in the shared keyspace.
//! - **placement**: where a (table, family) lives: a slot, or a keyspace of its own (`placement.rs`).
//! - **state**: a fjall snapshot with its placements and its commit number (`commit/publish.rs`).
//! - **watermark**: the end of the durable part of the journal, in a file of its own (`journal/watermark.rs`).
//!
//! Invariants:
//! - Every write of a fjall batch happens under the commit lock, and snapshots are taken under it too:
//!   a snapshot taken while a batch is applied could be torn by a flush that ends at that moment.
//! - Readers only read through a [`fjall::Snapshot`], or an image that was taken while a snapshot was held, never
//!   through a bare keyspace. `snapshots/nonces.rs` takes all fjall snapshots: fjall drops the tree versions that none
//!   of them reads, and lsm-tree panics when a dropped version is read.
//! - A keyspace is deleted only after the placements that name it left the newest state, under the commit lock.
//! - Slot ids, region ids, keyspace ids and commit numbers are never reused.
//!
//! Read next: `commit/pipeline.rs`, then `read/`.

mod admission;
mod check;
mod commit;
mod disk_room;
mod disk_space;
mod error;
mod housekeeping;
mod inner;
mod journal;
mod large;
mod limits;
mod load;
mod memory;
mod memtables;
mod meta;
mod open;
mod options;
mod placement;
mod read;
mod read_only;
mod regions;
mod seam;
mod snapshots;
mod stamp;
mod stats;
mod store;

pub use crate::options::{DiskSpace, FileSystem, Options, Space};
pub use crate::store::FjallStore;
