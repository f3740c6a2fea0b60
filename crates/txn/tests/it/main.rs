//! Tests of the transaction crate through the public API.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

extern crate bennu_txn as txn;

mod dual;
mod locks;
mod map_store;
mod overlay;
mod savepoint_locks;
mod shared_rows;
mod spill;
mod transactions;
