//! BEGIN, COMMIT, ROLLBACK, and where single statements stand between them.
//!
//! ```text
//!   Idle ──BEGIN──> Open(explicit) ──error──> Failed ──COMMIT, ROLLBACK──> Idle
//!     └──simple query of several statements──> Open(implicit) ──end of the query──> Idle
//! ```
//! A statement borrows the block's transaction while it writes. If it never ends its work (an error, or a front
//! end that stopped waiting), the block has failed. Then its locks are gone already, unless there is a savepoint
//! to go back to (`savepoint.rs`).

use crate::cursor::Cursors;
use crate::error::{EngineResult, Fault, fail};
use crate::exported_snapshots::Exported;
use crate::held::Writes;
use crate::savepoint::Savepoints;
use crate::{Answer, Notice, Session, TransactionStatus, turn};
use futures::StreamExt;
use futures::stream::BoxStream;
use query::HeldMemory;
use sql::{Isolation, TransactionModes};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{Bytes, CommitNo, FamilyId, Store, TableId};
use tokio::sync::{Mutex, OwnedMutexGuard};
use txn::{LockWait, ReadView, Transaction, TransactionOptions};

/// A transaction of more rows is committed where no other connection waits.
const MANY_ROWS: usize = 1_000;

/// Where the session stands.
#[derive(Debug, Default)]
pub(crate) enum Block {
    /// Each statement is a transaction.
    #[default]
    Idle,
    /// In a block.
    Open(OpenBlock),
}

/// A block under way.
#[derive(Debug)]
pub(crate) struct OpenBlock {
    /// `None`: failed. Locked while a statement writes; only ever tried, since a session has one statement at a time.
    pub(crate) txn: Option<Arc<Mutex<Transaction>>>,
    /// Has a writing statement begun that did not end?
    pub(crate) writing: bool,
    /// Of a simple query of several statements: ends with it.
    pub(crate) implicit: bool,
    pub(crate) failed: bool,
    /// Set by a statement of the block that fails while its rows are read, which is after it has been answered.
    /// Read at the session's next step, so that no lock is needed.
    pub(crate) broken: Arc<AtomicBool>,
    pub(crate) savepoints: Savepoints,
    pub(crate) cursors: Cursors,
    /// REPEATABLE READ: all statements read one state, and none writes.
    pub(crate) repeats: bool,
    /// States that it lets other sessions read.
    pub(crate) exported: Exported,
    /// When it began, microseconds since 1970.
    started: i64,
    /// Has a statement run in it?
    pub(crate) used: bool,
}

impl Block {
    pub(crate) fn status(&self) -> TransactionStatus {
        match self {
            Self::Open(open) if open.has_failed() => TransactionStatus::Failed,
            Self::Open(open) if !open.implicit => TransactionStatus::InTransaction,
            Self::Open(_) | Self::Idle => TransactionStatus::Idle,
        }
    }

    /// Does every statement of the block read the same state?
    pub(crate) fn repeats(&self) -> bool {
        matches!(self, Self::Open(open) if open.repeats)
    }

    /// Marks an open block failed; its locks go at once if no savepoint needs what it wrote.
    pub(crate) fn fail(&mut self) {
        if let Self::Open(open) = self {
            open.failed = true;
            if open.savepoints.is_empty() {
                open.txn = None;
                open.cursors.close_all();
            }
        }
    }

    /// Lets the locks of a block go that failed while rows were read.
    pub(crate) fn settle(&mut self) {
        if self.status() == TransactionStatus::Failed {
            self.fail();
        }
    }

    /// The answer of a statement of the block, so that the block fails if reading its rows does.
    pub(crate) fn watch(&self, answer: Answer) -> Answer {
        let Self::Open(open) = self else { return answer };
        let broken = Arc::clone(&open.broken);
        match answer {
            Answer::Rows(mut rows) => {
                rows.chunks = fails(rows.chunks, broken);
                Answer::Rows(rows)
            }
            Answer::CopyOut(mut copy) => {
                copy.data = fails(copy.data, broken);
                Answer::CopyOut(copy)
            }
            other => other,
        }
    }

    /// When an open block began, microseconds since 1970.
    pub(crate) fn started(&self) -> Option<i64> {
        match self {
            Self::Open(open) => Some(open.started),
            Self::Idle => None,
        }
    }
}

impl OpenBlock {
    fn has_failed(&self) -> bool {
        self.failed || self.writing || self.txn.is_none() || self.broken.load(Ordering::Acquire)
    }

