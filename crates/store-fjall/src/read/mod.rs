//! Reads of the embedded store: points, ranges, estimates and verification.
//!
//! ```text
//!   ScanRequest ──> scan ──> points:   get (bloom filters, one block)
//!                     │──── forward:   block_scan, data blocks of the largest run, merged with the rest
//!                     │──── backward:  reverse_scan, data blocks where there is nothing to merge
//!                     └──── otherwise: iterate, lsm-tree's merging iterator
//!                                             │
//!   split, estimate, verify ──────────────> blocks/  the only module that uses lsm-tree's hidden types
//! ```
//!
//! Invariants:
//! - A range has the same rows whichever way it is read: those of the iterator at the same snapshot. The property tests
//!   of this folder compare all ways with it.
//! - Only keys with the prefix [`ReadSource::prefix`] are read, and they are returned without it.

mod block_scan;
mod blocks;
pub(crate) mod estimate;
mod filter;
mod get;
mod iterate;
mod output;
mod range;
mod reverse_scan;
pub(crate) mod scan;
mod source;
pub(crate) mod split;
pub(crate) mod verify;

pub(crate) use blocks::{Image, Views, is_unfinished_run_of};
pub(crate) use get::get;
pub(crate) use source::{Position, ReadSource};

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
mod tests;
