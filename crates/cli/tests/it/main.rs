//! Tests of the binary: served over a socket, killed, restarted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod command_line;
mod http;
mod kill;
mod kill_indexed;
mod kill_materialized;
mod long_values;
mod memory;
mod open_files;
mod server;
mod shell;
mod spill_files;
mod sqllogictest;
