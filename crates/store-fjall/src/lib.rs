//! The embedded store: placement, the commit pipeline and block-speed scans on fjall.
//!
//! ```text
//!   apply ──> commit/pipeline ──> journal (page cache) + memtables = newest state
//!                                     │
//!   sync  ──> commit/group_sync: one leader syncs the journal for all that wait
//!                                     │
//!             commit/publish ──> published state ──> snapshot() ──> read/{get, scan}
//!
//!   apply of many rows ──> large: runs beside all others, shown as one commit
//!
//!   folder:  STORE (format)  LOCK  watermark  load/ (runs of bulk loads)  staged/ (large commits)  db/ (fjall)
//! ```
//!
//! Words, defined once:
//! - **keyspace**: fjall's unit, one LSM tree. All keyspaces share one journal.
//! - **slot**: a 4-byte id in front of the rowkeys of one (table, family) in the shared keyspace.
//! - **placement**: where a (table, family) lives: a slot, or a keyspace of its own (`placement.rs`).
//! - **state**: a fjall snapshot, the placements that belong to it and its commit number (`commit/publish.rs`).
//! - **watermark**: how much of the journal is known to be durable, kept apart (`journal/watermark.rs`).
//!
//! Invariants:
//! - Every write of a fjall batch happens under the commit lock, and snapshots are taken under it too:
//!   a snapshot taken while a batch is applied could be torn by a flush that ends at that moment.
//! - Readers only read through a [`fjall::Snapshot`], or an image that was taken while one was held, never on a bare
//!   keyspace. All of fjall's snapshots are taken by `snapshots/nonces.rs`: versions of trees that none of
//!   these reads are dropped, and lsm-tree panics when one is asked for that is gone.
//! - A keyspace is deleted only after the placements that name it left the newest state, under the commit lock.
//! - Slot ids, region ids, keyspace ids and commit numbers are never used again.
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
