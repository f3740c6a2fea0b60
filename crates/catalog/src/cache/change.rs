//! Changes of the catalog: one at a time, each durable before anybody sees it.

use super::CatalogCache;
use crate::stored::Change;
use crate::{Catalog, CatalogError, CatalogResult, Draft, NewTable, PreparedTable, SYSTEM_TABLE, intent, stored};
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{CommitNo, Durability, Store, StoreError};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The turn to change the catalog.
#[derive(Debug)]
pub struct Turn(OwnedMutexGuard<CommitNo>);

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Arc<dyn Store>,
    pub(super) current: ArcSwap<Catalog>,
    /// Is a change on its way into the store, and not in `current` yet?
    pub(super) committing: AtomicBool,
    /// Whose turn it is to change the catalog, and the commit that wrote the counters row last.
    /// An async lock: it is held across the store's apply and sync.
    pub(super) turn: Arc<Mutex<CommitNo>>,
}

impl CatalogCache {
    /// Changes the catalog: `f` makes the next version, which becomes durable as a whole and is seen
    /// by others when this returns. After an error of `f` nothing has changed. An `f` that changes
    /// nothing writes nothing. Runs to its end even when the caller stops waiting.
    ///
    /// # Errors
    /// What `f` says; [`CatalogError::ChangedElsewhere`]; [`CatalogError::Store`].
    pub async fn change<T>(&self, f: impl FnOnce(&mut Draft) -> CatalogResult<T>) -> CatalogResult<T> {
        self.change_in(self.turn().await, f).await
    }

    /// Waits for the turn to change the catalog. Nothing is done yet: the caller may stop waiting.
    pub async fn turn(&self) -> Turn {
        Turn(Arc::clone(&self.shared.turn).lock_owned().await)
    }

    /// As [`Self::change`], by whom has the turn.
    ///
    /// # Errors
    /// As [`Self::change`].
    pub async fn change_in<T>(
        &self,
        Turn(turn): Turn,
        f: impl FnOnce(&mut Draft) -> CatalogResult<T>,
    ) -> CatalogResult<T> {
        let mut draft = Draft::new(&self.current());
        let answer = f(&mut draft)?;
        if draft.changes_something() {
            let commit = Arc::clone(&self.shared).commit(draft.finish()?, turn);
            // A task of its own: dropped half-way, the cache would not know what the store has. And on a thread of its
            // own: thousands of storages keep the store busy, and the caller's thread may serve others.
            let runtime = Handle::current();
            let commit = tokio::task::spawn_blocking(move || runtime.block_on(commit));
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
    async fn commit(self: Arc<Self>, change: Change, mut turn: OwnedMutexGuard<CommitNo>) -> CatalogResult<()> {
        let _committing = Committing::begin(&self.committing);
        if !stored::changes_in_one_batch(self.store.as_ref()) {
            return self.commit_in_steps(change, &mut turn).await;
        }
        let commit = match self.store.apply(change.batch(*turn)?, Durability::Sync).await {
            Ok(commit) => commit,
            Err(error) => return Err(self.refused(error, &mut turn).await),
        };
        *turn = commit;
        self.store.sync(commit).await?;
        self.replace(change.catalog);
        Ok(())
    }

    async fn commit_in_steps(&self, change: Change, turn: &mut CommitNo) -> CatalogResult<()> {
        match intent::commit(self.store.as_ref(), &change, *turn).await {
            Ok(made) if made.counters.version == change.catalog.version => {
                *turn = made.commit;
                self.replace(change.catalog);
                Ok(())
            }
            // It was made, and another one after it.
            Ok(_) => self.follow(turn).await,
            Err(error) => {
                // Also an undone change uses its version up.
                self.follow(turn).await?;
                match error {
                    CatalogError::Store(StoreError::ConditionFailed { table: SYSTEM_TABLE, .. }) => {
                        Err(CatalogError::ChangedElsewhere)
                    }
                    error => Err(error),
                }
            }
        }
    }

    /// Reads the catalog again if another process has changed it since commit `turn`.
    pub(super) async fn follow(&self, turn: &mut CommitNo) -> CatalogResult<()> {
        let newest = stored::read_counters(self.store.as_ref()).await?;
        if newest.is_none_or(|newest| newest.commit == *turn) {
            return Ok(());
        }
        if let Some(loaded) = stored::load(self.store.as_ref()).await? {
            *turn = loaded.commit;
            self.replace(loaded.catalog);
        }
        Ok(())
    }

    /// Called when the change is published.
    fn replace(&self, next: Catalog) {
        self.current.store(Arc::new(next));
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
                self.replace(loaded.catalog);
                CatalogError::ChangedElsewhere
            }
            Ok(_) => error.into(),
            Err(error) => error,
        }
    }
}

/// Set while a change is on its way.
struct Committing<'a>(&'a AtomicBool);

impl<'a> Committing<'a> {
    fn begin(flag: &'a AtomicBool) -> Self {
        flag.store(true, Ordering::SeqCst);
        Self(flag)
    }
}

impl Drop for Committing<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}
