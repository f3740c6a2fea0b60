//! The locks of one transaction.
//!
//! A row lock takes memory. A transaction with very many row locks in one table escalates to an exclusive table lock,
//! if no other transaction has a lock on the table, and releases the row locks: every writer of a row holds its table
//! shared, so none can conflict. Only row locks since the last savepoint are released: a rollback to the savepoint
//! releases the table lock, and then older row locks are needed.

use crate::lock_table::{Asked, LockKey, LockTarget};
use crate::{LockMode, LockTable, LockWait, Obtained, TxnError, TxnId, TxnResult};
use std::sync::Arc;
use store::{Bytes, TableId};

/// With this number of row locks in one table, and with each further multiple of it, escalation is attempted.
const MANY_ROWS: usize = 100_000;

/// Acquires locks and holds them until it is dropped. One transaction waits for one lock at a time.
#[derive(Debug)]
pub struct LockOwner {
    id: TxnId,
    table: Arc<LockTable>,
    /// In order of acquisition. A rollback releases the locks after a position and restores the previous modes.
    held: Vec<Held>,
    /// The number of locks held at the last savepoint; `None` without a savepoint.
    savepoint: Option<usize>,
    /// Row locks by table since the last escalation attempt.
    rows: Vec<(TableId, usize)>,
    /// Tables that are locked exclusively: their rows need no locks.
    alone: Vec<TableId>,
}

/// A lock that was acquired, or upgraded since a savepoint.
#[derive(Debug)]
struct Held {
    key: LockKey,
    /// The mode before, if it was upgraded.
    former: Option<LockMode>,
}

impl Held {
    fn is_row_of(&self, table: TableId) -> bool {
        matches!(self.key.target(), LockTarget::Row(of, _) if *of == table)
    }
}

impl LockOwner {
    /// A new owner without locks.
    pub fn new(table: Arc<LockTable>) -> Self {
        let (id, held, rows, alone) = (table.next_id(), Vec::new(), Vec::new(), Vec::new());
        Self { id, table, held, savepoint: None, rows, alone }
    }

    /// Its id.
    pub fn id(&self) -> TxnId {
        self.id
    }

    /// Number of locks held. An upgrade since a savepoint counts again.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether no locks are held.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Locks one row. The caller holds the table lock in shared mode.
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
        // Shared row locks do not escalate, because an exclusive table lock would block other readers.
        let writes = mode >= LockMode::NoKeyExclusive;
        if obtained != Obtained::Before && writes && self.count_row(table) >= MANY_ROWS {
            self.escalate(table).await?;
        }
        Ok(obtained)
    }

    /// Locks a table: in shared mode to write rows, in exclusive mode to change the whole table.
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

    /// Increments the number of row locks of a table and returns it.
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

    /// Decrements the number of row locks of a table.
    fn uncount_row(&mut self, table: TableId) {
        if let Some((_, count)) = self.rows.iter_mut().find(|(of, _)| *of == table) {
            *count = count.saturating_sub(1);
        }
    }

    /// Replaces row locks by the table lock, unless others hold a lock on the table.
    async fn escalate(&mut self, table: TableId) -> TxnResult<()> {
        self.rows.retain(|(of, _)| *of != table);
        match self.lock_table(table, LockMode::Exclusive, LockWait::Never).await {
            Ok(_) => {}
            Err(TxnError::LockNotAvailable { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
        let since = self.savepoint.unwrap_or(0);
        for Held { key, former } in self.held.extract_if(since.., |held| held.is_row_of(table)) {
            self.table.lower(&key, self.id, former);
        }
        Ok(())
    }

    /// Sets a savepoint and returns its position.
    pub(crate) fn savepoint(&mut self) -> usize {
        *self.savepoint.insert(self.held.len())
    }

    /// Clears the savepoint.
    pub(crate) fn release_savepoints(&mut self) {
        self.savepoint = None;
    }

    /// Releases the locks acquired after a savepoint. Returns the tables that are not locked any more.
    pub(crate) fn rollback_to(&mut self, savepoint: usize) -> Vec<TableId> {
        self.savepoint = Some(savepoint);
        let mut free = Vec::new();
        while self.held.len() > savepoint {
            let Some(Held { key, former }) = self.held.pop() else { break };
            match key.target() {
                LockTarget::Table(table) => {
                    self.alone.retain(|alone| alone != table);
                    free.extend(former.is_none().then_some(*table));
                }
                LockTarget::Row(table, _) if former.is_none() => self.uncount_row(*table),
                _ => {}
            }
            self.table.lower(&key, self.id, former);
        }
        free
    }

    /// Releases all locks.
    pub fn release_all(&mut self) {
        self.rollback_to(0);
        self.savepoint = None;
        self.rows.clear();
    }

    async fn lock(&mut self, key: LockKey, mode: LockMode, wait: LockWait) -> TxnResult<Obtained> {
        let (obtained, former) = match self.table.ask(&key, self.id, mode, wait != LockWait::Never) {
            Asked::Held => return Ok(Obtained::Before),
            Asked::Refused => return Err(TxnError::LockNotAvailable { waited: false }),
            Asked::Granted => (Obtained::AtOnce, None),
            Asked::Raised(former) => (Obtained::Before, Some(former)),
            Asked::Queued { former, granted } => {
                self.table.wait(&key, self.id, granted, former, wait).await?;
                (Obtained::AfterWait, former)
            }
        };
        if former.is_none() || self.savepoint.is_some() {
            self.held.push(Held { key, former });
        }
        Ok(obtained)
    }
}

impl Drop for LockOwner {
    fn drop(&mut self) {
        self.release_all();
    }
}