    /// Would another isolation level change what a query has relied on?
    fn is_too_late_for(&self, modes: TransactionModes) -> bool {
        let own = if self.repeats { Isolation::RepeatableRead } else { Isolation::ReadCommitted };
        self.used && modes.isolation.is_some_and(|wanted| wanted != own)
    }

    /// The transaction, for one statement.
    pub(crate) fn borrow(&self) -> EngineResult<OwnedMutexGuard<Transaction>> {
        let txn = self.txn.as_ref().and_then(|txn| Arc::clone(txn).try_lock_owned().ok());
        txn.ok_or_else(|| Fault::InFailedTransaction.into())
    }
}

impl Session {
    /// Refuses everything but the end of a failed block.
    ///
    /// # Errors
    /// 25P02.
    pub fn check_block(&self) -> EngineResult<()> {
        match self.block.status() {
            TransactionStatus::Failed => fail(Fault::InFailedTransaction),
            _ => Ok(()),
        }
    }

    /// Refuses what cannot be part of a transaction.
    pub(crate) fn refuse_in_block(&self, command: &str) -> EngineResult<()> {
        match self.block {
            Block::Idle => Ok(()),
            Block::Open(_) => fail(Fault::InsideBlock { command: command.to_string() }),
        }
    }

    /// Refuses writes of a read-only transaction.
    pub(crate) fn check_writable(&self, command: &'static str) -> EngineResult<()> {
        if self.settings.effective().read_only {
            return fail(Fault::ReadOnlyTransaction { command });
        }
        if matches!(&self.block, Block::Open(open) if open.repeats) {
            return fail(Fault::Isolation { feature: format!("{command} in isolation level REPEATABLE READ") });
        }
        Ok(())
    }

    /// A new state to read, with what the block wrote. The catalog then has all definitions that the state has.
    pub(crate) async fn read_view(&mut self) -> EngineResult<ReadView> {
        if let Block::Open(open) = &mut self.block {
            open.used = true;
            let view = open.borrow()?.begin_statement().await?;
            self.engine.catalog().settled().await;
            return Ok(view);
        }
        let store = self.engine.store();
        let snapshot = store.snapshot(self.last_commit).await?;
        self.engine.catalog().settled().await;
        Ok(ReadView::plain(store.clone(), snapshot))
    }

    /// The transaction that a writing statement works in: the block's, or one of its own.
    pub(crate) fn take_transaction(&mut self) -> EngineResult<Work> {
        let wait = self.settings.effective().lock_wait;
        match &mut self.block {
            Block::Open(open) => {
                open.used = true;
                let txn = open.borrow()?;
                open.writing = true;
                Ok(Work { txn, in_block: true, wait, looked: HashMap::new(), rows: None })
            }
            Block::Idle => {
                let txn = Arc::new(Mutex::new(self.new_transaction()));
                let txn = txn.try_lock_owned().map_err(|_| Fault::InFailedTransaction)?;
                Ok(Work { txn, in_block: false, wait, looked: HashMap::new(), rows: None })
            }
        }
    }

    /// Ends a writing statement: a block keeps its transaction, one of its own is committed.
    pub(crate) async fn end_work(&mut self, work: Work) -> EngineResult<()> {
        let Work { mut txn, in_block, rows, .. } = work;
        drop(rows);
        if in_block {
            txn.end_statement();
            if let Block::Open(open) = &mut self.block {
                open.writing = false;
            }
            return Ok(());
        }
        let shared = Arc::clone(OwnedMutexGuard::mutex(&txn));
        drop(txn);
        self.commit_transaction(shared).await
    }

    async fn commit_transaction(&mut self, txn: Arc<Mutex<Transaction>>) -> EngineResult<()> {
        let Some(txn) = Arc::into_inner(txn).map(Mutex::into_inner) else {
            return fail(Fault::Internal { detail: "a statement still writes".to_string() });
        };
        if txn.is_read_only() {
            return Ok(());
        }
        self.engine.catalog().check_epochs(txn.epochs()).await?;
        let durability = self.settings.effective().durability;
        let committed = match txn.rows_written() > MANY_ROWS {
            // The store encodes and keeps them in one go.
            true => turn::all_apart(Box::pin(txn.commit(durability))).await?,
            false => txn.commit(durability).await?,
        };
        self.last_commit = self.last_commit.max(committed.commit);
        if !committed.atomic {
            self.notices.push(Notice::warning(
                "01000",
                "the store is not atomic over several rows: they were written one by one",
            ));
        }
        Ok(())
    }

