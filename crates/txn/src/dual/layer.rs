//! The layer over the store: returns only valid rows and entries.

use super::scan::DualScan;
use super::{FAMILY, has_mark};
use async_trait::async_trait;
use fragment::header::{self, RESERVED, UNVERIFIED, VOID};
use parking_lot::RwLock;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use store::{
    Bytes, Capabilities, Clock, CommitNo, Condition, Durability, EntryRows, FamilyId, LargeWrite, ReadAt, Scan,
    ScanRequest, Scope, Snapshot, Store, StoreError, StoreResult, TableId, Wrapper,
};

/// Maximum number of entries that one read repairs.
const MOST_REPAIRS: usize = 64;
/// The interval and number of retries when a read meets an entry whose index definition is not known yet.
const LOOK_AGAIN: (Duration, usize) = (Duration::from_millis(5), 400);

/// Tells a long commit whether the table definitions are still the same.
#[async_trait]
pub trait Definitions: Send + Sync + Debug {
    /// Whether these tables have not changed since these catalog versions.
    ///
    /// # Errors
    /// The store's.
    async fn are_unchanged(&self, tables: &BTreeMap<TableId, u64>) -> StoreResult<bool>;
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct DualStore(pub(super) Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    /// The store below, including marked rows.
    pub(super) raw: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    /// The age from which marked rows count as abandoned by their writer. Correctness does not depend on it.
    pub(super) patience: Duration,
    pub(super) definitions: OnceLock<Arc<dyn Definitions>>,
    /// The entry encoders of all known indexes. Held for one read or change.
    entries: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The catalog version whose indexes are all known.
    version: Option<u64>,
    entries: BTreeMap<TableId, Arc<dyn EntryRows>>,
}

impl DualStore {
    /// Adds the layer to `store`. Rows that writers left marked are repaired if they are older than `patience`.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, patience: Duration) -> Self {
        let (definitions, entries) = (OnceLock::new(), RwLock::default());
        Self(Arc::new(Shared { raw: store, clock, patience, definitions, entries }))
    }

    /// The layer of a store, if it has one.
    pub fn over(store: &dyn Store) -> Option<&Self> {
        store.layer()?.downcast_ref()
    }

    /// Sets the definitions that long commits check. Only the first call has an effect.
    pub fn ask(&self, definitions: Arc<dyn Definitions>) {
        self.0.definitions.get_or_init(|| definitions);
    }

    /// Whether all indexes of that catalog version are known.
    pub fn knows(&self, version: u64) -> bool {
        self.0.entries.read().version.is_some_and(|known| known >= version)
    }

    /// Sets all indexes, unless a later catalog version is already known.
    pub fn know_all(&self, version: u64, entries: BTreeMap<TableId, Arc<dyn EntryRows>>) {
        let mut known = self.0.entries.write();
        if known.version.is_none_or(|known| known < version) {
            *known = Known { version: Some(version), entries };
        }
    }

    /// Adds one index.
    pub fn know(&self, storage: TableId, entries: Arc<dyn EntryRows>) {
        self.0.entries.write().entries.insert(storage, entries);
    }

    /// Rebuilds one entry from its row, and reserves its unique value. Concurrent writers of the row fail.
    ///
    /// # Errors
    /// The store's.
    pub async fn repair_entry(&self, storage: TableId, key: &Bytes) -> StoreResult<()> {
        match self.0.entries_of(storage) {
            Some(entries) => self.0.repair((storage, key), entries.as_ref(), true).await,
            None => Ok(()),
        }
    }

    /// Scans an index in the store, and returns its abandoned unverified entries. With `repair`, repairs these and
    /// deletes stale reservations.
    ///
    /// # Errors
    /// The store's.
    pub async fn repair_index(&self, storage: TableId, repair: bool) -> StoreResult<Vec<Bytes>> {
        self.0.repair_index(storage, repair).await
    }

    /// Whether the row of an entry holds the reservation of its unique value.
    ///
    /// # Errors
    /// The store's.
    pub async fn is_reserved(&self, storage: TableId, entry: &[u8]) -> StoreResult<bool> {
        self.0.is_reserved(storage, entry).await
    }
}

impl Shared {
    pub(super) fn entries_of(&self, table: TableId) -> Option<Arc<dyn EntryRows>> {
        self.entries.read().entries.get(&table).cloned()
    }

    /// Waits until the definition is known: it may become known slightly later than an entry is read.
    async fn known_entries(&self, table: TableId) -> StoreResult<Arc<dyn EntryRows>> {
        let (pause, times) = LOOK_AGAIN;
        for _ in 0..times {
            if let Some(entries) = self.entries_of(table) {
                return Ok(entries);
            }
            tokio::time::sleep(pause).await;
        }
        let detail = format!("{table} has an unverified entry and is no index that is known");
        Err(StoreError::Corrupted { detail })
    }

