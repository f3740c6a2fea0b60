//! Tracks the open fjall snapshots.
//!
//! fjall computes its own watermark when a memtable is rotated, and drops versions of a tree only then and at the next
//! flush or compaction of that tree. So the memtable of the last flush stays in memory as long as nothing is written.
//! This module drops the versions that no open snapshot can read.

use crate::error::storage;
use crate::seam::Mutex;
use fjall::{AbstractTree, Database, Keyspace, Snapshot};
use std::sync::{Arc, Weak};
use store::StoreResult;

/// Takes and records fjall's snapshots.
#[derive(Default)]
pub(crate) struct Nonces {
    /// Held briefly.
    taken: Mutex<Vec<Weak<Snapshot>>>,
}

impl Nonces {
    /// A snapshot of fjall's current content.
    pub(crate) fn take(&self, db: &Database) -> Arc<Snapshot> {
        let snapshot = Arc::new(db.snapshot());
        self.taken.lock().push(Arc::downgrade(&snapshot));
        snapshot
    }

    /// The sequence number of the oldest open snapshot. `None` if fjall has open snapshots that were not taken here,
    /// because lsm-tree panics when a dropped version is read, or if none is open.
    fn oldest(&self, db: &Database) -> Option<u64> {
        let open: Vec<Arc<Snapshot>> = {
            let mut taken = self.taken.lock();
            taken.retain(|snapshot| snapshot.strong_count() > 0);
            taken.iter().filter_map(Weak::upgrade).collect()
        };
        // The snapshots are held while they are counted, so an equal count means that all are known.
        let all_known = db.supervisor.snapshot_tracker.open_snapshots() == open.len();
        all_known.then(|| open.iter().map(|snapshot| snapshot.seqno()).min())?
    }

    /// Drops tree versions of `keyspaces` that no open snapshot reads, with their memtables.
    ///
    /// # Errors
    /// I/O failures while files of those versions are removed.
    pub(crate) fn drop_unread_versions(&self, db: &Database, keyspaces: &[Keyspace]) -> StoreResult<()> {
        let old = keyspaces.iter().filter(|keyspace| keyspace.tree.version_free_list_len() > 0);
        let Some(oldest) = self.oldest(db) else { return Ok(()) };
        for keyspace in old {
            // Under the version lock, as in fjall. The newest version below the snapshot is kept.
            let dropped = keyspace.tree.get_version_history_lock().maintenance(keyspace.path(), oldest);
            dropped.map_err(|error| storage("removing an old version of a tree")(&error))?;
        }
        Ok(())
    }
}
