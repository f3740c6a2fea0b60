//! Tests of the public API: round trips, merges against an oracle, damage, predicates.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod damage;
mod format;
mod merge;
mod predicate;
mod rows;
mod sizes;
