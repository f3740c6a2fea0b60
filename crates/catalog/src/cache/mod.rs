//! The catalog in memory: readers take an `Arc`, writers wait for a turn.
//!
//! ```text
//!   change(f):  turn ──> Draft of current() ──f──> one WriteBatch ──apply, sync──> swap
//! ```
//! The batch is conditional on the counters row of the last change, so that a second process on the same store cannot
//! overwrite this process's changes. On a store that cannot apply a change and its tables as one atomic batch, the
//! change is a logged intent (`intent.rs`).
//!
//! On a store that other processes write to, [`CatalogCache::follow`] reads the counters row before a statement, at
//! most once per [`FOLLOW`], and [`CatalogCache::check_epochs`] reads it before a commit.

mod change;

pub use change::Turn;

use crate::{
    Catalog, CatalogError, CatalogResult, Draft, JobRecord, RowIds, SequenceValues, TableOid, TableStatistics, job,
    statistics, stored,
};
use arc_swap::ArcSwap;
use change::Shared;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;
use store::{Clock, CommitNo, Durability, Snapshot, Store, SystemClock, TableId};
use tokio::sync::{Mutex, MutexGuard};

/// How long a statement may use a catalog that another process has changed. A commit never does.
pub const FOLLOW: Duration = Duration::from_millis(100);

/// The catalog of one store. One per process and store.
#[derive(Debug)]
pub struct CatalogCache {
    shared: Arc<Shared>,
    row_ids: RowIds,
    sequence_values: SequenceValues,
    /// Jobs that the store held when it was opened.
    found_jobs: Vec<JobRecord>,
    clock: Arc<dyn Clock>,
    /// When the counters row was last read, in microseconds since 1970.
    followed: AtomicI64,
}

impl CatalogCache {
    /// Reads the catalog of `store`; creates one in an empty store.
    ///
    /// # Errors
    /// [`CatalogError::NewerFormat`], [`CatalogError::Corrupted`], [`CatalogError::Store`].
    pub async fn open(store: Arc<dyn Store>) -> CatalogResult<Arc<Self>> {
        Self::open_with_clock(store, Arc::new(SystemClock)).await
    }

