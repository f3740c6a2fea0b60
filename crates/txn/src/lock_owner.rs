//! The locks of one transaction.

use crate::lock_table::{Asked, LockKey};
use crate::{LockMode, LockTable, LockWait, Obtained, TxnError, TxnId, TxnResult};
use std::sync::Arc;
use store::{Bytes, TableId};

/// Takes locks and keeps them until it is dropped. One transaction waits for one lock at a time.
#[derive(Debug)]
pub struct LockOwner {
    id: TxnId,
    table: Arc<LockTable>,
    held: Vec<LockKey>,
}

impl LockOwner {
    /// A new owner without locks.
    pub fn new(table: Arc<LockTable>) -> Self {
        Self { id: table.next_id(), table, held: Vec::new() }
    }

    /// Its id.
    pub fn id(&self) -> TxnId {
        self.id
    }

    /// Locks held.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// None held?
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Locks one row against other writers.
    ///
    /// # Errors
    /// [`TxnError::Deadlock`], [`TxnError::LockNotAvailable`].
    pub async fn lock_row(&mut self, table: TableId, key: &Bytes, wait: LockWait) -> TxnResult<Obtained> {
        let key = self.table.key(table, Some(key));
        self.lock(key, LockMode::Exclusive, wait).await
    }

    /// Locks a table: shared by who writes rows of it, exclusive by who changes it as a whole.
    ///
    /// # Errors
    /// [`TxnError::Deadlock`], [`TxnError::LockNotAvailable`].
    pub async fn lock_table(&mut self, table: TableId, mode: LockMode, wait: LockWait) -> TxnResult<Obtained> {
        let key = self.table.key(table, None);
        self.lock(key, mode, wait).await
    }

    /// Releases all locks now.
    pub fn release_all(&mut self) {
        for key in self.held.drain(..) {
            self.table.release(&key, self.id);
        }
    }

    async fn lock(&mut self, key: LockKey, mode: LockMode, wait: LockWait) -> TxnResult<Obtained> {
        let obtained = match self.table.ask(&key, self.id, mode, wait != LockWait::Never) {
            Asked::Held => return Ok(Obtained::Before),
            Asked::Refused => return Err(TxnError::LockNotAvailable { waited: false }),
            Asked::Granted => Obtained::AtOnce,
            Asked::Queued(granted) => {
                // A linear search, but only before a wait and only for table locks, which are few.
                let upgrade = key.is_table() && self.held.contains(&key);
                self.table.wait(&key, self.id, granted, upgrade, wait).await?;
                if upgrade {
                    return Ok(Obtained::AfterWait);
                }
                Obtained::AfterWait
            }
        };
        self.held.push(key);
        Ok(obtained)
    }
}

impl Drop for LockOwner {
    fn drop(&mut self) {
        self.release_all();
    }
}
