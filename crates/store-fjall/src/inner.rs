//! State shared by the store, its scans, its loads and its background threads.

use crate::admission::Admission;
use crate::commit::pipeline::{Dropped, Pipeline};
use crate::disk_room::DiskRoom;
use crate::housekeeping::compaction::Compactions;
use crate::journal::held_journals::SealedNumbers;
use crate::journal::replay_floors::ReplayFloors;
use crate::memtables::Memtables;
use crate::open::folder::Folder;
use crate::options::Options;
use crate::seam::Mutex;
use crate::seam::engine_threads::Sealed;
use crate::snapshots::Keeper;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use store::{StoreError, StoreResult};

/// One open store. Fields drop in this order: fjall first, then the lock on the folder.
pub(crate) struct Inner {
    pub(crate) pipeline: Pipeline,
    pub(crate) admission: Admission,
    pub(crate) room: DiskRoom,
    pub(crate) options: Options,
    /// The snapshots that were handed out.
    pub(crate) snapshots: Keeper,
    /// Sizes of the memtables in memory, as last measured. Shared with the readers.
    pub(crate) memtables: Arc<Memtables>,
    /// Slots and keyspaces of dropped tables, to be reclaimed by the housekeeper. The mutex is held briefly.
    pub(crate) reclaim: Mutex<Dropped>,
    /// Keyspaces with sealed memtables, for the simulated seam; fjall tracks them itself otherwise.
    pub(crate) sealed: Sealed,
    pub(crate) compactions: Compactions,
    /// Sequence numbers of sealed memtables, which keep journals from being deleted.
    pub(crate) sealed_numbers: SealedNumbers,
    /// Next number for the folder of a bulk load.
    pub(crate) loads: AtomicU64,
    closed: AtomicBool,
    /// Recovery's start point per keyspace, raised by large commits.
    pub(crate) floors: ReplayFloors,
    pub(crate) folder: Folder,
    _temporary: TemporaryFolder,
}

impl Inner {
    pub(crate) fn new(
        pipeline: Pipeline,
        folder: Folder,
        floors: ReplayFloors,
        options: Options,
        reclaim: Dropped,
    ) -> Self {
        let _temporary = TemporaryFolder(options.temporary.then(|| folder.path().to_owned()));
        let memtables = Arc::clone(&pipeline.publisher.newest().views.memtables);
        Self {
            pipeline,
            admission: Admission::new(&options),
            room: DiskRoom::new(folder.path().to_owned(), options.disk.clone()),
            reclaim: Mutex::new(reclaim),
            sealed: Sealed::default(),
            sealed_numbers: SealedNumbers::default(),
            compactions: Compactions::default(),
            loads: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            snapshots: Keeper::default(),
            memtables,
            options,
            floors,
            folder,
            _temporary,
        }
    }

    /// # Errors
    /// [`StoreError::Closed`].
    pub(crate) fn check_open(&self) -> StoreResult<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        Ok(())
    }

    /// Marks the store closed; returns whether it was open.
    pub(crate) fn mark_closed(&self) -> bool {
        !self.closed.swap(true, Ordering::AcqRel)
    }
}

/// Deletes a folder when the store is dropped.
struct TemporaryFolder(Option<PathBuf>);

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Some(path) = &self.0
            && let Err(error) = std::fs::remove_dir_all(path)
        {
            tracing::warn!(path = %path.display(), %error, "a temporary store could not be deleted");
        }
    }
}
