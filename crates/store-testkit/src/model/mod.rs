//! A reference implementation of the contract in memory: maps of version chains under one lock.
//!
//! It is simple, so that a difference to another store most likely is an error of the other store. Old versions are
//! kept forever, so that every snapshot is repeatable.
//!
//! Durability is simulated by a number: commits up to `State::durable` survive [`ModelStore::after_crash`].

mod bulk;
mod regions;
mod scan;
mod staged;
mod state;
mod table;

use async_trait::async_trait;
use bulk::ModelBulkLoad;
use parking_lot::Mutex;
use scan::ModelScan;
use state::State;
use std::sync::Arc;
use store::{
    BulkLoad, Bytes, Capabilities, CheckReport, Clock, CommitNo, Durability, FamilyId, KeyRange, OnDuplicate, ReadAt,
    RegionInfo, Scan, ScanRequest, Scope, Snapshot, Store, StoreError, StoreResult, StoreStats, SystemClock, TableId,
    TableSize, WriteBatch,
};
use tokio::sync::watch;

/// The limits of the model.
const MAX_KEY_BYTES: usize = 65_535;
const MAX_FRAGMENT_BYTES: usize = 64 << 20;

/// A [`Store`] in memory. Clones are handles to the same store.
#[derive(Clone, Debug)]
pub struct ModelStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The whole state. Locked for one call at a time, never across an await.
    state: Mutex<State>,
    /// The last published commit, watched by `snapshot` calls that wait.
    published: watch::Sender<CommitNo>,
    clock: Arc<dyn Clock>,
    capabilities: Capabilities,
}

/// The handle in a snapshot of the model: the store that it belongs to.
struct Origin(Arc<Shared>);

impl Default for ModelStore {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelStore {
    /// An empty store with the system clock.
    pub fn new() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }

    /// An empty store with `clock`.
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self::from_state(State::default(), clock)
    }

    /// The state after a crash at this point: the durable commits only.
    pub fn after_crash(&self) -> Self {
        Self::from_state(self.0.state.lock().durable_part(), self.0.clock.clone())
    }

    fn from_state(state: State, clock: Arc<dyn Clock>) -> Self {
        let capabilities = Capabilities {
            snapshot: Scope::Store,
            atomic_batch: Scope::Store,
            table_changes: true,
            exclusive: true,
            history: false,
            observers: false,
            filter: true,
            bulk_load: true,
            max_key_bytes: MAX_KEY_BYTES,
            max_fragment_bytes: MAX_FRAGMENT_BYTES,
        };
        let (published, _) = watch::channel(state.published());
        Self(Arc::new(Shared { state: Mutex::new(state), published, clock, capabilities }))
    }

    /// The commit that a snapshot of this store reads.
    fn commit_of(&self, snapshot: &Snapshot) -> StoreResult<CommitNo> {
        match snapshot.handle::<Origin>() {
            Some(Origin(shared)) if Arc::ptr_eq(shared, &self.0) => Ok(snapshot.commit()),
            _ => Err(StoreError::Corrupted { detail: format!("{snapshot:?} belongs to another store") }),
        }
    }
}

impl Shared {
    /// Runs `call` on the state of an open store, then publishes its effects.
    fn with<T>(&self, call: impl FnOnce(&mut State) -> StoreResult<T>) -> StoreResult<T> {
        let (result, published) = {
            let mut state = self.state.lock();
            state.must_be_open()?;
            (call(&mut state), state.published())
        };
        self.published.send_if_modified(|old| std::mem::replace(old, published) != published);
        result
    }
}

#[async_trait]
impl Store for ModelStore {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        let mut published = self.0.published.subscribe();
        loop {
            let newest = self.0.with(|state| Ok(state.published()))?;
            if newest >= at_least {
                return Ok(Snapshot::new(newest, Arc::new(Origin(self.0.clone()))));
            }
            published.changed().await.map_err(|_| StoreError::Closed)?;
        }
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        let at = match at {
            ReadAt::Snapshot(snapshot) => Some(self.commit_of(snapshot)?),
            ReadAt::Newest => None,
        };
        self.0.with(|state| {
            let commit = at.unwrap_or_else(|| state.last());
            let rows = state.rows(table, family, commit)?;
            Ok(keys.iter().map(|key| rows.get(key, commit)).collect())
        })
    }

    async fn scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        let commit = self.commit_of(snapshot)?;
        self.0.with(|state| {
            let rows = state.rows(request.table, request.one_family()?, commit)?;
            Ok(Box::new(ModelScan::new(&request, rows, commit)) as Box<dyn Scan>)
        })
    }

    async fn split(
        &self,
        table: TableId,
        family: FamilyId,
        ranges: &[KeyRange],
        pieces: usize,
    ) -> StoreResult<Vec<Vec<KeyRange>>> {
        self.0.with(|state| {
            let rows = state.rows(table, family, state.last())?;
            Ok(regions::split(rows, ranges, pieces, state.last()))
        })
    }

    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        let now = self.0.clock.now();
        self.0.with(|state| state.apply(&batch, durability, now, &self.0.capabilities))
    }

    async fn sync(&self, commit: CommitNo) -> StoreResult<()> {
        self.0.with(|state| {
            if commit > state.last() {
                return Err(StoreError::Corrupted { detail: format!("{commit} was never given out") });
            }
            state.sync();
            Ok(())
        })
    }

    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        self.0.with(|state| state.table(table, state.last()).map(|_| ()))?;
        Ok(Box::new(ModelBulkLoad::new(self.0.clone(), table, on_duplicate)))
    }

    async fn regions(&self, table: TableId) -> StoreResult<Vec<RegionInfo>> {
        self.0.with(|state| Ok(regions::list(table, state.table(table, state.last())?, state.last())))
    }

    async fn estimate(&self, table: TableId, family: FamilyId, ranges: &[KeyRange]) -> StoreResult<TableSize> {
        self.0.with(|state| Ok(regions::size(state.rows(table, family, state.last())?, ranges, state.last())))
    }

    async fn flush(&self, table: TableId, _major: bool) -> StoreResult<()> {
        // There are no memtables: only checks that the table exists.
        self.0.with(|state| state.table(table, state.last()).map(|_| ()))
    }

    async fn check(&self) -> StoreResult<CheckReport> {
        self.0.with(|state| Ok(state.check()))
    }

    fn stats(&self) -> StoreStats {
        self.0.state.lock().stats()
    }

    async fn close(&self) -> StoreResult<()> {
        self.0.with(|state| {
            state.close();
            Ok(())
        })?;
        // Wakes waiting `snapshot` calls, which then fail with `Closed`.
        self.0.published.send_modify(|_| ());
        Ok(())
    }
}
