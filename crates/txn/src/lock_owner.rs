//! The locks of one transaction.
//!
//! A row lock takes memory. A transaction that has very many in one table takes the table alone instead, if nobody is
//! in its way, and gives the row locks back: every writer of a row holds its table shared, so none can come near.

use crate::lock_table::{Asked, LockKey, LockTarget};
use crate::{LockMode, LockTable, LockWait, Obtained, TxnError, TxnId, TxnResult};
use std::sync::Arc;
use store::{Bytes, TableId};

/// With so many row locks in one table, and again with each so many more, the table is asked for.
const MANY_ROWS: usize = 100_000;

/// Takes locks and keeps them until it is dropped. One transaction waits for one lock at a time.
#[derive(Debug)]
pub struct LockOwner {
    id: TxnId,
    table: Arc<LockTable>,
    held: Vec<LockKey>,
    /// Row locks by table since it was last asked for.
    rows: Vec<(TableId, usize)>,
    /// Tables that are held exclusively: their rows need no locks.
    alone: Vec<TableId>,
}

impl LockOwner {
    /// A new owner without locks.
    pub fn new(table: Arc<LockTable>) -> Self {
        Self { id: table.next_id(), table, held: Vec::new(), rows: Vec::new(), alone: Vec::new() }
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

    /// Locks one row in a mode. The table is held shared.
    ///
    /// # Errors
    /// [`TxnError::Deadlock`], [`TxnError::LockNotAvailable`].
    pub async fn lock_row(
        &mut self,
        table: TableId,
        key: &Bytes,
        mode: LockMode,
        wait: LockWait,
    ) -> TxnResult<Obtained> {
        if self.alone.contains(&table) {
            return Ok(Obtained::Before);
        }
        let key = self.table.key(LockTarget::Row(table, key.clone()));
        let obtained = self.lock(key, mode, wait).await?;
        // Who shares rows does not take their table from all others.
        let writes = mode >= LockMode::NoKeyExclusive;
        if obtained != Obtained::Before && writes && self.count_row(table) >= MANY_ROWS {
            self.escalate(table).await?;
        }
        Ok(obtained)
    }

    /// Locks a table: shared by who writes rows of it, exclusive by who changes it as a whole.
    ///
    /// # Errors
    /// [`TxnError::Deadlock`], [`TxnError::LockNotAvailable`].
    pub async fn lock_table(&mut self, table: TableId, mode: LockMode, wait: LockWait) -> TxnResult<Obtained> {
        let key = self.table.key(LockTarget::Table(table));
        let obtained = self.lock(key, mode, wait).await?;
        if mode == LockMode::Exclusive && !self.alone.contains(&table) {
            self.alone.push(table);
        }
        Ok(obtained)
    }

    /// One row lock more; returns how many there are.
    fn count_row(&mut self, table: TableId) -> usize {
        if !self.rows.iter().any(|(of, _)| *of == table) {
            self.rows.push((table, 0));
        }
        let count = self.rows.iter_mut().find(|(of, _)| *of == table);
        count.map_or(0, |(_, count)| {
            *count += 1;
            *count
        })
    }

    /// Takes the table in place of its rows, unless others write to it.
    async fn escalate(&mut self, table: TableId) -> TxnResult<()> {
        self.rows.retain(|(of, _)| *of != table);
        match self.lock_table(table, LockMode::Exclusive, LockWait::Never).await {
            Ok(_) => {}
            Err(TxnError::LockNotAvailable { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
        let of_table = |key: &mut LockKey| key.is_row_of(table);
        for key in self.held.extract_if(.., of_table) {
            self.table.release(&key, self.id);
        }
        Ok(())
    }

    /// Releases all locks now.
    pub fn release_all(&mut self) {
        for key in self.held.drain(..) {
            self.table.release(&key, self.id);
        }
        self.rows.clear();
        self.alone.clear();
    }

    async fn lock(&mut self, key: LockKey, mode: LockMode, wait: LockWait) -> TxnResult<Obtained> {
        let obtained = match self.table.ask(&key, self.id, mode, wait != LockWait::Never) {
            Asked::Held => return Ok(Obtained::Before),
            Asked::Refused => return Err(TxnError::LockNotAvailable { waited: false }),
            Asked::Granted => Obtained::AtOnce,
            Asked::Queued { upgrade, granted } => {
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
