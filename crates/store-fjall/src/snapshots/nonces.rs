//! Which of fjall's snapshots are open.
//!
//! fjall computes its own watermark when a memtable is rotated, and drops versions of a tree only then and
//! in the next flush or compaction of that tree. So the memtable of the last flush stays in memory for as long as
//! nothing more is written. What is dropped here is what no open snapshot can ask for.

use crate::error::storage;
use crate::seam::Mutex;
use fjall::{AbstractTree, Database, Keyspace, Snapshot};
use std::sync::{Arc, Weak};
use store::StoreResult;

/// Takes fjall's snapshots, and remembers them.
#[derive(Default)]
pub(crate) struct Nonces {
    /// A short mutex.
    taken: Mutex<Vec<Weak<Snapshot>>>,
}

impl Nonces {
    /// A snapshot of what fjall holds now.
    pub(crate) fn take(&self, db: &Database) -> Arc<Snapshot> {
        let snapshot = Arc::new(db.snapshot());
        self.taken.lock().push(Arc::downgrade(&snapshot));
        snapshot
    }

    /// The oldest open snapshot. `None` when fjall has open snapshots that were not taken here, or cannot be
    /// asked just now: lsm-tree panics when a reader asks for a version that was dropped.
    fn oldest(&self, db: &Database) -> Option<u64> {
        let open: Vec<Arc<Snapshot>> = {
            let mut taken = self.taken.lock();
            taken.retain(|snapshot| snapshot.strong_count() > 0);
            taken.iter().filter_map(Weak::upgrade).collect()
        };
        // They are held while they are counted, so the same number means the same snapshots.
        let all_known = db.supervisor.snapshot_tracker.open_snapshots() == open.len();
        all_known.then(|| open.iter().map(|snapshot| snapshot.seqno()).min())?
    }

    /// Drops versions of `keyspaces` that no open snapshot reads, with their memtables.
    ///
    /// # Errors
    /// I/O failures when the files of those versions are removed.
    pub(crate) fn drop_unread_versions(&self, db: &Database, keyspaces: &[Keyspace]) -> StoreResult<()> {
        let old = keyspaces.iter().filter(|keyspace| keyspace.tree.version_free_list_len() > 0);
        let Some(oldest) = self.oldest(db) else { return Ok(()) };
        for keyspace in old {
            // Under its lock, as fjall does it: the newest version below the snapshot stays.
            let dropped = keyspace.tree.get_version_history_lock().maintenance(keyspace.path(), oldest);
            dropped.map_err(|error| storage("removing an old version of a tree")(&error))?;
        }
        Ok(())
    }
}
