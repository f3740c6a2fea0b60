//! A model store whose applies and syncs fail on demand, and that counts them.

use async_trait::async_trait;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use store::*;
use store_testkit::ModelStore;

#[derive(Debug)]
pub struct Flaky {
    pub model: ModelStore,
    pub fail_apply: AtomicBool,
    pub fail_sync: AtomicBool,
    pub applies: AtomicU64,
}

impl Flaky {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            model: ModelStore::new(),
            fail_apply: AtomicBool::new(false),
            fail_sync: AtomicBool::new(false),
            applies: AtomicU64::new(0),
        })
    }
}

#[async_trait]
impl Store for Flaky {
    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        if self.fail_apply.load(Ordering::Relaxed) {
            return Err(StoreError::Io { action: "write".into(), reason: "injected".into() });
        }
        self.applies.fetch_add(1, Ordering::Relaxed);
        self.model.apply(batch, durability).await
    }

    async fn sync(&self, commit: CommitNo) -> StoreResult<()> {
        if self.fail_sync.load(Ordering::Relaxed) {
            return Err(StoreError::ReadOnly { reason: "injected".into() });
        }
        self.model.sync(commit).await
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        self.model.snapshot(at_least).await
    }

    async fn get(&self, table: TableId, family: FamilyId, key: &[u8], at: &Snapshot) -> StoreResult<Option<Bytes>> {
        self.model.get(table, family, key, at).await
    }

    async fn get_many(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[Bytes],
        at: &Snapshot,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        self.model.get_many(table, family, keys, at).await
    }

    async fn get_newest(&self, table: TableId, family: FamilyId, key: &[u8]) -> StoreResult<Option<Bytes>> {
        self.model.get_newest(table, family, key).await
    }

    async fn scan(&self, request: ScanRequest, at: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        self.model.scan(request, at).await
    }

    async fn split(
        &self,
        table: TableId,
        family: FamilyId,
        ranges: &[KeyRange],
        pieces: usize,
    ) -> StoreResult<Vec<Vec<KeyRange>>> {
        self.model.split(table, family, ranges, pieces).await
    }

    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        self.model.bulk_load(table, on_duplicate).await
    }

    async fn regions(&self, table: TableId) -> StoreResult<Vec<RegionInfo>> {
        self.model.regions(table).await
    }

    async fn estimate(&self, table: TableId, family: FamilyId, ranges: &[KeyRange]) -> StoreResult<TableSize> {
        self.model.estimate(table, family, ranges).await
    }

    async fn flush(&self, table: TableId, major: bool) -> StoreResult<()> {
        self.model.flush(table, major).await
    }

    async fn check(&self) -> StoreResult<CheckReport> {
        self.model.check().await
    }

    fn stats(&self) -> StoreStats {
        self.model.stats()
    }

    async fn close(&self) -> StoreResult<()> {
        self.model.close().await
    }
}
