//! The catalog in memory: who reads takes an `Arc`, who changes waits for a turn.
//!
//! ```text
//!   change(f):  turn ──> Draft of current() ──f──> one WriteBatch ──apply, sync──> swap
//! ```
//! The batch is conditional on the counters row that the last change wrote, so that a second process
//! on the same store cannot write over this one's changes.

use crate::{
    Catalog, CatalogError, CatalogResult, Draft, NewTable, PreparedTable, RowIds, SYSTEM_TABLE, SequenceValues, stored,
};
use arc_swap::ArcSwap;
use std::sync::Arc;
use store::{Clock, CommitNo, Durability, Store, StoreError, SystemClock};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The catalog of one store. One per process and store.
#[derive(Debug)]
pub struct CatalogCache {
    shared: Arc<Shared>,
    row_ids: RowIds,
    sequence_values: SequenceValues,
}

#[derive(Debug)]
struct Shared {
    store: Arc<dyn Store>,
    current: ArcSwap<Catalog>,
    /// Whose turn it is to change the catalog, and the commit that wrote the counters row last.
    /// An async lock: it is held across the store's apply and sync.
    turn: Arc<Mutex<CommitNo>>,
}

impl CatalogCache {
    /// Reads the catalog of `store`; makes one in a store that has none.
    ///
    /// # Errors
    /// [`CatalogError::NewerFormat`], [`CatalogError::Corrupted`], [`CatalogError::Store`].
    pub async fn open(store: Arc<dyn Store>) -> CatalogResult<Arc<Self>> {
        Self::open_with_clock(store, Arc::new(SystemClock)).await
    }

    /// As [`Self::open`], with the clock that hidden row ids are made from.
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
            turn: Arc::new(Mutex::new(loaded.commit)),
        });
        let sequence_values = SequenceValues::new(Arc::clone(&store), loaded.sequence_values);
        let row_ids = RowIds::new(store, clock, loaded.row_id_mark);
        let cache = Arc::new(Self { shared, row_ids, sequence_values });
        cache.change(Draft::drop_staged).await?;
        Ok(cache)
    }

    /// The newest version. It never changes: a statement takes it once.
    pub fn current(&self) -> Arc<Catalog> {
        self.shared.current.load_full()
    }

    /// Version of [`Self::current`], without taking it: is a plan still good?
    pub fn version(&self) -> u64 {
        self.shared.current.load().version()
    }

    /// Makes hidden row ids.
    pub fn row_ids(&self) -> &RowIds {
        &self.row_ids
    }

    /// Hands out values of sequences.
    pub fn sequence_values(&self) -> &SequenceValues {
        &self.sequence_values
    }

    /// Changes the catalog: `f` makes the next version, which becomes durable as a whole and is seen
    /// by others when this returns. After an error of `f` nothing has changed. An `f` that changes
    /// nothing writes nothing. Runs to its end even when the caller stops waiting.
    ///
    /// # Errors
    /// What `f` says; [`CatalogError::ChangedElsewhere`]; [`CatalogError::Store`].
    pub async fn change<T>(&self, f: impl FnOnce(&mut Draft) -> CatalogResult<T>) -> CatalogResult<T> {
        let turn = Arc::clone(&self.shared.turn).lock_owned().await;
        let mut draft = Draft::new(&self.current());
        let answer = f(&mut draft)?;
        if draft.changes_something() {
            // A task of its own: dropped half-way, the cache would not know what the store has.
            let commit = tokio::spawn(Arc::clone(&self.shared).commit(draft, turn));
            commit.await.map_err(|error| CatalogError::Aborted { reason: error.to_string() })??;
        }
        Ok(answer)
    }

    /// The first half of CREATE TABLE AS, durable: see [`PreparedTable`].
    ///
    /// # Errors
    /// As [`Draft::prepare_table`] and [`Self::change`].
    pub async fn prepare_table(&self, new: NewTable) -> CatalogResult<PreparedTable> {
        self.change(|draft| draft.prepare_table(new)).await
    }
}

impl Shared {
    async fn commit(self: Arc<Self>, draft: Draft, mut turn: OwnedMutexGuard<CommitNo>) -> CatalogResult<()> {
        let (next, batch) = draft.finish(*turn)?;
        let commit = match self.store.apply(batch, Durability::Sync).await {
            Ok(commit) => commit,
            Err(error) => return Err(self.refused(error, &mut turn).await),
        };
        *turn = commit;
        self.store.sync(commit).await?;
        self.current.store(Arc::new(next));
        Ok(())
    }

    /// The store refused a change. If another process changed the catalog since this one read it, loads
    /// what that made, so that the statement can be run again.
    async fn refused(&self, error: StoreError, turn: &mut CommitNo) -> CatalogError {
        // Ids that the other process took show as tables that exist or do not, before conditions are checked.
        let may_be_outdated = match &error {
            StoreError::ConditionFailed { table, .. } => *table == SYSTEM_TABLE,
            StoreError::TableExists { .. } | StoreError::NoSuchTable { .. } => true,
            _ => false,
        };
        if !may_be_outdated {
            return error.into();
        }
        match stored::load(self.store.as_ref()).await {
            Ok(Some(loaded)) if loaded.commit != *turn => {
                *turn = loaded.commit;
                self.current.store(Arc::new(loaded.catalog));
                CatalogError::ChangedElsewhere
            }
            Ok(_) => error.into(),
            Err(error) => error,
        }
    }
}