    /// For each marked fragment, the fragment that a reader should see.
    pub(super) async fn believed(
        &self,
        table: TableId,
        marked: &[(Bytes, Bytes)],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        let mut seen = vec![None; marked.len()];
        let mut asked = Vec::new();
        for (place, (key, fragment)) in marked.iter().enumerate() {
            if header::marks_of(fragment) & UNVERIFIED != 0 {
                let entries = self.known_entries(table).await?;
                asked.push((place, entries.rowkey(key)?));
            }
        }
        if asked.is_empty() {
            return Ok(seen);
        }
        let entries = self.known_entries(table).await?;
        let keys: Vec<&[u8]> = asked.iter().map(|(_, key)| key.as_ref()).collect();
        let rows = self.raw.get(entries.rows(), FAMILY, &keys, at).await?;
        for ((place, rowkey), row) in asked.iter().zip(rows) {
            let Some(row) = row.filter(|row| header::marks_of(row) & VOID == 0) else { continue };
            let Some((key, fragment)) = marked.get(*place) else { continue };
            let Some((now, of_row)) = entries.entry(rowkey, &row)? else { continue };
            if let Some(place) = seen.get_mut(*place).filter(|_| now == *key) {
                *place = Some(stamped_as(&of_row, fragment));
            }
        }
        Ok(seen)
    }

    /// Repairs rows that writers abandoned. The reader's result does not depend on it.
    pub(super) async fn repair_old(&self, table: TableId, marked: &[(Bytes, Bytes)], left: &mut usize) {
        for (key, fragment) in marked {
            if *left == 0 || !self.is_old(fragment) {
                continue;
            }
            *left -= 1;
            let marks = header::marks_of(fragment);
            let done = match (marks & UNVERIFIED != 0, self.entries_of(table)) {
                (true, Some(entries)) => self.repair((table, key), entries.as_ref(), false).await.map(drop),
                (false, _) if marks & VOID != 0 => {
                    let stamp = header::commit_of(fragment);
                    self.swap((table, key), stamp, None, Durability::Buffered).await.map(drop)
                }
                _ => Ok(()),
            };
            if done.is_err() {
                // The store accepts no writes. The result does not depend on the repair.
                *left = 0;
            }
        }
    }
}

/// Copies the stamp of another fragment.
fn stamped_as(fragment: &Bytes, other: &[u8]) -> Bytes {
    let mut stamped = fragment.to_vec();
    if let (Some(at), Some(commit)) = (header::timestamp_of(other), header::commit_of(other)) {
        // A fragment that is too short for a stamp keeps none.
        let _ = header::stamp(&mut stamped, at, commit);
    }
    stamped.into()
}

#[async_trait]
impl Wrapper for DualStore {
    fn inner(&self) -> &dyn Store {
        self.0.raw.as_ref()
    }

    fn capabilities(&self) -> Capabilities {
        // Filters would evaluate unverified entries, which may be invalid.
        Capabilities { atomic_batch: Scope::Row, filter: false, ..self.0.raw.capabilities() }
    }

    fn newest(&self) -> Option<Snapshot> {
        self.0.raw.newest()
    }

    fn entry_rows(&self, table: TableId) -> Option<Arc<dyn EntryRows>> {
        self.0.entries_of(table)
    }

    fn layer(&self) -> Option<&dyn Any> {
        Some(self)
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        let mut found = self.0.raw.get(table, family, keys, at).await?;
        if !found.iter().any(|fragment| has_mark(fragment.as_ref(), UNVERIFIED | VOID | RESERVED)) {
            return Ok(found);
        }
        let (mut places, mut marked) = (Vec::new(), Vec::new());
        for (place, (key, fragment)) in keys.iter().zip(&found).enumerate() {
            if let Some(fragment) = fragment.as_ref().filter(|fragment| header::marks_of(fragment) != 0) {
                places.push(place);
                marked.push((Bytes::copy_from_slice(key), fragment.clone()));
            }
        }
        let seen = self.0.believed(table, &marked, at).await?;
        for (place, seen) in places.into_iter().zip(seen) {
            if let Some(answer) = found.get_mut(place) {
                *answer = seen;
            }
        }
        let mut left = MOST_REPAIRS;
        self.0.repair_old(table, &marked, &mut left).await;
        Ok(found)
    }

    async fn scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        DualScan::begin(Arc::clone(&self.0), request, snapshot, MOST_REPAIRS).await
    }

    async fn apply_large(
        &self,
        write: Arc<dyn LargeWrite>,
        conditions: Vec<Condition>,
        durability: Durability,
    ) -> StoreResult<CommitNo> {
        self.0.raw.apply_large(write, conditions, durability).await
    }
}
