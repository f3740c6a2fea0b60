//! A snapshot that was handed out.

use super::frozen::Frozen;
use super::scan::Slot;
use crate::commit::publish::State;
use crate::placement::TableMap;
use crate::read::ReadSource;
use crate::regions;
use crate::seam::{Instant, Mutex};
use std::sync::{Arc, Weak};
use store::{CommitNo, FamilyId, Snapshot, StoreError, StoreResult, TableId};

/// The handle behind a [`Snapshot`] of this store.
pub(crate) struct Handed {
    pub(crate) commit: CommitNo,
    pub(crate) taken: Instant,
    /// Held briefly, for a clone or a replacement.
    holding: Mutex<Holding>,
}

struct Holding {
    /// `None` once the snapshot has ended.
    reading: Option<Reading>,
    /// Unfinished scans, which hold parts of the state, too.
    scans: Vec<Weak<Slot>>,
}

/// The source of a snapshot's reads.
#[derive(Clone)]
pub(crate) enum Reading {
    /// The state as it was published.
    Live(Arc<State>),
    /// The images of that state, without fjall's snapshot.
    Frozen(Arc<Frozen>),
}

impl Handed {
    pub(crate) fn new(state: Arc<State>) -> Self {
        let commit = state.commit;
        let holding = Holding { reading: Some(Reading::Live(state)), scans: Vec::new() };
        Self { commit, taken: Instant::now(), holding: Mutex::new(holding) }
    }

    /// The source of reads; `None` once the snapshot has ended.
    pub(crate) fn reading(&self) -> Option<Reading> {
        self.holding.lock().reading.clone()
    }

    /// Replaces the source of reads, unless the snapshot has ended. Running scans keep theirs.
    pub(super) fn replace(&self, reading: Reading) {
        let mut holding = self.holding.lock();
        if holding.reading.is_some() {
            let replaced = holding.reading.replace(reading);
            drop(holding);
            // Dropped outside of the lock, because that may free memtables and files.
            drop(replaced);
        }
    }

    /// Ends the snapshot and frees what it holds.
    pub(super) fn end(&self) {
        let mut holding = self.holding.lock();
        let (reading, scans) = (holding.reading.take(), std::mem::take(&mut holding.scans));
        drop(holding);
        drop(reading);
        scans.iter().filter_map(Weak::upgrade).for_each(|scan| scan.end());
    }

    /// Registers a scan that must end with this snapshot. Returns false if the snapshot has ended.
    pub(super) fn add_scan(&self, scan: &Arc<Slot>) -> bool {
        let mut holding = self.holding.lock();
        if holding.scans.len().is_power_of_two() {
            holding.scans.retain(|scan| scan.strong_count() > 0);
        }
        holding.scans.push(Arc::downgrade(scan));
        holding.reading.is_some()
    }

    /// The error of reads after the end.
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

    /// Where readers find a family's rows.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTable`], [`StoreError::NoSuchFamily`].
    pub(crate) fn source(&self, table: TableId, family: FamilyId) -> StoreResult<ReadSource> {
        match self {
            Self::Live(state) => regions::source(state, table, family),
            Self::Frozen(frozen) => frozen.source(table, family),
        }
    }
}

/// The handle of a snapshot that this store handed out.
///
/// # Errors
/// [`StoreError::Unsupported`] for a snapshot of another store.
pub(crate) fn handed(snapshot: &Snapshot) -> StoreResult<&Handed> {
    snapshot.handle::<Handed>().ok_or(StoreError::Unsupported { what: "a snapshot of another store" })
}

/// The source of `snapshot`'s reads.
///
/// # Errors
/// [`StoreError::SnapshotTooOld`], and as [`handed`].
pub(crate) fn reading(snapshot: &Snapshot) -> StoreResult<Reading> {
    let handed = handed(snapshot)?;
    handed.reading().ok_or_else(|| handed.too_old())
}
