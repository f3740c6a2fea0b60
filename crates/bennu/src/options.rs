//! How to open a database.

use engine::AutoAnalyzeOptions;
use std::path::PathBuf;
use std::time::Duration;

/// Budgets and threads. The defaults suit one machine with a few GiB of memory.
#[derive(Clone, Debug)]
pub struct Options {
    /// Block cache in bytes (of uncompressed blocks); by default an eighth of the memory, 4 GiB at most.
    pub cache_bytes: u64,
    /// Memtables of all tables together, in bytes.
    pub memtable_bytes: u64,
    /// Memtables in bytes that are on disk already and are held by open snapshots. Beyond it the oldest of these
    /// snapshots end: their next read fails with 72000.
    pub snapshot_memory_bytes: u64,
    /// Age at which an open snapshot ends likewise.
    pub snapshot_max_age: Duration,
    /// Memory that running queries may hold together; beyond it they spill to disk or fail with 53200.
    pub query_memory_bytes: usize,
    /// Where queries spill, in a folder of their own that is removed at the end or at the next start; `None` is the data
    /// folder.
    pub spill_dir: Option<PathBuf>,
    /// Threads that run plans; 0 is one for each core.
    pub query_threads: usize,
    /// Are entries of indexes written beside their rows, one by one, although the store could write them in one step? For
    /// tests of that mode, which is that of stores of single rows. A folder that was opened so once is to be opened so again.
    pub dual_write_indexes: bool,
    /// When statistics of tables are made by themselves.
    pub auto_analyze: AutoAnalyzeOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: store_fjall::Options::default().cache_bytes,
            memtable_bytes: 256 << 20,
            snapshot_memory_bytes: 512 << 20,
            snapshot_max_age: Duration::from_secs(3600),
            query_memory_bytes: 1 << 30,
            spill_dir: None,
            query_threads: 0,
            dual_write_indexes: false,
            auto_analyze: AutoAnalyzeOptions::default(),
        }
    }
}
