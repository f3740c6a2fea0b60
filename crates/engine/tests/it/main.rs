//! Tests of the engine's public interface, over the model store.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

extern crate bennu_engine as engine;

mod advisory_locks;
mod aligned_partitions;
mod analyze;
mod array_parameters;
mod as_query;
mod blocks;
mod bodies;
mod built_in;
mod checks;
mod client;
mod compatibility;
mod contention;
mod copy;
mod declared_orders;
mod definitions;
mod dual;
mod errors;
mod explain;
mod fair_turns;
mod foreign_keys;
mod held_snapshots;
mod incremental;
mod indexes;
mod large_transactions;
mod load_memory;
mod locks;
mod materialized;
mod pipelines;
mod point;
mod range;
mod restart;
mod row_exprs;
mod row_locks;
mod row_programs;
mod row_writer;
mod sequences;
mod settings;
mod stamps;
mod statement_memory;
mod truncate;
mod unfit_arguments;
mod views;
mod writes;