    /// As [`Self::open`], with the clock for hidden row ids.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_with_clock(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> CatalogResult<Arc<Self>> {
        let loaded = match stored::load(store.as_ref()).await? {
            Some(loaded) => loaded,
            None => stored::bootstrap(store.as_ref()).await?,
        };
        let shared = Arc::new(Shared {
            store: Arc::clone(&store),
            current: ArcSwap::from_pointee(loaded.catalog),
            committing: AtomicBool::new(false),
            turn: Arc::new(Mutex::new(loaded.commit)),
        });
        let sequence_values = SequenceValues::new(Arc::clone(&store), loaded.sequence_values);
        let exclusive = store.capabilities().exclusive;
        let row_ids = RowIds::new(store, Arc::clone(&clock), &loaded.row_id_marks);
        let followed = AtomicI64::new(clock.micros());
        let found_jobs = loaded.jobs;
        let cache = Arc::new(Self { shared, row_ids, sequence_values, found_jobs, clock, followed });
        // On a shared store another process may be loading into the staged storages.
        if exclusive {
            cache.change(Draft::drop_staged).await?;
        }
        Ok(cache)
    }

    /// The jobs that the store held when it was opened, by number.
    pub fn found_jobs(&self) -> &[JobRecord] {
        &self.found_jobs
    }

    /// Replaces the record of a job.
    ///
    /// # Errors
    /// [`CatalogError::Store`].
    pub async fn write_job(&self, job: &JobRecord, durability: Durability) -> CatalogResult<()> {
        job::write(self.shared.store.as_ref(), job, durability).await
    }

    /// Deletes the record of a job.
    ///
    /// # Errors
    /// As [`Self::write_job`].
    pub async fn forget_job(&self, id: u32) -> CatalogResult<()> {
        job::forget(self.shared.store.as_ref(), id).await
    }

    /// Replaces the statistics of a table. `changed` is the value of [`crate::Live::changed`] when the rows were
    /// sampled. Returns false if the table is gone.
    ///
    /// # Errors
    /// [`CatalogError::Store`].
    pub async fn write_statistics(
        &self,
        table: TableOid,
        statistics: TableStatistics,
        changed: u64,
    ) -> CatalogResult<bool> {
        // The turn keeps the table from being dropped meanwhile.
        let _turn = self.turn().await;
        let Some(table) = self.current().table_by_oid(table).cloned() else { return Ok(false) };
        statistics::write(self.shared.store.as_ref(), table.oid, &statistics).await?;
        table.live.set(statistics, changed);
        Ok(true)
    }

    /// The newest version. It is immutable: a statement takes it once. A store snapshot taken afterwards has its
    /// tables, except those dropped since.
    pub fn current(&self) -> Arc<Catalog> {
        self.shared.current.load_full()
    }

    /// Version of [`Self::current`], without cloning the `Arc`: checks whether a cached plan is still valid.
    pub fn version(&self) -> u64 {
        self.shared.current.load().version()
    }

    /// Loads catalog changes of other processes on a shared store: at most once per [`FOLLOW`].
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn follow(&self) -> CatalogResult<()> {
        if self.shared.store.capabilities().exclusive {
            return Ok(());
        }
        if !self.is_follow_due() {
            return Ok(());
        }
        let turn = self.shared.turn.lock().await;
        // Another statement may have followed while this one waited for the turn.
        if self.is_follow_due() { Box::pin(self.look(turn)).await } else { Ok(()) }
    }

    /// As [`Self::follow`], regardless of when the counters row was last read.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn follow_now(&self) -> CatalogResult<()> {
        if self.shared.store.capabilities().exclusive {
            return Ok(());
        }
        self.look(self.shared.turn.lock().await).await
    }

    fn is_follow_due(&self) -> bool {
        let (now, last) = (self.clock.micros(), self.followed.load(Ordering::Relaxed));
        now < last || now - last >= i64::try_from(FOLLOW.as_micros()).unwrap_or(i64::MAX)
    }

    /// Records the time at which the read began: a caller that arrives during the read waits for it.
    async fn look(&self, mut turn: MutexGuard<'_, CommitNo>) -> CatalogResult<()> {
        let began = self.clock.micros();
        self.shared.follow(&mut turn).await?;
        self.followed.store(began, Ordering::Relaxed);
        Ok(())
    }

    /// Checks before a commit that the tables of its rows have not changed. `tables` maps a storage to the catalog
    /// version in which its table last changed. Only a shared store is read for it.
    ///
    /// # Errors
    /// [`CatalogError::ChangedElsewhere`] when a table has changed or is gone; [`CatalogError::Store`].
    pub async fn check_epochs(&self, tables: &BTreeMap<TableId, u64>) -> CatalogResult<()> {
        if tables.is_empty() || self.shared.store.capabilities().exclusive {
            return Ok(());
        }
        Box::pin(self.follow_now()).await?;
        let catalog = self.current();
        let unchanged = |(storage, epoch): (&TableId, &u64)| {
            let staged = catalog.staged.contains(&storage.0);
            staged || catalog.tables().any(|table| table.storage == storage.0 && table.version == *epoch)
        };
        if tables.iter().all(unchanged) { Ok(()) } else { Err(CatalogError::ChangedElsewhere) }
    }

    /// Waits until [`Self::current`] has every change of this process that a snapshot taken before this call can hold.
    pub async fn wait_for_pending_change(&self) {
        if self.shared.committing.load(Ordering::Acquire) {
            // The committing task holds the turn.
            drop(self.shared.turn.lock().await);
        }
    }

    /// As [`Self::wait_for_pending_change`], but does not wait for a change that is not in the snapshot.
    ///
    /// # Errors
    /// [`CatalogError::Store`], [`CatalogError::Corrupted`].
    pub async fn wait_for_changes_in(&self, snapshot: &Snapshot) -> CatalogResult<()> {
        if !self.shared.committing.load(Ordering::Acquire) {
            return Ok(());
        }
        let store = self.shared.store.as_ref();
        if stored::supports_atomic_changes(store) && stored::version_at(store, snapshot).await? <= self.version() {
            return Ok(());
        }
        self.wait_for_pending_change().await;
        Ok(())
    }

    /// The version that a snapshot of the whole store holds.
    ///
    /// # Errors
    /// As [`Self::wait_for_changes_in`].
    pub async fn version_in(&self, snapshot: &Snapshot) -> CatalogResult<u64> {
        stored::version_at(self.shared.store.as_ref(), snapshot).await
    }

    /// Tables whose rows the snapshot does not have: created or rewritten since it was taken.
    ///
    /// # Errors
    /// As [`Self::wait_for_changes_in`].
    pub async fn rewritten_since(&self, snapshot: &Snapshot) -> CatalogResult<BTreeMap<TableId, String>> {
        let then = stored::storages_at(self.shared.store.as_ref(), snapshot).await?;
        let current = self.current();
        let tables = current.tables().filter(|table| !then.contains(&table.storage_id()));
        Ok(tables.map(|table| (table.storage_id(), table.name.clone())).collect())
    }

    /// The source of hidden row ids.
    pub fn row_ids(&self) -> &RowIds {
        &self.row_ids
    }

    /// The source of sequence values.
    pub fn sequence_values(&self) -> &SequenceValues {
        &self.sequence_values
    }
}
