//! What an embedded store can be opened with.

use crate::memory::default_cache_bytes;
use rlimit::{Resource, getrlimit};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::{Clock, SystemClock};

/// fjall takes no fewer.
pub(crate) const FEWEST_FILES: usize = 10;
/// More would not be read at a time.
const MOST_FILES: usize = 900;
/// The limit of open files where the system does not tell it.
const FEW_FILES: u64 = 256;

/// Settings of an embedded store. All have a default that suits a machine with a few GiB of memory.
#[derive(Clone, Debug)]
pub struct Options {
    /// Block cache, in bytes of uncompressed blocks. By default an eighth of the memory, 4 GiB at most.
    pub cache_bytes: u64,
    /// Memtables of all keyspaces together; beyond it the largest is written to disk.
    pub memtable_bytes: u64,
    /// Memtable entries of all keyspaces together. Bounds the time that a restart spends on replaying
    /// the journal (about 4 us an entry).
    pub memtable_entries: u64,
    /// Memtables that were flushed and are held by snapshots; beyond it the oldest of these snapshots end.
    pub snapshot_bytes: u64,
    /// Snapshots end at this age: they hold memory, and files of rows that were replaced or deleted.
    pub snapshot_max_age: Duration,
    /// A keyspace that holds unflushed rows and was not written for this long is written to disk.
    pub idle_flush: Duration,
    /// A commit that nobody waits for becomes durable within about this time.
    pub buffered_sync_interval: Duration,
    /// Files of tables that are kept open, at least 10. Others are opened when they are read.
    pub cached_files: usize,
    /// Threads of fjall that flush.
    pub worker_threads: usize,
    /// Threads that compact, at least 1.
    pub compaction_threads: usize,
    /// Commits of more bytes are written to files before the commit lock is taken, smaller ones to the journal under it.
    pub large_commit_bytes: usize,
    /// So are commits of more rows: each takes some microseconds under the lock. But these do not wait for another one.
    pub large_commit_rows: usize,
    /// Loads up to this many bytes become one ordinary batch, larger ones sorted runs.
    pub small_load_bytes: usize,
    /// Rows of a bulk load that are sorted in memory before they become a run on disk.
    pub load_buffer_bytes: usize,
    /// Threads that write the rows of a large load where they will be.
    pub load_threads: usize,
    /// Scans that may read at the same time.
    pub scan_permits: usize,
    /// Large multi-gets that may read at the same time.
    pub read_permits: usize,
    /// Commits that may be in the pipeline at the same time.
    pub write_permits: usize,
    /// Where stamps come from.
    pub clock: Arc<dyn Clock>,
    /// What is asked for room on the disk.
    pub disk: Arc<dyn DiskSpace>,
    /// Deletes the folder when the store is dropped.
    pub temporary: bool,
}

impl Default for Options {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            cache_bytes: default_cache_bytes(),
            memtable_bytes: 256 << 20,
            memtable_entries: 200_000,
            snapshot_bytes: 512 << 20,
            snapshot_max_age: Duration::from_secs(3600),
            idle_flush: Duration::from_secs(60),
            buffered_sync_interval: Duration::from_millis(10),
            cached_files: default_cached_files(),
            worker_threads: 2,
            compaction_threads: (cores / 2).clamp(1, 4),
            large_commit_bytes: 8 << 20,
            large_commit_rows: 131_072,
            small_load_bytes: 8 << 20,
            load_buffer_bytes: 64 << 20,
            load_threads: cores.clamp(2, 4),
            scan_permits: (2 * cores).max(4),
            read_permits: (4 * cores).max(8),
            write_permits: 1024,
            clock: Arc::new(SystemClock),
            disk: Arc::new(FileSystem),
            temporary: false,
        }
    }
}

/// A quarter of the files that the process may open: clients and journals need some too.
fn default_cached_files() -> usize {
    let limit = getrlimit(Resource::NOFILE).map_or(FEW_FILES, |(current, _)| current);
    usize::try_from(limit / 4).unwrap_or(MOST_FILES).clamp(FEWEST_FILES, MOST_FILES)
}

/// Tells how much room a folder's disk has.
pub trait DiskSpace: Debug + Send + Sync {
    /// `None` when that is not known.
    fn space(&self, folder: &Path) -> Option<Space>;
}

/// Bytes of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// What this user may still write.
    pub free: u64,
    /// All of it.
    pub total: u64,
}

/// What the operating system says.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl DiskSpace for FileSystem {
    fn space(&self, folder: &Path) -> Option<Space> {
        let found = rustix::fs::statvfs(folder).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Some(Space { free: bytes(found.f_bavail), total: bytes(found.f_blocks) })
    }
}
