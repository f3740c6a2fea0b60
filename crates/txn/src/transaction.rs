//! A transaction: its writes, its locks, commit and rollback.

mod aside;
mod newest;
mod room;
mod savepoints;

pub use aside::{DeferredRows, DeferredWrites};

use crate::commit::{self, Committed, Conditions};
use crate::writes::{Prefixes, SpillFile, UndoLog, WriteSet, Written};
use crate::{LockMode, LockOwner, LockTable, LockWait, ReadView, TxnId, TxnResult};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use store::{Bytes, CommitNo, Condition, Durability, FamilyId, PointRead, Snapshot, Store, StoreResult, TableId};

/// Options of a transaction.
#[derive(Clone, Copy, Debug)]
pub struct TransactionOptions {
    /// Memory limit of its writes. Above it, they are spilled to files, or refused if there is no folder for files.
    pub max_write_bytes: usize,
    /// The commit that [`Transaction::begin_statement`] must at least see: the session's own last commit.
    pub at_least: CommitNo,
}

impl Default for TransactionOptions {
    fn default() -> Self {
        Self { max_write_bytes: 256 << 20, at_least: CommitNo(0) }
    }
}

/// The source of memory for a transaction's writes.
pub trait WriteMemory: std::fmt::Debug + Send + Sync {
    /// Sets the total size of held memory. Returns false if there is not enough memory.
    fn hold(&self, bytes: usize) -> bool;

    /// The folder for spilled writes.
    fn spill_folder(&self) -> Option<&Path> {
        None
    }
}

/// A transaction in progress, of one statement (autocommit) or of a block. Dropping it rolls it back.
#[derive(Debug)]
pub struct Transaction {
    store: Arc<dyn Store>,
    locks: LockOwner,
    options: TransactionOptions,
    /// The writes of earlier statements: shared with their views, so changed only between statements.
    before: Arc<WriteSet>,
    /// The writes of the present statement.
    statement: WriteSet,
    /// Rows that the present statement writes at its end.
    aside: WriteSet,
    /// The prefixes of rows written with [`Self::put_with_prefix`].
    prefixes: Prefixes,
    conditions: Vec<Condition>,
    /// The commit stamps of rows that were read for an update; `None` if locks are sufficient.
    stamps: Option<Stamps>,
    /// The written tables, and the catalog versions in which they last changed.
    epochs: BTreeMap<TableId, u64>,
    undo: UndoLog,
    reads: Reads,
    /// The source of memory for its writes, and the granted size.
    memory: Option<Arc<dyn WriteMemory>>,
    granted: usize,
    /// The spill file of earlier statements, and the spill file of the present statement, which is removed with its
    /// writes.
    file: Option<Arc<SpillFile>>,
    statement_file: Option<Arc<SpillFile>>,
}

/// The commit stamp of a row when it was read; `None` if there was no row.
pub(crate) type Stamps = BTreeMap<(TableId, FamilyId, Bytes), Option<CommitNo>>;

/// The snapshots that statements read.
#[derive(Debug, Default)]
enum Reads {
    /// Each statement its own: READ COMMITTED.
    #[default]
    Newest,
    /// All statements the first one's: REPEATABLE READ.
    First(Option<Snapshot>),
}

