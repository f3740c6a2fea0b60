//! The store contract, method by method: admission, then the module that does the work.

use crate::commit::prepared::Prepared;
use crate::commit::thread_use;
use crate::housekeeping::Housekeeper;
use crate::inner::Inner;
use crate::limits::{MAX_FRAGMENT_BYTES, MAX_KEY_BYTES, within_limits};
use crate::memtables::budget;
use crate::options::Options;
use crate::placement::TableMap;
use crate::read::{self, ReadSource};
use crate::seam::task;
use crate::snapshots::{QueuedScan, reading};
use crate::{large, load, open, regions, stats};
use async_trait::async_trait;
use bytes::Bytes;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use store::{
    BulkLoad, Capabilities, CheckReport, CommitNo, Condition, Durability, FamilyId, KeyList, KeyRange, LargeWrite,
    Mutation, OnDuplicate, ReadAt, RegionInfo, Scan, ScanRequest, Scope, Snapshot, SortedRows, Store, StoreError,
    StoreResult, StoreStats, TableChange, TableId, TableSize, WriteBatch,
};
use tokio::sync::OwnedSemaphorePermit;

/// Larger multi-gets need a permit and run on a blocking thread.
const LARGE_MULTI_GET: usize = 64;

/// Larger batches are applied on a blocking thread, because they take some milliseconds.
const LARGE_BATCH_ITEMS: usize = 1000;
const LARGE_BATCH_BYTES: usize = 512 << 10;

/// The embedded store: one folder, one process.
///
/// Dropping it ends its threads and syncs. [`Store::close`] also flushes the memtables, so that the next open has
/// nothing to replay.
pub struct FjallStore {
    inner: Arc<Inner>,
    housekeeper: Housekeeper,
    /// Held while the store is closing.
    closing: tokio::sync::Mutex<()>,
}

impl FjallStore {
    /// Opens the store in `path`, creates it if there is none, and recovers it after a crash.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] for a folder that is not a store of this version, [`StoreError::Locked`] for one in use,
    /// [`StoreError::Corrupted`] for damage in durable data, and I/O failures.
    pub fn open(path: impl AsRef<Path>, options: Options) -> StoreResult<Arc<Self>> {
        let inner = Arc::new(open::open(path.as_ref(), options)?);
        let housekeeper = Housekeeper::start(&inner)?;
        Ok(Arc::new(Self { inner, housekeeper, closing: tokio::sync::Mutex::default() }))
    }

    /// The shared state, for unit tests.
    #[cfg(test)]
    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// Applies a large commit while other commits go on. `place` is the permit of the one large commit; `write` runs on
    /// a blocking thread.
    async fn beside_others(
        &self,
        place: OwnedSemaphorePermit,
        write: impl FnOnce() -> Arc<dyn LargeWrite> + Send + 'static,
        conditions: Vec<Condition>,
        durability: Durability,
    ) -> StoreResult<CommitNo> {
        let inner = self.inner.clone();
        let applied = blocking(move || {
            let _place = place;
            large::apply(&inner, write().as_ref(), &conditions, &[], durability)
        });
        applied.await
    }

    /// Reads rows of `table` and counts the reads in `tables`. Large multi-gets need a permit and run on a blocking
    /// thread.
    async fn get_from(
        &self,
        tables: &TableMap,
        source: ReadSource,
        table: TableId,
        keys: &[&[u8]],
    ) -> StoreResult<Vec<Option<Bytes>>> {
        let counters = tables.table(table)?;
        counters.count_reads(keys.len(), keys.iter().copied());
        if keys.len() <= LARGE_MULTI_GET {
            return read::get(&source, keys.iter().copied());
        }
        let _place = self.inner.admission.read().await?;
        let keys: KeyList = keys.iter().copied().collect();
        blocking(move || read::get(&source, keys.iter())).await
    }
}

impl fmt::Debug for FjallStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FjallStore({})", self.inner.folder.path().display())
    }
}

