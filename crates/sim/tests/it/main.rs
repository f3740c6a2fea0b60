//! Power loss against the embedded store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod power_loss;
mod workload;