impl Transaction {
    /// Begins a transaction. `locks` is the only lock table of the process for this store.
    pub fn begin(store: Arc<dyn Store>, locks: &Arc<LockTable>, options: TransactionOptions) -> Self {
        let can = store.capabilities();
        // If other processes write as well, or batches are not atomic, locks of this process are not sufficient.
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

    /// Sets the source of memory for its writes. It is dropped when the store has applied them.
    pub fn set_write_memory(&mut self, memory: Arc<dyn WriteMemory>) {
        self.memory = Some(memory);
    }

    /// The id of its locks, not of its commit.
    pub fn id(&self) -> TxnId {
        self.locks.id()
    }

    /// Begins a statement: a new snapshot, overlaid with the writes of earlier statements.
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

    /// With `repeat`, all later statements read one snapshot, that of the first of them; otherwise each reads its own.
    /// Writers still lock and read the newest state of a row, so a transaction with repeated reads must not write.
    pub fn repeat_reads(&mut self, repeat: bool) {
        self.reads = if repeat { Reads::First(None) } else { Reads::Newest };
    }

    /// All later statements read this snapshot. The transaction must not write.
    pub fn read_at(&mut self, snapshot: Snapshot) {
        self.reads = Reads::First(Some(snapshot));
    }

    /// Makes the writes of this statement visible to the next one. [`Self::begin_statement`] and [`Self::commit`] call
    /// it.
    ///
    /// # Errors
    /// I/O failures with a savepoint and spilled writes; then the transaction can only be rolled back.
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

    /// The lock owner, to acquire more locks.
    pub fn locks(&mut self) -> &mut LockOwner {
        &mut self.locks
    }

    /// Locks a row until the end of the transaction or a rollback to a savepoint. Returns whether it had to wait: then
    /// the row may have changed since the statement's snapshot.
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

    /// The row as this transaction would leave it: its own write, also of this statement, or the newest state in the
    /// store. The caller holds the row lock. If the transaction then writes the row, the commit is conditional on the
    /// row being unchanged, unless the lock is sufficient.
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

    /// Records the catalog version in which a table that is written last changed.
    pub fn note_epoch(&mut self, table: TableId, epoch: u64) {
        self.epochs.entry(table).or_insert(epoch);
    }

    /// The recorded tables. Before the commit, the caller must check that they have not changed.
    pub fn epochs(&self) -> &BTreeMap<TableId, u64> {
        &self.epochs
    }

    /// The transaction's own write of the row, if any.
    ///
    /// # Errors
    /// I/O failures of spilled writes.
    pub fn own_write(&self, table: TableId, family: FamilyId, key: &[u8]) -> StoreResult<Option<Written>> {
        match self.statement.get(table, family, key)? {
            Some(written) => Ok(Some(written)),
            None => self.before.get(table, family, key),
        }
    }

    /// Whether the present statement has written the row. (A second write is an error in some statements.)
    ///
    /// # Errors
    /// As [`Self::own_write`].
    pub fn written_by_statement(&self, table: TableId, family: FamilyId, key: &[u8]) -> StoreResult<bool> {
        Ok(self.statement.get(table, family, key)?.is_some())
    }

    /// Writes a whole row. The caller is responsible for the lock.
    ///
    /// # Errors
    /// [`crate::TxnError::TooManyWrites`], [`crate::TxnError::NoMemory`], [`crate::TxnError::Spill`].
    pub async fn put(&mut self, table: TableId, family: FamilyId, key: Bytes, fragment: Bytes) -> TxnResult<()> {
        self.write(table, family, key, Some(fragment)).await
    }

    /// As [`Self::put`], for a row that [`Self::find_newest`] must find by the first `prefix` bytes of its key.
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

    /// Deletes a row, if it exists. The caller is responsible for the lock.
    ///
    /// # Errors
    /// As [`Self::put`].
    pub async fn delete(&mut self, table: TableId, family: FamilyId, key: Bytes) -> TxnResult<()> {
        self.write(table, family, key, None).await
    }

    /// Adds a condition: the commit fails with [`store::StoreError::ConditionFailed`] if it does not hold.
    pub fn require(&mut self, condition: Condition) {
        self.conditions.push(condition);
    }

    /// Whether it has written nothing.
    pub fn is_read_only(&self) -> bool {
        self.before.is_empty() && self.statement.is_empty()
    }

    /// Number of rows written.
    pub fn rows_written(&self) -> usize {
        self.before.len() + self.statement.len()
    }

    /// Commits the writes. With [`Durability::Sync`] it returns when the commit is durable. Locks are released as soon
    /// as the store has applied the writes. If the caller is cancelled, a commit that has begun is still completed.
    ///
    /// # Errors
    /// [`crate::TxnError::RowChanged`]. After an error nothing is written, except after
    /// [`crate::TxnError::PartlyCommitted`] and store errors with an unknown outcome.
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

    /// Discards all writes and releases the locks, as dropping does.
    pub fn rollback(self) {}

    async fn write(&mut self, table: TableId, family: FamilyId, key: Bytes, written: Written) -> TxnResult<()> {
        self.make_room(&key, &written).await?;
        self.statement.put(table, family, key, written);
        Ok(())
    }
}
