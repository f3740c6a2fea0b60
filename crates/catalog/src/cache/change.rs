//! Catalog changes: serialized, and each is durable before it becomes visible.

use super::CatalogCache;
use crate::stored::Change;
use crate::{Catalog, CatalogError, CatalogResult, Draft, NewTable, PreparedTable, SYSTEM_TABLE, intent, stored};
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{CommitNo, Durability, Store, StoreError};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The right to change the catalog, held by one task at a time.
#[derive(Debug)]
pub struct Turn(OwnedMutexGuard<CommitNo>);

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Arc<dyn Store>,
    pub(super) current: ArcSwap<Catalog>,
    /// Set while a change is being written to the store and is not in `current` yet.
    pub(super) committing: AtomicBool,
    /// Serializes catalog changes and holds the commit number of the last write of the counters row. An async lock: it
    /// is held across the store's apply and sync.
    pub(super) turn: Arc<Mutex<CommitNo>>,
}

impl CatalogCache {
    /// Changes the catalog: `f` edits a draft of the next version, which becomes durable as a whole and is visible to
    /// others when this returns. If `f` fails, nothing changes. If `f` changes nothing, nothing is written. The commit
    /// runs to its end even if the caller is cancelled.
    ///
    /// # Errors
    /// Errors of `f`; [`CatalogError::ChangedElsewhere`]; [`CatalogError::Store`].
    pub async fn change<T>(&self, f: impl FnOnce(&mut Draft) -> CatalogResult<T>) -> CatalogResult<T> {
        self.change_in(self.turn().await, f).await
    }

    /// Waits for the turn to change the catalog. Changes nothing, so the caller may be cancelled.
    pub async fn turn(&self) -> Turn {
        Turn(Arc::clone(&self.shared.turn).lock_owned().await)
    }

    /// As [`Self::change`], for a caller that already holds the turn.
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
            // A task of its own: if it were cancelled half-way, the cache would not know what the store contains. On a
            // blocking thread: with thousands of storages the store is busy for long, and the caller's thread may serve
            // other sessions.
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
        if !stored::supports_atomic_changes(self.store.as_ref()) {
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
            // The change was made, and another process made a later one.
            Ok(_) => self.follow(turn).await,
            Err(error) => {
                // An undone change uses up its version, too.
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

    /// Publishes `next` as the current version.
    fn replace(&self, next: Catalog) {
        self.current.store(Arc::new(next));
    }

    /// Handles a change that the store refused. If another process changed the catalog since this process read it,
    /// loads the newest version, so that the statement can be retried.
    async fn refused(&self, error: StoreError, turn: &mut CommitNo) -> CatalogError {
        // Ids that the other process took lead to TableExists or NoSuchTable before conditions are checked.
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

/// Sets the flag while a change is committed.
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
