//! One transaction: its writes so far, its locks, its end.

mod aside;
mod newest;
mod room;
mod savepoints;

pub use aside::{Aside, AsideRows};

use crate::commit::{self, Committed, Conditions};
use crate::writes::{Prefixes, SpillFile, UndoLog, WriteSet, Written};
use crate::{LockMode, LockOwner, LockTable, LockWait, ReadView, TxnId, TxnResult};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use store::{Bytes, CommitNo, Condition, Durability, FamilyId, PointRead, Snapshot, Store, StoreResult, TableId};

/// How a transaction behaves.
#[derive(Clone, Copy, Debug)]
pub struct TransactionOptions {
    /// Most memory that its writes may hold. Beyond it they go to files, or are refused where there is no folder for them.
    pub max_write_bytes: usize,
    /// What [`Transaction::begin_statement`] must see: the session's own last commit.
    pub at_least: CommitNo,
}

impl Default for TransactionOptions {
    fn default() -> Self {
        Self { max_write_bytes: 256 << 20, at_least: CommitNo(0) }
    }
}

/// Where a transaction gets the memory of its writes from.
pub trait WriteMemory: std::fmt::Debug + Send + Sync {
    /// Holds so many bytes from now on, instead of what it held. False: there are not so many.
    fn hold(&self, bytes: usize) -> bool;

    /// The folder for files of writes that memory has no room for.
    fn spill_folder(&self) -> Option<&Path> {
        None
    }
}

/// A transaction under way, of one statement (autocommit) or of a block. Dropping it rolls it back.
#[derive(Debug)]
pub struct Transaction {
    store: Arc<dyn Store>,
    locks: LockOwner,
    options: TransactionOptions,
    /// What the statements before wrote: shared with their views, so it is only changed between statements.
    before: Arc<WriteSet>,
    /// What the present statement has written.
    statement: WriteSet,
    /// Rows that the present statement writes at its end.
    aside: WriteSet,
    /// Of what it has put with [`Self::put_with_prefix`].
    prefixes: Prefixes,
    conditions: Vec<Condition>,
    /// The stamps of rows that it has read to build on them; `None` where locks are enough.
    stamps: Option<Stamps>,
    /// Of the tables that it writes to: the catalog version in which each had changed last.
    epochs: BTreeMap<TableId, u64>,
    undo: UndoLog,
    reads: Reads,
    /// Where its writes' memory comes from, and how much it has.
    memory: Option<Arc<dyn WriteMemory>>,
    granted: usize,
    /// Where writes of statements that are over go, and those of the present statement: its file goes with it.
    file: Option<Arc<SpillFile>>,
    statement_file: Option<Arc<SpillFile>>,
}

/// The stamp that a row carried when it was read; `None`: it was not there.
pub(crate) type Stamps = BTreeMap<(TableId, FamilyId, Bytes), Option<CommitNo>>;

/// Which state statements read.
#[derive(Debug, Default)]
enum Reads {
    /// Each its own: READ COMMITTED.
    #[default]
    Newest,
    /// All that of the first one: REPEATABLE READ.
    First(Option<Snapshot>),
}

impl Transaction {
    /// Begins one. `locks` is the one table of the store's process.
    pub fn begin(store: Arc<dyn Store>, locks: &Arc<LockTable>, options: TransactionOptions) -> Self {
        let can = store.capabilities();
        // Where others write as well, or a batch is not one step, a lock of this process keeps nobody out.
        let stamps = (!can.exclusive || !can.atomic_batches()).then(Stamps::new);
        Self {
            stamps,
            epochs: BTreeMap::new(),
            store,
            locks: LockOwner::new(Arc::clone(locks)),
            options,
            before: Arc::default(),
            statement: WriteSet::default(),
            aside: WriteSet::default(),
            prefixes: Prefixes::default(),
            conditions: Vec::new(),
            undo: UndoLog::default(),
            reads: Reads::default(),
            memory: None,
            granted: 0,
            file: None,
            statement_file: None,
        }
    }

