//! Snapshots that were handed out, and their limits.
//!
//! ```text
//!   published state ──> Handed ── live: shares the state with fjall's snapshot
//!                          │
//!                          ├── frozen, after 250 ms: an image of each keyspace; fjall's snapshot is released
//!                          │     (or moved to a newer state of the same commit)
//!                          └── ended: exceeded a limit of age or memory; reads fail from then on
//! ```
//! For its oldest snapshot fjall keeps every later version of each tree, each with the memtable of its time, and
//! flushes and compactions keep all versions of rows. So one old reader would hold everything written since. A frozen
//! snapshot holds only the one version of each tree that it reads: tables on disk, and the memtables that were active
//! when it was taken. The memory of these and the age of snapshots are limited.

mod frozen;
mod handed;
mod keeper;
mod nonces;
mod scan;

pub(crate) use handed::reading;
pub(crate) use keeper::{Keeper, Limits};
pub(crate) use nonces::Nonces;
pub(crate) use scan::QueuedScan;
