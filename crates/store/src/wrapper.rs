//! Stores that wrap another store: a layer that changes what its callers see, or a test that observes the calls.
//!
//! A wrapper overrides the methods that it changes. The others forward to the inner store, except those with a default
//! in [`Store`]: a large commit becomes a batch for the wrapper's own `apply`, and `newest`, `entry_rows` and `layer`
//! return `None`.

use crate::{
    BulkLoad, Capabilities, CheckReport, CommitNo, Condition, Durability, EntryRows, FamilyId, KeyRange, LargeWrite,
    OnDuplicate, ReadAt, RegionInfo, Scan, ScanRequest, Snapshot, Store, StoreResult, StoreStats, TableId, TableSize,
    WriteBatch, large,
};
use async_trait::async_trait;
use bytes::Bytes;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A [`Store`] over another store. Each method is that of [`Store`], with its errors.
#[async_trait]
#[expect(missing_docs, reason = "as those of Store")]
pub trait Wrapper: Send + Sync + Debug + Sized {
    /// The inner store.
    fn inner(&self) -> &dyn Store;

    fn capabilities(&self) -> Capabilities {
        self.inner().capabilities()
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        self.inner().snapshot(at_least).await
    }

    fn newest(&self) -> Option<Snapshot> {
        None
    }

    fn entry_rows(&self, _table: TableId) -> Option<Arc<dyn EntryRows>> {
        None
    }

    fn layer(&self) -> Option<&dyn Any> {
        None
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        self.inner().get(table, family, keys, at).await
    }

    async fn scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        self.inner().scan(request, snapshot).await
    }

    async fn split(
        &self,
        table: TableId,
        family: FamilyId,
        ranges: &[KeyRange],
        pieces: usize,
    ) -> StoreResult<Vec<Vec<KeyRange>>> {
        self.inner().split(table, family, ranges, pieces).await
    }

    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        self.inner().apply(batch, durability).await
    }

    async fn apply_large(
        &self,
        write: Arc<dyn LargeWrite>,
        conditions: Vec<Condition>,
        durability: Durability,
    ) -> StoreResult<CommitNo> {
        large::apply_in_memory(self, write.as_ref(), conditions, durability).await
    }

    async fn sync(&self, commit: CommitNo) -> StoreResult<()> {
        self.inner().sync(commit).await
    }

    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        self.inner().bulk_load(table, on_duplicate).await
    }

    async fn regions(&self, table: TableId) -> StoreResult<Vec<RegionInfo>> {
        self.inner().regions(table).await
    }

    async fn estimate(&self, table: TableId, family: FamilyId, ranges: &[KeyRange]) -> StoreResult<TableSize> {
        self.inner().estimate(table, family, ranges).await
    }

    async fn flush(&self, table: TableId, major: bool) -> StoreResult<()> {
        self.inner().flush(table, major).await
    }

    async fn check(&self) -> StoreResult<CheckReport> {
        self.inner().check().await
    }

    fn stats(&self) -> StoreStats {
        self.inner().stats()
    }

    async fn close(&self) -> StoreResult<()> {
        self.inner().close().await
    }
}

#[async_trait]
impl<W: Wrapper> Store for W {
    fn capabilities(&self) -> Capabilities {
        Wrapper::capabilities(self)
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        Wrapper::snapshot(self, at_least).await
    }

    fn newest(&self) -> Option<Snapshot> {
        Wrapper::newest(self)
    }

    fn entry_rows(&self, table: TableId) -> Option<Arc<dyn EntryRows>> {
        Wrapper::entry_rows(self, table)
    }

    fn layer(&self) -> Option<&dyn Any> {
        Wrapper::layer(self)
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        Wrapper::get(self, table, family, keys, at).await
    }

    async fn scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        Wrapper::scan(self, request, snapshot).await
    }

    async fn split(
        &self,
        table: TableId,
        family: FamilyId,
        ranges: &[KeyRange],
        pieces: usize,
    ) -> StoreResult<Vec<Vec<KeyRange>>> {
        Wrapper::split(self, table, family, ranges, pieces).await
    }

    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        Wrapper::apply(self, batch, durability).await
    }

    async fn apply_large(
        &self,
        write: Arc<dyn LargeWrite>,
        conditions: Vec<Condition>,
        durability: Durability,
    ) -> StoreResult<CommitNo> {
        Wrapper::apply_large(self, write, conditions, durability).await
    }

    async fn sync(&self, commit: CommitNo) -> StoreResult<()> {
        Wrapper::sync(self, commit).await
    }

    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        Wrapper::bulk_load(self, table, on_duplicate).await
    }

    async fn regions(&self, table: TableId) -> StoreResult<Vec<RegionInfo>> {
        Wrapper::regions(self, table).await
    }

    async fn estimate(&self, table: TableId, family: FamilyId, ranges: &[KeyRange]) -> StoreResult<TableSize> {
        Wrapper::estimate(self, table, family, ranges).await
    }

    async fn flush(&self, table: TableId, major: bool) -> StoreResult<()> {
        Wrapper::flush(self, table, major).await
    }

    async fn check(&self) -> StoreResult<CheckReport> {
        Wrapper::check(self).await
    }

    fn stats(&self) -> StoreStats {
        Wrapper::stats(self)
    }

    async fn close(&self) -> StoreResult<()> {
        Wrapper::close(self).await
    }
}
