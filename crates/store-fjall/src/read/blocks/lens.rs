//! Which memtables and tables a snapshot reads, told by the tree itself.
//!
//! A tree keeps old versions of itself for the snapshots that are held. Only the version that was newest
//! when a snapshot was taken is complete for it: compaction drops what a newer entry replaces or
//! a newer tombstone deletes, even when the snapshot does not see that entry. lsm-tree finds the
//! version, but keeps its tables private; what it does tell is the current version of a tree. So the
//! version found is made the current one of an empty tree of our own, the lens, and looked at there.

use crate::read::range::StoredRange;
use fjall::{AbstractTree, AnyTree, Slice};
use lsm_tree::{Config, Memtable, SequenceNumberCounter, Table, Tree};
use parking_lot::Mutex;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Names tried for the folder of the lens.
const MAX_TRIES: u32 = 100;

/// One lens for the process: looking through it takes less than a microsecond. Under a mutex, since what
/// it shows belongs to one caller at a time; never held while anything is read or waited for.
static LENS: OnceLock<Option<Mutex<AnyTree>>> = OnceLock::new();

/// Rows in key order, from both ends.
pub(crate) type Rows = Box<dyn DoubleEndedIterator<Item = lsm_tree::Result<(Slice, Slice)>> + Send>;

/// Merges everything that a version of a tree consists of, for readers at a sequence number. The version is of a
/// type that lsm-tree does not name, so it lives in a closure.
pub(super) type Iterate = Arc<dyn Fn(&StoredRange, u64) -> Rows + Send + Sync>;

/// What a tree consists of, as a snapshot sees it.
pub(super) struct Seen {
    pub(super) iterate: Iterate,
    pub(super) memtable: Arc<Memtable>,
    /// The rest, when there is a lens.
    pub(super) parts: Option<SeenParts>,
}

/// What the lens shows of a version.
pub(super) struct SeenParts {
    /// Memtables that wait for their flush. They cannot be reached one by one.
    pub(super) sealed: usize,
    pub(super) sealed_bytes: u64,
    /// Runs from the newest to the oldest.
    pub(super) runs: Vec<Vec<Table>>,
    /// The number of the tree's version that has them.
    pub(super) version: u64,
    /// Data blocks of all tables.
    pub(super) data_blocks: u64,
}

/// Looks at `tree` as of sequence number `seqno`, which a held snapshot protects. What is to be held for long is
/// `alone`, without a memtable that came after the snapshot: rotations put it into the version of before.
pub(super) fn look(tree: &AnyTree, seqno: u64, alone: bool) -> Seen {
    let mut version = tree.get_version_history_lock().get_version_for_snapshot(seqno);
    if alone && version.active_memtable.items.iter().all(|entry| entry.key().seqno >= seqno) {
        // By its number it stands for the last one that was sealed.
        version.active_memtable = Arc::new(Memtable::new(version.active_memtable.id().saturating_sub(1)));
    }
    let memtable = version.active_memtable.clone();
    let lens = LENS.get_or_init(|| make().map(Mutex::new)).as_ref();
    let parts = lens.map(|lens| {
        let lens = lens.lock();
        let empty = lens.get_version_history_lock().latest_version();
        lens.get_version_history_lock().replace_latest_version(version.clone());
        let (sealed, current) = (lens.sealed_memtable_count(), lens.current_version());
        // lsm-tree adds a memtable up once for each version that has it: here there is one version.
        let memtables = if sealed > 0 { lens.get_version_history_lock().memtable_size_sum() } else { 0 };
        lens.get_version_history_lock().replace_latest_version(empty);
        drop(lens);
        let levels = current.iter_levels().flat_map(|level| level.iter());
        SeenParts {
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

/// Makes the lens. Its folder is needed only while it is made: nothing is ever written to it.
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

/// A new folder: one that is there already is what a process of the same id left behind, or is not ours.
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
