//! Tests of the catalog through the public API.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

extern crate bennu_catalog as catalog;

mod alter;
mod ddl;
mod definitions;
mod faults;
mod relations;
mod reopen;
mod row_ids;
mod shared_store;
mod world;
