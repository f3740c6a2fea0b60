//! A consistent state of all tables, handed out by the store.

use crate::CommitNo;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A published state. Cheap to clone; reads at it repeat exactly.
///
/// A held snapshot keeps what was replaced or deleted since, so it belongs to one statement or transaction and not
/// longer. A backend may bound its age and what it holds: from then on reads by it fail with
/// [`crate::StoreError::SnapshotTooOld`], also those of scans that are under way.
#[derive(Clone)]
pub struct Snapshot {
    commit: CommitNo,
    handle: Arc<dyn Any + Send + Sync>,
}

impl Snapshot {
    /// For backends: a state that holds all commits up to `commit`, with the backend's own handle to it.
    pub fn new(commit: CommitNo, handle: Arc<dyn Any + Send + Sync>) -> Self {
        Self { commit, handle }
    }

    /// The last commit inside.
    pub fn commit(&self) -> CommitNo {
        self.commit
    }

    /// For backends: their handle, if this snapshot is one of theirs.
    pub fn handle<T: Any>(&self) -> Option<&T> {
        self.handle.downcast_ref()
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({})", self.commit)
    }
}