impl Drop for FjallStore {
    fn drop(&mut self) {
        self.inner.mark_closed();
        // Loads may outlive the store.
        self.inner.pipeline.end();
        self.housekeeper.stop();
        if let Err(error) = self.inner.pipeline.group_sync.sync_blocking() {
            tracing::error!(%error, "the last sync failed");
        }
        // Also the batches that no commit waits for: fjall would write them when one of its threads drops the journal,
        // perhaps after the folder is open again.
        if let Err(error) = self.inner.pipeline.group_sync.journal().write_out() {
            tracing::error!(%error, "the last batches could not be written to the journal");
        }
    }
}

#[async_trait]
impl Store for FjallStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
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
        }
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        self.inner.check_open()?;
        thread_use::note();
        let publisher = &self.inner.pipeline.publisher;
        if publisher.published().commit < at_least {
            if publisher.newest().commit < at_least {
                return Err(StoreError::Unsupported { what: "a snapshot of a commit that was never made" });
            }
            self.sync(at_least).await?;
        }
        Ok(self.inner.snapshots.hand_out(publisher.published().clone()))
    }

    fn newest(&self) -> Option<Snapshot> {
        Some(self.inner.snapshots.hand_out(self.inner.pipeline.publisher.newest().clone()))
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        self.inner.check_open()?;
        match at {
            ReadAt::Snapshot(snapshot) => {
                let reading = reading(snapshot)?;
                self.get_from(reading.tables(), reading.source(table, family)?, table, keys).await
            }
            ReadAt::Newest => {
                let newest = self.inner.pipeline.publisher.newest();
                self.get_from(&newest.tables, regions::source(&newest, table, family)?, table, keys).await
            }
        }
    }

    async fn scan(&self, mut request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        self.inner.check_open()?;
        within_limits(&mut request.ranges);
        Ok(Box::new(QueuedScan::new(self.inner.clone(), request, snapshot)?))
    }

    async fn split(
        &self,
        table: TableId,
        family: FamilyId,
        ranges: &[KeyRange],
        pieces: usize,
    ) -> StoreResult<Vec<Vec<KeyRange>>> {
        self.inner.check_open()?;
        regions::split(&self.inner.pipeline.publisher.published(), table, family, ranges, pieces)
    }

    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        self.inner.check_open()?;
        let weight = Weight::of(&batch);
        // A batch that drops tables frees space.
        if !batch.tables.iter().any(|change| matches!(change, TableChange::Drop(_))) {
            self.inner.room.take(weight.bytes)?;
        }
        if batch.tables.is_empty() && weight.is_for_files(&self.inner.options) {
            let admission = &self.inner.admission;
            let _permit = admission.write_large().await?;
            // A commit with few bytes does not wait for a large commit.
            let place = match weight.bytes > self.inner.options.large_commit_bytes {
                true => Some(admission.large().await?),
                false => admission.try_large(),
            };
            if let Some(place) = place {
                let WriteBatch { conditions, mutations, .. } = batch;
                let sorted = || -> Arc<dyn LargeWrite> { Arc::new(SortedRows::new(mutations)) };
                return self.beside_others(place, sorted, conditions, durability).await;
            }
        }
        budget::room(&self.inner, weight.bytes).await?;
        if !weight.is_large() {
            let _pass = self.inner.admission.write().await?;
            let batch = self.inner.pipeline.prepare(batch)?;
            return apply(&self.inner, batch, durability);
        }
        let _permit = self.inner.admission.write_large().await?;
        let inner = self.inner.clone();
        let applied = blocking(move || {
            let batch = inner.pipeline.prepare(batch)?;
            // Takes the gate alone, so that commits wait parked; the commit lock would block their threads.
            let _alone = inner.admission.lock_gate_exclusively();
            apply(&inner, batch, durability)
        });
        applied.await
    }

    async fn apply_large(
        &self,
        write: Arc<dyn LargeWrite>,
        conditions: Vec<Condition>,
        durability: Durability,
    ) -> StoreResult<CommitNo> {
        self.inner.check_open()?;
        self.inner.room.take(usize::try_from(write.bytes()).unwrap_or(usize::MAX))?;
        let _permit = self.inner.admission.write_large().await?;
        let place = self.inner.admission.large().await?;
        self.beside_others(place, move || write, conditions, durability).await
    }

    async fn sync(&self, commit: CommitNo) -> StoreResult<()> {
        if self.inner.pipeline.publisher.newest().commit < commit {
            return Err(StoreError::Unsupported { what: "a sync of a commit that was never made" });
        }
        self.inner.pipeline.group_sync.sync(commit).await
    }

    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        self.inner.check_open()?;
        self.inner.pipeline.read_only.check()?;
        Ok(Box::new(load::Load::new(self.inner.clone(), table, on_duplicate)?))
    }

    async fn regions(&self, table: TableId) -> StoreResult<Vec<RegionInfo>> {
        self.inner.check_open()?;
        regions::list(&self.inner.pipeline.publisher.published(), table)
    }

    async fn estimate(&self, table: TableId, family: FamilyId, ranges: &[KeyRange]) -> StoreResult<TableSize> {
        self.inner.check_open()?;
        let mut ranges = ranges.to_vec();
        within_limits(&mut ranges);
        regions::estimate(&self.inner.pipeline.publisher.published(), table, family, &ranges)
    }

    async fn flush(&self, table: TableId, major: bool) -> StoreResult<()> {
        self.inner.check_open()?;
        let inner = self.inner.clone();
        blocking(move || crate::memtables::flush::table(&inner, table, major)).await
    }

    async fn check(&self) -> StoreResult<CheckReport> {
        self.inner.check_open()?;
        let inner = self.inner.clone();
        blocking(move || crate::check::all(&inner)).await
    }

    fn stats(&self) -> StoreStats {
        stats::collect(&self.inner)
    }

    async fn close(&self) -> StoreResult<()> {
        // A second caller waits until the first is done.
        let _one = self.closing.lock().await;
        if !self.inner.mark_closed() {
            return Ok(());
        }
        self.inner.admission.close();
        let inner = self.inner.clone();
        let outcome = blocking(move || crate::memtables::flush::at_close(&inner)).await;
        self.housekeeper.stop();
        outcome
    }
}

