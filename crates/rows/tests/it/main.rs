//! Programs over the model store: hand-built trees, with results compared to those of full scans and nested loops.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

extern crate bennu_rows as rows;

mod agreement;
mod built_in;
mod expressions;
mod functions;
mod indexes;
mod limits;
mod nodes;
mod own_writes;
mod tree;
mod world;