    /// Has its writes held by `memory`, which is dropped when the store has taken them over.
    pub fn hold_writes_by(&mut self, memory: Arc<dyn WriteMemory>) {
        self.memory = Some(memory);
    }

    /// Its id: of its locks, not of its commit.
    pub fn id(&self) -> TxnId {
        self.locks.id()
    }

    /// Begins a statement: a new snapshot, over it what the statements before wrote.
    ///
    /// # Errors
    /// As [`Store::snapshot`] and [`Self::end_statement`].
    pub async fn begin_statement(&mut self) -> StoreResult<ReadView> {
        self.end_statement()?;
        let snapshot = match &self.reads {
            Reads::First(Some(snapshot)) => snapshot.clone(),
            _ => self.store.snapshot(self.options.at_least).await?,
        };
        if let Reads::First(first) = &mut self.reads {
            *first = Some(snapshot.clone());
        }
        Ok(ReadView::with_overlay(Arc::clone(&self.store), snapshot, &self.before))
    }

    /// From now on all statements read one state, that of the first of them, or each its own. Writers still lock
    /// and read the newest state of a row: who repeats reads must not write.
    pub fn repeat_reads(&mut self, repeat: bool) {
        self.reads = if repeat { Reads::First(None) } else { Reads::Newest };
    }

    /// From now on all statements read this state; who does so must not write, either.
    pub fn read_at(&mut self, snapshot: Snapshot) {
        self.reads = Reads::First(Some(snapshot));
    }

    /// Lets the next statement see what this one wrote. [`Self::begin_statement`] and [`Self::commit`] do it.
    ///
    /// # Errors
    /// I/O failures, of a transaction with a savepoint whose writes went to files; it can only be rolled back then.
    pub fn end_statement(&mut self) -> StoreResult<()> {
        if self.statement.is_empty() {
            return Ok(());
        }
        let before = Arc::make_mut(&mut self.before);
        if self.undo.is_kept() {
            self.undo.absorb(before, &mut self.statement)?;
        } else {
            before.absorb(&mut self.statement);
        }
        self.statement_file = None;
        Ok(())
    }

    /// The locks, to take more.
    pub fn locks(&mut self) -> &mut LockOwner {
        &mut self.locks
    }

    /// Locks a row until the transaction ends or goes back to a savepoint. Says whether it had to wait: then the row may have
    /// changed, and what the statement's view says of it is old.
    ///
    /// # Errors
    /// [`crate::TxnError::Deadlock`], [`crate::TxnError::LockNotAvailable`].
    pub async fn lock_row(
        &mut self,
        table: TableId,
        key: &Bytes,
        mode: LockMode,
        wait: LockWait,
    ) -> TxnResult<crate::Obtained> {
        self.locks.lock_row(table, key, mode, wait).await
    }

