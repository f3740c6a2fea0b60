//! A consistent state of all tables, handed out by the store.

use crate::CommitNo;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A published state. Cheap to clone; repeated reads return the same rows.
///
/// A snapshot keeps versions alive that were replaced or deleted since, so one statement or transaction should hold it
/// and no longer. A backend may limit its age and the memory that it holds; beyond the limit, reads by it, including
/// those of running scans, fail with [`crate::StoreError::SnapshotTooOld`].
#[derive(Clone)]
pub struct Snapshot {
    commit: CommitNo,
    handle: Arc<dyn Any + Send + Sync>,
}

impl Snapshot {
    /// For backends: a state that contains all commits up to `commit`, with the backend's own handle.
    pub fn new(commit: CommitNo, handle: Arc<dyn Any + Send + Sync>) -> Self {
        Self { commit, handle }
    }

    /// The last commit that the snapshot contains.
    pub fn commit(&self) -> CommitNo {
        self.commit
    }

    /// For backends: the handle, if this snapshot is one of theirs.
    pub fn handle<T: Any>(&self) -> Option<&T> {
        self.handle.downcast_ref()
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({})", self.commit)
    }
}