    fn new_transaction(&self) -> Transaction {
        // The memory that queries share is the limit.
        let options = TransactionOptions { at_least: self.last_commit, max_write_bytes: usize::MAX };
        let mut txn = Transaction::begin(self.engine.store().clone(), self.engine.locks(), options);
        txn.hold_writes_by(Arc::new(Writes(self.engine.hold("the writes of a transaction"))));
        self.entry.note_transaction(txn.locks().id());
        txn
    }

    fn open_block(&mut self, implicit: bool) {
        let started = self.engine.now();
        let txn = Some(Arc::new(Mutex::new(self.new_transaction())));
        self.settings.begin_block();
        self.block = Block::Open(OpenBlock {
            txn,
            writing: false,
            implicit,
            failed: false,
            broken: Arc::default(),
            savepoints: Savepoints::default(),
            cursors: Cursors::default(),
            repeats: false,
            exported: Exported::default(),
            started,
            used: false,
        });
    }

    /// BEGIN.
    pub(crate) fn begin(&mut self, modes: TransactionModes) -> EngineResult<String> {
        self.check_modes(modes)?;
        match &mut self.block {
            Block::Open(open) if open.is_too_late_for(modes) => {
                return fail(Fault::TooLate { what: "ISOLATION LEVEL" });
            }
            Block::Open(open) if open.implicit => open.implicit = false,
            Block::Open(_) => {
                self.notices.push(Notice::warning("25001", "there is already a transaction in progress"));
            }
            Block::Idle => self.open_block(false),
        }
        self.apply_modes(modes)?;
        Ok("BEGIN".to_string())
    }

    /// COMMIT. A failed block is rolled back, and the tag says so.
    pub(crate) async fn commit(&mut self) -> EngineResult<String> {
        let status = self.block.status();
        match std::mem::take(&mut self.block) {
            Block::Idle => {
                self.notices.push(Notice::warning("25P01", "there is no transaction in progress"));
                Ok("COMMIT".to_string())
            }
            Block::Open(OpenBlock { txn: Some(txn), implicit, .. }) if status != TransactionStatus::Failed => {
                if implicit {
                    self.notices.push(Notice::warning("25P01", "there is no transaction in progress"));
                }
                // Settings are judged by the outcome; the durability is that of the block's end.
                let done = self.commit_transaction(txn).await;
                self.settings.end_block(done.is_ok())?;
                done.map(|()| "COMMIT".to_string())
            }
            Block::Open(_) => {
                self.settings.end_block(false)?;
                Ok("ROLLBACK".to_string())
            }
        }
    }

    /// ROLLBACK.
    pub(crate) fn rollback(&mut self) -> EngineResult<String> {
        match std::mem::take(&mut self.block) {
            Block::Idle => self.notices.push(Notice::warning("25P01", "there is no transaction in progress")),
            Block::Open(open) => {
                if open.implicit {
                    self.notices.push(Notice::warning("25P01", "there is no transaction in progress"));
                }
                self.settings.end_block(false)?;
            }
        }
        Ok("ROLLBACK".to_string())
    }

    /// SET TRANSACTION, SET SESSION CHARACTERISTICS.
    pub(crate) fn set_transaction(&mut self, modes: TransactionModes, session: bool) -> EngineResult<String> {
        self.check_modes(modes)?;
        if session {
            if modes.isolation == Some(Isolation::RepeatableRead) {
                let feature = "isolation level REPEATABLE READ as a default".to_string();
                return fail(Fault::Isolation { feature });
            }
            if let Some(read_only) = modes.read_only {
                self.settings.set("default_transaction_read_only", &[on_off(read_only)], false)?;
            }
            return Ok("SET".to_string());
        }
        match &self.block {
            Block::Idle => {
                let message = "SET TRANSACTION can only be used in transaction blocks";
                self.notices.push(Notice::warning("25P01", message));
            }
            Block::Open(open) if open.is_too_late_for(modes) => {
                return fail(Fault::TooLate { what: "ISOLATION LEVEL" });
            }
            Block::Open(_) => self.apply_modes(modes)?,
        }
        Ok("SET".to_string())
    }

