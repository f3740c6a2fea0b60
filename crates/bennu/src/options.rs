//! Options for opening a database.

use engine::AutoAnalyzeOptions;
use std::path::PathBuf;
use std::time::Duration;

/// Memory budgets and threads. The defaults suit one machine with a few GiB of memory.
#[derive(Clone, Debug)]
pub struct Options {
    /// Block cache in bytes of uncompressed blocks; by default an eighth of the memory, 4 GiB at most.
    pub cache_bytes: u64,
    /// Bytes of the memtables of all tables together.
    pub memtable_bytes: u64,
    /// Bytes of flushed memtables that open snapshots keep in memory. Beyond it the oldest of these snapshots end:
    /// their
    /// next read fails with 72000.
    pub snapshot_memory_bytes: u64,
    /// Age at which an open snapshot ends in the same way.
    pub snapshot_max_age: Duration,
    /// Memory of all running queries together; beyond it they spill to disk or fail with 53200.
    pub query_memory_bytes: usize,
    /// Parent of the spill folder, which is removed at the end or at the next start; `None` is the data folder.
    pub spill_dir: Option<PathBuf>,
    /// Threads that run plans; 0 is one per core.
    pub query_threads: usize,
    /// Writes index entries one by one beside their rows, although the store could write both atomically. For tests of
    /// the
    /// mode for single-row stores. A folder opened with this option must always be opened with it.
    pub dual_write_indexes: bool,
    /// When tables are analyzed automatically.
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
