//! Restarts, power loss, failing system calls and damaged files against the embedded store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]
// A run prints its seed.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod deleted_keyspaces;
mod faults;
mod flips;
mod folder;
mod half_batches;
mod half_written_batches;
mod history;
mod journal_rotation;
mod large_commits;
mod power_loss;
mod random;
mod restarts;
mod schedules;
