//! One snapshot in the hands of the layers above.

use super::frozen::Frozen;
use super::scan::Slot;
use crate::commit::publish::State;
use crate::placement::TableMap;
use crate::read::ReadSource;
use crate::regions;
use crate::seam::{Instant, Mutex};
use std::sync::{Arc, Weak};
use store::{CommitNo, FamilyId, Snapshot, StoreError, StoreResult, TableId};

/// What a [`Snapshot`] of this store holds.
pub(crate) struct Handed {
    pub(crate) commit: CommitNo,
    pub(crate) taken: Instant,
    /// A short mutex: held for a clone or a replacement.
    holding: Mutex<Holding>,
}

struct Holding {
    /// `None` when it has ended.
    reading: Option<Reading>,
    /// Scans that are not at their end: they hold parts of the state, too.
    scans: Vec<Weak<Slot>>,
}

/// By what a snapshot reads.
#[derive(Clone)]
pub(crate) enum Reading {
    /// A state as it was published.
    Live(Arc<State>),
    /// What is left of it.
    Frozen(Arc<Frozen>),
}

impl Handed {
    pub(crate) fn new(state: Arc<State>) -> Self {
        let commit = state.commit;
        let holding = Holding { reading: Some(Reading::Live(state)), scans: Vec::new() };
        Self { commit, taken: Instant::now(), holding: Mutex::new(holding) }
    }

    /// By what it reads; `None` when it has ended.
    pub(crate) fn reading(&self) -> Option<Reading> {
        self.holding.lock().reading.clone()
    }

    /// Reads by something else from now on, unless it has ended. Scans under way go on as they are.
    pub(super) fn replace(&self, reading: Reading) {
        let mut holding = self.holding.lock();
        if holding.reading.is_some() {
            let replaced = holding.reading.replace(reading);
            drop(holding);
            // Outside of the lock: memtables and files may go with it.
            drop(replaced);
        }
    }

    /// Lets go of all it holds.
    pub(super) fn end(&self) {
        let mut holding = self.holding.lock();
        let (reading, scans) = (holding.reading.take(), std::mem::take(&mut holding.scans));
        drop(holding);
        drop(reading);
        scans.iter().filter_map(Weak::upgrade).for_each(|scan| scan.end());
    }

    /// Adds a scan that is to end with this snapshot; `false` when that has been.
    pub(super) fn add_scan(&self, scan: &Arc<Slot>) -> bool {
        let mut holding = self.holding.lock();
        if holding.scans.len().is_power_of_two() {
            holding.scans.retain(|scan| scan.strong_count() > 0);
        }
        holding.scans.push(Arc::downgrade(scan));
        holding.reading.is_some()
    }

    /// The error of a read after the end.
    pub(super) fn too_old(&self) -> StoreError {
        StoreError::SnapshotTooOld { commit: self.commit.0 }
    }
}

impl Reading {
    /// The tables.
    pub(crate) fn tables(&self) -> &TableMap {
        match self {
            Self::Live(state) => &state.tables,
            Self::Frozen(frozen) => &frozen.tables,
        }
    }

    /// Where a family's rows are, for the readers.
    ///
    /// # Errors
    /// No such table or family.
    pub(crate) fn source(&self, table: TableId, family: FamilyId) -> StoreResult<ReadSource> {
        match self {
            Self::Live(state) => regions::source(state, table, family),
            Self::Frozen(frozen) => frozen.source(table, family),
        }
    }
}

/// What is behind a snapshot that this store handed out.
///
/// # Errors
/// [`StoreError::Unsupported`] for a snapshot of another store.
pub(crate) fn handed(snapshot: &Snapshot) -> StoreResult<&Handed> {
    snapshot.handle::<Handed>().ok_or(StoreError::Unsupported { what: "a snapshot of another store" })
}

/// By what `snapshot` reads.
///
/// # Errors
/// [`StoreError::SnapshotTooOld`], and as [`handed`].
pub(crate) fn reading(snapshot: &Snapshot) -> StoreResult<Reading> {
    let handed = handed(snapshot)?;
    handed.reading().ok_or_else(|| handed.too_old())
}