    fn apply_modes(&mut self, modes: TransactionModes) -> EngineResult<()> {
        if let Some(read_only) = modes.read_only {
            self.settings.set("transaction_read_only", &[on_off(read_only)], true)?;
        }
        let repeat = modes.isolation == Some(Isolation::RepeatableRead);
        match &mut self.block {
            // The same level again must not forget the state that the block reads.
            Block::Open(open) if modes.isolation.is_some() && repeat != open.repeats => {
                open.borrow()?.repeat_reads(repeat);
                open.repeats = repeat;
                self.settings.show_isolation(if repeat { "repeatable read" } else { "read committed" })
            }
            _ => Ok(()),
        }
    }

    /// READ COMMITTED is built, and REPEATABLE READ for blocks that only read: nothing weaker is promised and nothing
    /// stronger pretended.
    fn check_modes(&self, modes: TransactionModes) -> EngineResult<()> {
        let read_only = modes.read_only.unwrap_or(self.settings.effective().read_only);
        let feature = match (modes.isolation, modes.deferrable) {
            (Some(Isolation::RepeatableRead), _) if !self.engine.store().capabilities().store_snapshots() => {
                "isolation level REPEATABLE READ on a store without snapshots of all tables"
            }
            (Some(Isolation::RepeatableRead), _) if !read_only => "isolation level REPEATABLE READ without READ ONLY",
            (Some(Isolation::Serializable), _) => "isolation level SERIALIZABLE",
            (_, Some(true)) => return fail(Fault::Unsupported { feature: "DEFERRABLE".to_string() }),
            _ => return Ok(()),
        };
        fail(Fault::Isolation { feature: feature.to_string() })
    }

    /// Opens the implicit transaction of a simple query of several statements.
    pub(crate) fn begin_implicit(&mut self) {
        if let Block::Idle = self.block {
            self.open_block(true);
        }
    }

    /// Ends it, unless a BEGIN in the query made it explicit.
    pub(crate) async fn end_implicit(&mut self, ok: bool) -> EngineResult<()> {
        if !self.in_implicit() {
            if !ok {
                self.block.fail();
            }
            return Ok(());
        }
        let failed = self.block.status() == TransactionStatus::Failed;
        match std::mem::take(&mut self.block) {
            Block::Open(OpenBlock { txn: Some(txn), .. }) if ok && !failed => {
                let done = self.commit_transaction(txn).await;
                self.settings.end_block(done.is_ok())?;
                done
            }
            _ => self.settings.end_block(false),
        }
    }

    /// In the implicit transaction of a simple query?
    pub(crate) fn in_implicit(&self) -> bool {
        matches!(&self.block, Block::Open(open) if open.implicit)
    }
}

/// `parts`, setting `broken` at the first error.
fn fails<T: 'static>(
    parts: BoxStream<'static, EngineResult<T>>,
    broken: Arc<AtomicBool>,
) -> BoxStream<'static, EngineResult<T>> {
    let seen = move |part: &EngineResult<T>| {
        if part.is_err() {
            broken.store(true, Ordering::Release);
        }
    };
    parts.inspect(seen).boxed()
}

fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_string()
}

/// A writing statement's transaction.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) txn: OwnedMutexGuard<Transaction>,
    /// Of a block, whose locks and writes outlive the statement?
    pub(crate) in_block: bool,
    pub(crate) wait: LockWait,
    /// The stamps that rows had when the statement looked at them last, where that is how it tells what has changed.
    pub(crate) looked: HashMap<Bytes, CommitNo>,
    /// Memory of the rows that the statement is about, until it ends.
    pub(crate) rows: Option<Arc<HeldMemory>>,
}

impl Work {
    /// A state to read that holds at least `seen`, and what the block wrote before.
    pub(crate) async fn view(&mut self, store: &dyn Store, seen: CommitNo) -> EngineResult<ReadView> {
        if seen > CommitNo(0) {
            // Waits until it is published; the transaction's own snapshot is then new enough.
            store.snapshot(seen).await?;
        }
        Ok(self.txn.begin_statement().await?)
    }

    /// Locks a row to the end of the transaction.
    pub(crate) async fn lock(&mut self, table: TableId, key: &Bytes) -> EngineResult<()> {
        self.txn.lock_row(table, key, self.wait).await?;
        Ok(())
    }

    /// The row as this transaction sees it under its lock.
    pub(crate) async fn newest(&mut self, table: TableId, family: FamilyId, key: &[u8]) -> EngineResult<Option<Bytes>> {
        Ok(self.txn.get_newest(table, family, key).await?)
    }
}
