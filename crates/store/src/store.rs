//! The store contract. All data of Bennu is read and written through these methods.

use crate::{
    BulkLoad, Capabilities, CheckReport, CommitNo, Condition, EntryRows, FamilyId, KeyRange, LargeWrite, OnDuplicate,
    ReadAt, RegionInfo, Scan, ScanRequest, Snapshot, StoreResult, StoreStats, TableId, TableSize, WriteBatch, large,
};
use async_trait::async_trait;
use bytes::Bytes;
use std::any::Any;
use std::sync::Arc;

/// When other sessions may see a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Only once it would survive a crash: the caller waits for [`Store::sync`]. `synchronous_commit = on`.
    Sync,
    /// Before it is durable. It becomes durable soon, in log order. `synchronous_commit = off`.
    Buffered,
}

/// A store of tables, each a sorted map from rowkey to one fragment per family.
///
/// Methods are async, so that waiting parks the task and does not block a thread.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    /// What this backend can do. Constant for the lifetime of the store.
    fn capabilities(&self) -> Capabilities;

    /// Returns the newest published state that contains `at_least`. A session passes its own last commit, so that it
    /// sees its own writes. Waits for that commit if it is not published yet.
    ///
    /// A snapshot contains a [`Durability::Sync`] commit only if that commit would survive a crash now, and a
    /// [`Durability::Buffered`] commit as soon as no `Sync` commit before it is still undurable.
    ///
    /// # Errors
    /// [`crate::StoreError::ReadOnly`] when `at_least` can never become durable.
    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot>;

    /// The newest state, durable or not: the counterpart of [`crate::ReadAt::Newest`] for scans, for writers only.
    /// `None` if the store cannot return that state; a snapshot of the last commit contains it, too.
    fn newest(&self) -> Option<Snapshot> {
        None
    }

    /// Returns how the rows of index table `table` are derived, if a layer over the store maintains that index.
    fn entry_rows(&self, _table: TableId) -> Option<Arc<dyn EntryRows>> {
        None
    }

    /// The layer over this store, so that the crate that added the layer can downcast to it.
    fn layer(&self) -> Option<&dyn Any> {
        None
    }

    /// Returns the fragments of the rows of `keys`, in the order of `keys`; `None` for a row that does not exist.
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

    /// Begins a scan at `snapshot`, which the scan holds until it is dropped. Returns each row once, in key order.
    ///
    /// # Errors
    /// [`crate::StoreError::NoSuchTable`], [`crate::StoreError::NoSuchFamily`].
    async fn scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>>;

    /// Splits `ranges` into at most `pieces` non-empty lists of about equal work, in key order, which together are
    /// exactly `ranges`. Follows region borders and data blocks. A hint: any split is correct.
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

    /// Checks the conditions and applies the batch to the newest state atomically, in log order. With a smaller
    /// [`Capabilities::atomic_batch`], each row is applied atomically with the conditions on it. Later writers build on
    /// the batch as soon as this returns; readers see it after [`Self::sync`], or soon without it when `Buffered`. An
    /// empty batch returns the last commit. The commit returned for a batch of one row is the new stamp of that row.
    ///
    /// # Errors
    /// After any error nothing was written, except after [`crate::StoreError::ReadOnly`] and [`crate::StoreError::Io`]:
    /// then the outcome is unknown until the store is reopened.
    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo>;

    /// As [`Self::apply`] for rows that need not be in memory at once. Other commits go on meanwhile. By default the
    /// rows are collected into one batch.
    ///
    /// # Errors
    /// As [`Self::apply`] and [`LargeWrite::rows`]; [`crate::StoreError::TableChanged`] when bulk loads kept moving a
    /// table to another keyspace meanwhile.
    async fn apply_large(
        &self,
        write: Arc<dyn LargeWrite>,
        conditions: Vec<Condition>,
        durability: Durability,
    ) -> StoreResult<CommitNo> {
        large::apply_in_memory(self, write.as_ref(), conditions, durability).await
    }

    /// Waits until `commit` and all commits before it would survive a crash and are published.
    /// Callers that wait at the same time share one sync of the log.
    ///
    /// # Errors
    /// [`crate::StoreError::ReadOnly`]: the log could not be synced; the outcome is unknown.
    async fn sync(&self, commit: CommitNo) -> StoreResult<()>;

    /// Begins a bulk load into one table. The caller keeps other writers off the table until the load ends.
    ///
    /// # Errors
    /// [`crate::StoreError::Unsupported`] without [`Capabilities::bulk_load`].
    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>>;

    /// The regions of a table in key order. They cover all keys and do not overlap.
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
