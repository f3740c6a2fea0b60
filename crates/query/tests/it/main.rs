//! Queries over the model store, through the crate's public API.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

extern crate bennu_query as query;

mod explain;
mod fixture;
mod function_page;
mod indexes;
mod intersections;
mod postgres;
mod random_indexes;
mod reads;
mod select;
mod semantics;
mod stops;
