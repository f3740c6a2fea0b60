//! A store that counts and records its calls, to test what the layers above request.

use async_trait::async_trait;
use parking_lot::Mutex;
use std::sync::Arc;
use store::{
    BulkLoad, Bytes, CommitNo, Durability, FamilyId, OnDuplicate, ReadAt, Scan, ScanRequest, Snapshot, Store,
    StoreResult, TableId, Wrapper, WriteBatch,
};

/// Number of calls by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// `snapshot`.
    pub snapshots: usize,
    /// `get` of one row at a snapshot.
    pub gets: usize,
    /// `get` of several rows at a snapshot.
    pub multi_gets: usize,
    /// Keys in those multi-gets.
    pub keys: usize,
    /// `get` in the newest state.
    pub newest_gets: usize,
    /// `scan`.
    pub scans: usize,
    /// `apply` with a non-empty batch.
    pub batches: usize,
    /// Mutations in those batches.
    pub mutations: usize,
    /// `sync`.
    pub syncs: usize,
    /// `bulk_load`.
    pub bulk_loads: usize,
    /// `flush`.
    pub flushes: usize,
}

/// A recorded call.
#[derive(Clone, Debug)]
pub enum Call {
    /// `get`.
    Get(TableId, Vec<Bytes>),
    /// `scan`.
    Scan(ScanRequest),
    /// `apply` with a non-empty batch.
    Apply(WriteBatch, Durability),
    /// `sync`.
    Sync(CommitNo),
    /// `bulk_load`.
    BulkLoad(TableId, OnDuplicate),
    /// `flush`, with `major`.
    Flush(TableId, bool),
}

/// A [`Store`] that forwards and records every call. Clones share the record.
#[derive(Clone, Debug)]
pub struct RecordingStore {
    inner: Arc<dyn Store>,
    /// Locked briefly, never across a call of the inner store.
    notes: Arc<Mutex<(Counts, Vec<Call>)>>,
}

impl RecordingStore {
    /// Records the calls on `inner`.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, notes: Arc::default() }
    }

    /// The number of calls since the last [`Self::reset`].
    pub fn counts(&self) -> Counts {
        self.notes.lock().0
    }

    /// The calls in order, since the last [`Self::reset`].
    pub fn calls(&self) -> Vec<Call> {
        self.notes.lock().1.clone()
    }

    /// The scans in [`Self::calls`].
    pub fn scans(&self) -> Vec<ScanRequest> {
        let scan = |call| if let Call::Scan(request) = call { Some(request) } else { None };
        self.calls().into_iter().filter_map(scan).collect()
    }

    /// Clears the record.
    pub fn reset(&self) {
        *self.notes.lock() = Default::default();
    }

    fn note(&self, count: impl FnOnce(&mut Counts), call: Option<Call>) {
        let mut notes = self.notes.lock();
        count(&mut notes.0);
        notes.1.extend(call);
    }
}

#[async_trait]
impl Wrapper for RecordingStore {
    fn inner(&self) -> &dyn Store {
        self.inner.as_ref()
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        self.note(|counts| counts.snapshots += 1, None);
        self.inner.snapshot(at_least).await
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        let count = |counts: &mut Counts| match (at, keys.len()) {
            (ReadAt::Newest, _) => counts.newest_gets += 1,
            (ReadAt::Snapshot(_), 1) => (counts.gets, counts.keys) = (counts.gets + 1, counts.keys + 1),
            (ReadAt::Snapshot(_), many) => {
                (counts.multi_gets, counts.keys) = (counts.multi_gets + 1, counts.keys + many)
            }
        };
        let copied = keys.iter().map(|key| Bytes::copy_from_slice(key)).collect();
        self.note(count, Some(Call::Get(table, copied)));
        self.inner.get(table, family, keys, at).await
    }

    async fn scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        self.note(|counts| counts.scans += 1, Some(Call::Scan(request.clone())));
        self.inner.scan(request, snapshot).await
    }

    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        if !batch.is_empty() {
            let count = |counts: &mut Counts| {
                counts.batches += 1;
                counts.mutations += batch.mutations.len();
            };
            self.note(count, Some(Call::Apply(batch.clone(), durability)));
        }
        self.inner.apply(batch, durability).await
    }

    async fn sync(&self, commit: CommitNo) -> StoreResult<()> {
        self.note(|counts| counts.syncs += 1, Some(Call::Sync(commit)));
        self.inner.sync(commit).await
    }

    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        self.note(|counts| counts.bulk_loads += 1, Some(Call::BulkLoad(table, on_duplicate)));
        self.inner.bulk_load(table, on_duplicate).await
    }

    async fn flush(&self, table: TableId, major: bool) -> StoreResult<()> {
        self.note(|counts| counts.flushes += 1, Some(Call::Flush(table, major)));
        self.inner.flush(table, major).await
    }
}
