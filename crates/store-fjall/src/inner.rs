//! What the store, its scans, its loads and its background threads share.

use crate::admission::Admission;
use crate::commit::pipeline::{Dropped, Pipeline};
use crate::commit::publish::State;
use crate::folder::Folder;
use crate::options::Options;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use store::{Snapshot, StoreError, StoreResult};

/// One open store. Fields are dropped in this order: fjall first, then the lock on the folder.
pub(crate) struct Inner {
    pub(crate) pipeline: Pipeline,
    pub(crate) admission: Admission,
    pub(crate) options: Options,
    /// What dropped tables left behind; the housekeeper takes it. A short mutex.
    pub(crate) reclaim: Mutex<Dropped>,
    /// Numbers the folders of bulk loads.
    pub(crate) loads: AtomicU64,
    closed: AtomicBool,
    pub(crate) folder: Folder,
    _temporary: TemporaryFolder,
}

impl Inner {
    pub(crate) fn new(pipeline: Pipeline, folder: Folder, options: Options, reclaim: Dropped) -> Self {
        let _temporary = TemporaryFolder(options.temporary.then(|| folder.path().to_owned()));
        Self {
            pipeline,
            admission: Admission::new(&options),
            reclaim: Mutex::new(reclaim),
            loads: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            options,
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

/// The state behind a snapshot that this store handed out.
///
/// # Errors
/// [`StoreError::Unsupported`] for a snapshot of another store.
pub(crate) fn state_of(snapshot: &Snapshot) -> StoreResult<&State> {
    snapshot.handle::<State>().ok_or(StoreError::Unsupported { what: "a snapshot of another store" })
}

/// A snapshot of `state` for the layers above.
pub(crate) fn snapshot_of(state: Arc<State>) -> Snapshot {
    Snapshot::new(state.commit, state)
}

/// Deletes a folder when the store is gone.
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
