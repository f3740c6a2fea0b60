//! The locks of one transaction.
//!
//! A row lock takes memory. A transaction that has very many in one table takes the table alone instead, if nobody is
//! in its way, and gives the row locks back: every writer of a row holds its table shared, so none can come near. Only those
//! since its last savepoint: the table is given back with them when it goes back there, and older locks are needed then.

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
    /// In the order of taking. What comes after a point can be given back, and the rest is as it was then.
    held: Vec<Held>,
    /// How many were held at the last savepoint; `None`: there is none.
    savepoint: Option<usize>,
    /// Row locks by table since it was last asked for.
    rows: Vec<(TableId, usize)>,
    /// Tables that are held exclusively: their rows need no locks.
    alone: Vec<TableId>,
}

/// A lock that was taken, or made stronger since a savepoint.
#[derive(Debug)]
struct Held {
    key: LockKey,
    /// The mode in which it was held before.
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

    /// Locks held. One that was made stronger since a savepoint counts once more.
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

    /// One row lock less.
    fn uncount_row(&mut self, table: TableId) {
        if let Some((_, count)) = self.rows.iter_mut().find(|(of, _)| *of == table) {
            *count = count.saturating_sub(1);
        }
    }

    /// Takes the table in place of its rows, unless others write to it.
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

    /// A point to go back to.
    pub(crate) fn savepoint(&mut self) -> usize {
        *self.savepoint.insert(self.held.len())
    }

    /// There is no savepoint any more.
    pub(crate) fn release_savepoints(&mut self) {
        self.savepoint = None;
    }

    /// Gives back what was taken after a savepoint. Returns the tables that are not locked any more.
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

    /// Releases all locks now.
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
