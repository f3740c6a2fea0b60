//! Tests of the wire protocol over real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod activity;
mod client;
mod cursors;
mod frames;
mod largest;
mod limits;
mod mistakes;
mod mutated_sessions;
mod out_of_step;
mod prepared;
mod snapshots;
mod starvation;
mod stopping;
mod time_zone;
mod timeouts;
mod vanished;
mod zero_bytes;
