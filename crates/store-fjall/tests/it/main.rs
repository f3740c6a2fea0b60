//! The embedded store, through the store contract only.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

extern crate bennu_store_fjall as store_fjall;

mod close;
mod commit;
mod compaction;
mod conformance;
mod damage;
mod disk_full;
mod estimates;
mod fjall_memory_traps;
mod fjall_page;
mod fjall_threads;
mod fjall_traps;
mod journal_numbers;
mod keyspace_ids;
mod kill;
mod large_commits;
mod load;
mod load_memory;
mod memory;
mod model;
mod reopen;
mod support;
