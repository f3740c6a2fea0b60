//! Snapshots that are handed out, and what bounds them.
//!
//! ```text
//!   published state ──> Handed ── live: shares the state, and with it fjall's snapshot
//!                          │
//!                          ├── frozen, after a moment: an image of each keyspace; fjall's snapshot is let go
//!                          │     (or moved to a newer state of the same commit)
//!                          └── ended: too old, or too much memory is held; reads are refused from then on
//! ```
//! fjall keeps, for its oldest snapshot, each version of each tree that came after it, and with each the memtable of
//! its time; flushes and compactions keep all versions of rows. So one old reader would hold everything that is
//! written beside it. A frozen snapshot holds the one version of each tree that it reads: its tables stay on disk,
//! of memtables it holds those that were active when it was taken. Their number is bounded, and so is the age.

mod frozen;
mod handed;
mod keeper;
mod nonces;
mod scan;

pub(crate) use handed::reading;
pub(crate) use keeper::{Keeper, Limits};
pub(crate) use nonces::Nonces;
pub(crate) use scan::QueuedScan;
