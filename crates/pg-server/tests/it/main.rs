//! The wire, over real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod frames;
mod mutated_sessions;
