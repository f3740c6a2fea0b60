//! Which memtables and tables a snapshot reads, told by the tree itself.
//!
//! A tree keeps old versions of itself for the snapshots that are held. Only the version that was newest
//! when a snapshot was taken is complete for it: compaction drops what a newer entry replaces or
//! a newer tombstone deletes, even when the snapshot does not see that entry. lsm-tree finds the
//! version, but keeps its tables private; what it does tell is the current version of a tree. So the
//! version found is made the current one of an empty tree of our own, the lens, and looked at there.

use fjall::{AbstractTree, AnyTree};
use lsm_tree::{Config, Memtable, SequenceNumberCounter, Table};
use parking_lot::Mutex;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Names tried for the folder of the lens.
const MAX_TRIES: u32 = 100;

/// One lens for the process: looking through it takes less than a microsecond. Under a mutex, since what
/// it shows belongs to one caller at a time; never held while anything is read or waited for.
static LENS: OnceLock<Option<Mutex<AnyTree>>> = OnceLock::new();

/// What a tree consists of, as a snapshot sees it.
pub(super) struct Seen {
    pub(super) memtable: Arc<Memtable>,
    /// Memtables that wait for their flush. They cannot be reached.
    pub(super) sealed: usize,
    /// Runs from the newest to the oldest.
    pub(super) runs: Vec<Vec<Table>>,
    /// The number of the tree's version that has them.
    pub(super) version: u64,
    /// Bytes on disk of all tables.
    pub(super) bytes: u64,
}

/// Looks at `tree` as of sequence number `seqno`, which a held snapshot protects. `None` when there is no lens.
pub(super) fn look(tree: &AnyTree, seqno: u64) -> Option<Seen> {
    let lens = LENS.get_or_init(|| make().map(Mutex::new)).as_ref()?.lock();
    let version = tree.get_version_history_lock().get_version_for_snapshot(seqno);
    let memtable = version.active_memtable.clone();
    let empty = lens.get_version_history_lock().latest_version();
    lens.get_version_history_lock().replace_latest_version(version);
    let (sealed, current) = (lens.sealed_memtable_count(), lens.current_version());
    lens.get_version_history_lock().replace_latest_version(empty);
    drop(lens);
    let runs = current.iter_levels().flat_map(|level| level.iter()).map(|run| run.iter().cloned().collect()).collect();
    let bytes = current.iter_tables().map(|table| table.metadata.file_size).sum();
    Some(Seen { memtable, sealed, runs, version: current.id(), bytes })
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