    /// The row as this transaction would leave it: its own write, of this statement too, or the newest
    /// state of the store. For rows whose lock it holds. If it then writes the row, the commit is conditional on the
    /// row being as it was read, unless the lock alone sees to that.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub async fn get_newest(&mut self, table: TableId, family: FamilyId, key: &[u8]) -> StoreResult<Option<Bytes>> {
        if let Some(written) = self.own_write(table, family, key)? {
            return Ok(written);
        }
        let newest = self.store.get_newest(table, family, key).await?;
        if let Some(stamps) = &mut self.stamps {
            let stamp = newest.as_deref().and_then(fragment::header::commit_of);
            stamps.insert((table, family, Bytes::copy_from_slice(key)), stamp);
        }
        Ok(newest)
    }

    /// It writes rows of a table as that was since this version of the catalog.
    pub fn note_epoch(&mut self, table: TableId, epoch: u64) {
        self.epochs.entry(table).or_insert(epoch);
    }

    /// The tables noted. Its commit is right only if they have not changed since: to be asked before.
    pub fn epochs(&self) -> &BTreeMap<TableId, u64> {
        &self.epochs
    }

    /// What this transaction has written to the row, if it has.
    ///
    /// # Errors
    /// I/O failures, where its writes went to files.
    pub fn own_write(&self, table: TableId, family: FamilyId, key: &[u8]) -> StoreResult<Option<Written>> {
        match self.statement.get(table, family, key)? {
            Some(written) => Ok(Some(written)),
            None => self.before.get(table, family, key),
        }
    }

    /// Has the present statement written to the row? (A second time is an error for some statements.)
    ///
    /// # Errors
    /// As [`Self::own_write`].
    pub fn written_by_statement(&self, table: TableId, family: FamilyId, key: &[u8]) -> StoreResult<bool> {
        Ok(self.statement.get(table, family, key)?.is_some())
    }

    /// Writes a row whole. Its lock is the caller's matter.
    ///
    /// # Errors
    /// [`crate::TxnError::TooManyWrites`], [`crate::TxnError::NoMemory`], [`crate::TxnError::Spill`].
    pub async fn put(&mut self, table: TableId, family: FamilyId, key: Bytes, fragment: Bytes) -> TxnResult<()> {
        self.write(table, family, key, Some(fragment)).await
    }

    /// As [`Self::put`] for a row whose key will be looked for by its first bytes ([`Self::find_newest`]).
    ///
    /// # Errors
    /// As [`Self::put`].
    pub async fn put_with_prefix(
        &mut self,
        table: TableId,
        family: FamilyId,
        (key, fragment): (Bytes, Bytes),
        prefix: usize,
    ) -> TxnResult<()> {
        self.prefixes.add(table, key.get(..prefix).unwrap_or(&key));
        self.put(table, family, key, fragment).await
    }

    /// Deletes a row, there or not. Its lock is the caller's matter.
    ///
    /// # Errors
    /// As [`Self::put`].
    pub async fn delete(&mut self, table: TableId, family: FamilyId, key: Bytes) -> TxnResult<()> {
        self.write(table, family, key, None).await
    }

    /// The commit fails with [`store::StoreError::ConditionFailed`] unless this holds then.
    pub fn require(&mut self, condition: Condition) {
        self.conditions.push(condition);
    }

    /// Has it written nothing?
    pub fn is_read_only(&self) -> bool {
        self.before.is_empty() && self.statement.is_empty()
    }

    /// Rows written so far.
    pub fn rows_written(&self) -> usize {
        self.before.len() + self.statement.len()
    }

    /// Makes the writes one commit. With [`Durability::Sync`] it returns when they would survive a
    /// crash. Locks are released as soon as the store has taken them over. When the caller stops waiting,
    /// what has begun is still brought to its end.
    ///
    /// # Errors
    /// [`crate::TxnError::RowChanged`]. After an error nothing was written, except [`crate::TxnError::PartlyCommitted`] and the store's errors
    /// that say that the outcome is unknown.
    pub async fn commit(mut self, durability: Durability) -> TxnResult<Committed> {
        self.end_statement()?;
        let Self { store, locks, before, conditions, stamps, epochs, options, memory, .. } = self;
        if before.is_empty() && conditions.is_empty() {
            return Ok(Committed { commit: options.at_least, atomic: true, rows: 0 });
        }
        let conditions = Conditions { required: conditions, stamps, epochs };
        let committed = commit::commit(store, locks, conditions, before, durability).await;
        drop(memory);
        committed
    }

    /// Forgets all writes and releases the locks. The same as dropping it.
    pub fn rollback(self) {}

    async fn write(&mut self, table: TableId, family: FamilyId, key: Bytes, written: Written) -> TxnResult<()> {
        self.make_room(&key, &written).await?;
        self.statement.put(table, family, key, written);
        Ok(())
    }
}
