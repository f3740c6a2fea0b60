//! Options of an embedded store.

use crate::memory::default_cache_bytes;
use rlimit::{Resource, getrlimit};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::{Clock, SystemClock};

/// The smallest file cache that fjall accepts.
pub(crate) const FEWEST_FILES: usize = 10;
/// Upper bound of the default file cache.
const MOST_FILES: usize = 900;
/// The limit of open files to assume if the system does not report one.
const FEW_FILES: u64 = 256;

/// Settings of an embedded store. The defaults suit a machine with a few GiB of memory.
#[derive(Clone, Debug)]
pub struct Options {
    /// Block cache, in bytes of uncompressed blocks. By default an eighth of the memory, 4 GiB at most.
    pub cache_bytes: u64,
    /// Memtables of all keyspaces together; above it the largest is flushed.
    pub memtable_bytes: u64,
    /// Memtable entries of all keyspaces together. Bounds the time to replay the journal at a restart (about 4 us per
    /// entry).
    pub memtable_entries: u64,
    /// Flushed memtables that snapshots keep in memory; above it the oldest of these snapshots expire.
    pub snapshot_bytes: u64,
    /// Snapshots expire at this age, because they keep memory and files of replaced or deleted rows.
    pub snapshot_max_age: Duration,
    /// A keyspace with unflushed rows and no writes for this long is flushed.
    pub idle_flush: Duration,
    /// A buffered commit becomes durable within about this time.
    pub buffered_sync_interval: Duration,
    /// Table files that are kept open, at least 10. Others are opened on each read.
    pub cached_files: usize,
    /// fjall's flush threads.
    pub worker_threads: usize,
    /// Compaction threads, at least 1.
    pub compaction_threads: usize,
    /// Commits of more bytes are written to files before the commit lock is taken, smaller ones to the journal under
    /// the lock.
    pub large_commit_bytes: usize,
    /// The same limit in rows, because each row takes some microseconds under the lock. A commit beyond only this limit
    /// does not wait for another large commit: it then goes to the journal.
    pub large_commit_rows: usize,
    /// Loads up to this many bytes become one ordinary batch, larger ones sorted runs.
    pub small_load_bytes: usize,
    /// Bytes of a bulk load that are sorted in memory before they become a run on disk.
    pub load_buffer_bytes: usize,
    /// Threads that write the rows of a large load to their final tables.
    pub load_threads: usize,
    /// Scans that may read at the same time.
    pub scan_permits: usize,
    /// Large multi-gets that may read at the same time.
    pub read_permits: usize,
    /// Commits that may be in the pipeline at the same time.
    pub write_permits: usize,
    /// The source of timestamps.
    pub clock: Arc<dyn Clock>,
    /// The source of the free disk space.
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

/// A quarter of the process's limit of open files: clients and journals need some too.
fn default_cached_files() -> usize {
    let limit = getrlimit(Resource::NOFILE).map_or(FEW_FILES, |(current, _)| current);
    usize::try_from(limit / 4).unwrap_or(MOST_FILES).clamp(FEWEST_FILES, MOST_FILES)
}

/// Reports the space of a folder's disk.
pub trait DiskSpace: Debug + Send + Sync {
    /// Returns the space; `None` if unknown.
    fn space(&self, folder: &Path) -> Option<Space>;
}

/// Disk space in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Bytes that this user may still write.
    pub free: u64,
    /// The size of the disk.
    pub total: u64,
}

/// Reads the disk space with statvfs.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl DiskSpace for FileSystem {
    fn space(&self, folder: &Path) -> Option<Space> {
        let found = rustix::fs::statvfs(folder).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Some(Space { free: bytes(found.f_bavail), total: bytes(found.f_blocks) })
    }
}
