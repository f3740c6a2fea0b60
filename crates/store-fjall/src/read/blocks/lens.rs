//! Finds the memtables and tables that a snapshot reads.
//!
//! A tree keeps old versions of itself for held snapshots. Only the version that was newest when a snapshot was taken
//! is complete for it: compaction drops entries that a newer entry replaces or a newer tombstone deletes, even if the
//! snapshot does not see the newer one. lsm-tree finds the right version, but only exposes the tables of a tree's
//! current version. So the version found is made the current one of an empty tree, the lens, and read there.

use crate::read::range::StoredRange;
use fjall::{AbstractTree, AnyTree, Slice};
use lsm_tree::{Config, Memtable, SequenceNumberCounter, Table, Tree};
use parking_lot::Mutex;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Maximum number of folder names tried for the lens.
const MAX_TRIES: u32 = 100;

/// One lens per process: using it takes less than a microsecond. The mutex gives its content to one caller at a time;
/// it is not held during reads or waits.
static LENS: OnceLock<Option<Mutex<AnyTree>>> = OnceLock::new();

/// Rows in key order, from both ends.
pub(crate) type Rows = Box<dyn DoubleEndedIterator<Item = lsm_tree::Result<(Slice, Slice)>> + Send>;

/// A merging iterator over a version of a tree, for readers at a sequence number. lsm-tree's type of the version is not
/// nameable, so a closure holds it.
pub(super) type Iterate = Arc<dyn Fn(&StoredRange, u64) -> Rows + Send + Sync>;

/// The content of a tree as a snapshot sees it.
pub(super) struct Seen {
    pub(super) iterate: Iterate,
    pub(super) memtable: Arc<Memtable>,
    /// The memtables' size and the tables, if there is a lens.
    pub(super) parts: Option<TreeParts>,
}

/// The parts of a version that the lens exposes.
pub(super) struct TreeParts {
    /// Number of memtables that wait for a flush. They are not accessible individually.
    pub(super) sealed: usize,
    pub(super) sealed_bytes: u64,
    /// Runs from the newest to the oldest.
    pub(super) runs: Vec<Vec<Table>>,
    /// The id of the tree version with these runs.
    pub(super) version: u64,
    /// Number of data blocks in all tables.
    pub(super) data_blocks: u64,
}

/// Reads the content of `tree` at `seqno`, which a held snapshot protects. With `alone`, for a long-lived image,
/// excludes a memtable that was created after the snapshot: a rotation puts the new memtable into the previous version.
pub(super) fn look(tree: &AnyTree, seqno: u64, alone: bool) -> Seen {
    let mut version = tree.get_version_history_lock().get_version_for_snapshot(seqno);
    if alone && version.active_memtable.items.iter().all(|entry| entry.key().seqno >= seqno) {
        // The empty memtable has the id of the last sealed one.
        version.active_memtable = Arc::new(Memtable::new(version.active_memtable.id().saturating_sub(1)));
    }
    let memtable = version.active_memtable.clone();
    let lens = LENS.get_or_init(|| make().map(Mutex::new)).as_ref();
    let parts = lens.map(|lens| {
        let lens = lens.lock();
        let empty = lens.get_version_history_lock().latest_version();
        lens.get_version_history_lock().replace_latest_version(version.clone());
        let (sealed, current) = (lens.sealed_memtable_count(), lens.current_version());
        // lsm-tree sums a memtable once per version that has it; the lens has one version.
        let memtables = if sealed > 0 { lens.get_version_history_lock().memtable_size_sum() } else { 0 };
        lens.get_version_history_lock().replace_latest_version(empty);
        drop(lens);
        let levels = current.iter_levels().flat_map(|level| level.iter());
        TreeParts {
            sealed,
            sealed_bytes: memtables.saturating_sub(memtable.size()),
            runs: levels.map(|run| run.iter().cloned().collect()).collect(),
            version: current.id(),
            data_blocks: current.iter_tables().map(|table| table.metadata.data_block_count).sum(),
        }
    });
    let iterate = move |range: &StoredRange, seqno| -> Rows {
        let entries = Tree::create_internal_range::<&[u8], _>(version.clone(), &range.bounds(), seqno, None);
        Box::new(entries.map(|entry| entry.map(|entry| (entry.key.user_key, entry.value))))
    };
    Seen { iterate: Arc::new(iterate), memtable, parts }
}

/// Creates the lens. Its folder is needed only during creation: nothing is ever written to it.
fn make() -> Option<AnyTree> {
    let unavailable = |error: &dyn std::fmt::Display| {
        tracing::warn!(%error, "scans cannot read data blocks and will be slower: no temporary folder");
    };
    let folder = make_folder().inspect_err(|error| unavailable(error)).ok()?;
    let counter = SequenceNumberCounter::default;
    let opened = Config::new(&folder, counter(), counter()).open().inspect_err(|error| unavailable(error));
    if let Err(error) = std::fs::remove_dir_all(&folder) {
        tracing::warn!(%error, folder = %folder.display(), "cannot remove a temporary folder");
    }
    opened.ok()
}

/// Creates a new folder. An existing one is from an earlier process with the same id, or foreign.
fn make_folder() -> std::io::Result<PathBuf> {
    let mut tries = 0;
    loop {
        let folder = std::env::temp_dir().join(format!("bennu-lens-{}-{tries}", std::process::id()));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && tries < MAX_TRIES => tries += 1,
            Err(error) => return Err(error),
        }
    }
}
