//! The contract. Everything that Bennu keeps goes through these methods.

use crate::{
    BulkLoad, Capabilities, CheckReport, CommitNo, Condition, EntryRows, FamilyId, KeyRange, LargeWrite, OnDuplicate,
    ReadAt, RegionInfo, Scan, ScanRequest, Snapshot, StoreResult, StoreStats, TableId, TableSize, WriteBatch, large,
};
use async_trait::async_trait;
use bytes::Bytes;
use std::any::Any;
use std::sync::Arc;

/// May the commit be shown to others before it would survive a crash?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// No: the caller waits for [`Store::sync`]. `synchronous_commit = on`.
    Sync,
    /// Yes: it becomes durable soon, in order. `synchronous_commit = off`.
    Buffered,
}

/// A store of tables, each a sorted map from rowkey to one fragment per family.
///
/// Methods are async so that a caller that waits is parked and never blocks a thread.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    /// What this backend can do. Constant for its life.
    fn capabilities(&self) -> Capabilities;

    /// The newest published state that holds `at_least`: a session passes its own last commit and so
    /// sees its own writes. Waits for that commit if it is not published yet.
    ///
    /// Two rules: a [`Durability::Sync`] commit is inside only if it would survive a crash now; a
    /// [`Durability::Buffered`] one as soon as no undurable `Sync` commit stands before it.
    ///
    /// # Errors
    /// [`crate::StoreError::ReadOnly`] when `at_least` can never become durable.
    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot>;

    /// The newest state, durable or not: what [`crate::ReadAt::Newest`] is for a scan, and for the same callers only. `None`
    /// where a store has no such state at hand; a snapshot of the last commit has all of it, too.
    fn newest(&self) -> Option<Snapshot> {
        None
    }

    /// Which rows the rows of `table` are entries of, where a layer over the store looks after that.
    fn entry_rows(&self, _table: TableId) -> Option<Arc<dyn EntryRows>> {
        None
    }

    /// The layer that stands over the store, for the crate that put it there to find it again.
    fn layer(&self) -> Option<&dyn Any> {
        None
    }

    /// The fragments of the rows of `keys`, in their order; `None` for a row that is not there.
    ///
    /// # Errors
    /// [`crate::StoreError::NoSuchTable`], [`crate::StoreError::NoSuchFamily`], [`crate::StoreError::Corrupted`];
    /// [`crate::StoreError::SnapshotTooOld`].
    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>>;

    /// Begins a scan at `snapshot`, which it holds until dropped. Each row comes once, in key order.
    ///
    /// # Errors
    /// [`crate::StoreError::NoSuchTable`], [`crate::StoreError::NoSuchFamily`].
    async fn scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>>;

    /// Cuts `ranges` into at most `pieces` lists of about equal work, in key order, none empty:
    /// together exactly `ranges`. Follows region borders and data blocks. A hint: any cut is right.
    ///
    /// # Errors
    /// As [`Self::scan`].
    async fn split(
        &self,
        table: TableId,
        family: FamilyId,
        ranges: &[KeyRange],
        pieces: usize,
    ) -> StoreResult<Vec<Vec<KeyRange>>>;

    /// Checks the conditions and applies the batch to the newest state as one step, in log order; where
    /// [`Capabilities::atomic_batch`] reaches less far, one step for each row with the conditions on it.
    /// When this returns, later writers build on it; readers see it after [`Self::sync`]
    /// (or, when `Buffered`, soon by itself). An empty batch returns the last commit. The commit returned for a batch
    /// of one row is the stamp that the row carries now.
    ///
    /// # Errors
    /// After any error nothing was written, except [`crate::StoreError::ReadOnly`] and
    /// [`crate::StoreError::Io`] that say the outcome is unknown until the store is reopened.
    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo>;

    /// As [`Self::apply`] for rows that need not be in memory at once. Commits beside it go on meanwhile. A store
    /// without a way of its own collects them into one batch.
    ///
    /// # Errors
    /// As [`Self::apply`] and [`LargeWrite::rows`]; [`crate::StoreError::TableChanged`] when a table was moved again and
    /// again meanwhile.
    async fn apply_large(
        &self,
        write: Arc<dyn LargeWrite>,
        conditions: Vec<Condition>,
        durability: Durability,
    ) -> StoreResult<CommitNo> {
        large::apply_in_memory(self, write.as_ref(), conditions, durability).await
    }

    /// Waits until `commit` and all before it would survive a crash, and are published.
    /// Callers that wait at the same time share one sync of the log.
    ///
    /// # Errors
    /// [`crate::StoreError::ReadOnly`]: the log could not be synced; the outcome is unknown.
    async fn sync(&self, commit: CommitNo) -> StoreResult<()>;

    /// Begins a bulk load into one table. The caller keeps other writers off the table until it ends.
    ///
    /// # Errors
    /// [`crate::StoreError::Unsupported`] without [`Capabilities::bulk_load`].
    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>>;

    /// The regions of a table in key order: together all keys, none overlapping.
    ///
    /// # Errors
    /// [`crate::StoreError::NoSuchTable`].
    async fn regions(&self, table: TableId) -> StoreResult<Vec<RegionInfo>>;

    /// Estimated rows and bytes in `ranges` of a family; cheap enough for every plan.
    ///
    /// # Errors
    /// As [`Self::scan`].
    async fn estimate(&self, table: TableId, family: FamilyId, ranges: &[KeyRange]) -> StoreResult<TableSize>;

    /// Writes the table's memtables to disk; with `major`, also merges its runs into one and reclaims
    /// what was overwritten and deleted.
    ///
    /// # Errors
    /// I/O failures.
    async fn flush(&self, table: TableId, major: bool) -> StoreResult<()>;

    /// Reads everything from disk and verifies checksums and key order.
    ///
    /// # Errors
    /// Only when the check itself cannot run: what is wrong with the data is in the report.
    async fn check(&self) -> StoreResult<CheckReport>;

    /// Figures for metrics.
    fn stats(&self) -> StoreStats;

    /// Makes everything durable and stops background work. Calls after it fail with
    /// [`crate::StoreError::Closed`].
    ///
    /// # Errors
    /// The last sync's failure.
    async fn close(&self) -> StoreResult<()>;
}