/// Applies a batch and passes the slots and keyspaces of dropped tables to the housekeeper.
fn apply(inner: &Inner, batch: Prepared, durability: Durability) -> StoreResult<CommitNo> {
    let (commit, dropped) = inner.pipeline.apply(batch, durability, &[])?;
    if !dropped.slots.is_empty() || !dropped.keyspaces.is_empty() {
        inner.reclaim.lock().append(dropped);
    }
    Ok(commit)
}

/// The size of a batch.
struct Weight {
    rows: usize,
    items: usize,
    bytes: usize,
}

impl Weight {
    fn of(batch: &WriteBatch) -> Self {
        let bytes = batch.mutations.iter().map(|mutation| match mutation {
            Mutation::Replace { key, fragment, .. } => key.len() + fragment.len(),
            Mutation::Delete { key, .. } => key.len(),
        });
        let rows = batch.mutations.len();
        Self { rows, items: rows + batch.conditions.len(), bytes: bytes.sum() }
    }

    /// Returns true if the batch is too large to be written to the journal and memtables under the commit lock.
    fn is_for_files(&self, options: &Options) -> bool {
        self.bytes > options.large_commit_bytes || self.rows > options.large_commit_rows
    }

    /// Returns true if the batch is too large for a thread of the runtime.
    fn is_large(&self) -> bool {
        self.items > LARGE_BATCH_ITEMS || self.bytes > LARGE_BATCH_BYTES
    }
}

/// Runs work that may wait for the disk on a blocking thread.
///
/// # Errors
/// Those of `work`; an I/O failure when it panicked.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> StoreResult<T> + Send + 'static,
) -> StoreResult<T> {
    joined(task::spawn_blocking(work).await)
}

/// The result of background work.
///
/// # Errors
/// The error of the work; an I/O failure when it panicked.
pub(crate) fn joined<T>(outcome: Result<StoreResult<T>, task::JoinError>) -> StoreResult<T> {
    outcome.map_err(|error| StoreError::Io { action: "background work".into(), reason: error.to_string() })?
}
