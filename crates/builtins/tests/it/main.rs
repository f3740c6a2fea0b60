//! Tests of the public API against PostgreSQL.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

extern crate bennu_builtins as builtins;

mod aggregates;
mod bodies;
mod resolution;
