//! BEGIN, COMMIT, ROLLBACK, and the transactions of single statements.
//!
//! ```text
//!   Idle ──BEGIN──> Open(explicit) ──error──> Failed ──COMMIT, ROLLBACK──> Idle
//!     └──simple query of several statements──> Open(implicit) ──end of the query──> Idle
//! ```
//! A statement borrows the block's transaction while it writes. If it never ends its work (an error, or a front end
//! that drops the future), the block has failed. A failed block keeps only the locks taken before its last savepoint
//! (`savepoint.rs`).

use crate::block::cursor::Cursors;
use crate::block::restarted_sequences::RestartedSequences;
use crate::block::savepoint::Savepoints;
use crate::block::work::Work;
use crate::block::{Block, OpenBlock};
use crate::error::{EngineResult, Fault, fail};
use crate::references::Deferred;
use crate::session::advisory::BlockLocks;
use crate::session::exported_snapshots::Exported;
use crate::session::held::Writes;
use crate::threads::turn;
use crate::{Session, TransactionStatus};
use sql::{Isolation, TransactionModes};
use std::sync::Arc;
use store::{CommitNo, Durability, WriteBatch};
use tokio::sync::{Mutex, OwnedMutexGuard};
use txn::{ReadView, Transaction, TransactionOptions};

/// A transaction with more rows is committed with `block_in_place`, so that other connections of the thread do not
/// wait.
const MANY_ROWS: usize = 1_000;

impl Session {
    /// Refuses statements in a failed block.
    ///
    /// # Errors
    /// 25P02.
    pub fn check_block(&self) -> EngineResult<()> {
        match self.block.status() {
            TransactionStatus::Failed => fail(Fault::InFailedTransaction),
            _ => Ok(()),
        }
    }

    /// Refuses a command that cannot run inside a transaction block.
    pub(crate) fn refuse_in_block(&self, command: &str) -> EngineResult<()> {
        match self.block {
            Block::Idle => Ok(()),
            Block::Open(_) => fail(Fault::InsideBlock { command: command.to_string() }),
        }
    }

    /// Refuses a write in a read-only or REPEATABLE READ transaction.
    pub(crate) fn check_writable(&self, command: &'static str) -> EngineResult<()> {
        if self.settings.effective().read_only {
            return fail(Fault::ReadOnlyTransaction { command });
        }
        if matches!(&self.block, Block::Open(open) if open.repeats) {
            return fail(Fault::Isolation { feature: format!("{command} in isolation level REPEATABLE READ") });
        }
        Ok(())
    }

    /// Takes a snapshot to read, with the block's own writes, and waits until the catalog cache has all definitions in
    /// it.
    pub(crate) async fn read_view(&mut self) -> EngineResult<ReadView> {
        if let Block::Open(open) = &mut self.block {
            open.used = true;
            let view = open.borrow()?.begin_statement().await?;
            let catalog = self.engine.catalog();
            catalog.wait_for_changes_in(view.snapshot()).await?;
            return if open.repeats { open.repeated_view(catalog, view).await } else { Ok(view) };
        }
        let store = self.engine.store();
        let snapshot = store.snapshot(self.last_commit).await?;
        self.engine.catalog().wait_for_changes_in(&snapshot).await?;
        Ok(ReadView::plain(store.clone(), snapshot))
    }

    /// Makes later snapshots of the session include this commit. Commit numbers ascend, so no maximum is taken; 0
    /// stands for a commit without rows.
    pub(crate) fn note_commit(&mut self, commit: CommitNo) {
        if commit != CommitNo(0) {
            self.last_commit = commit;
        }
    }

    /// The store's latest commit. Transactions that wrote to a table before it was locked are committed but may not be
    /// published yet; a snapshot that includes this commit includes all of them.
    pub(crate) async fn latest_commit(&self) -> EngineResult<CommitNo> {
        Ok(self.engine.store().apply(WriteBatch::default(), Durability::Buffered).await?)
    }

    /// The transaction of a writing statement: the block's, or a new one.
    pub(crate) fn take_transaction(&mut self) -> EngineResult<Work> {
        let (wait, modes) = (self.settings.effective().lock_wait, self.constraint_modes());
        match &mut self.block {
            Block::Open(open) => {
                open.used = true;
                let txn = open.borrow()?;
                open.writing = true;
                Ok(Work { modes, ..Work::new(txn, true, wait, self.engine.planner()) })
            }
            Block::Idle => {
                let txn = Arc::new(Mutex::new(self.new_transaction()));
                let txn = txn.try_lock_owned().map_err(|_| Fault::InFailedTransaction)?;
                Ok(Work::new(txn, false, wait, self.engine.planner()))
            }
        }
    }

    /// Ends a writing statement. Outside a block, commits its transaction.
    pub(crate) async fn end_work(&mut self, work: Work) -> EngineResult<()> {
        let Work { mut txn, in_block, tally, rows, late_uniques, .. } = work;
        drop(rows);
        self.defer_uniques(late_uniques)?;
        if in_block {
            txn.end_statement()?;
            if let Block::Open(open) = &mut self.block {
                open.writing = false;
            }
        } else {
            let shared = Arc::clone(OwnedMutexGuard::mutex(&txn));
            drop(txn);
            self.commit_transaction(shared).await?;
        }
        self.engine.counters().count(tally);
        Ok(())
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
            // The store encodes and writes all rows without yielding.
            true => turn::all_apart(Box::pin(txn.commit(durability))).await?,
            false => txn.commit(durability).await?,
        };
        self.note_commit(committed.commit);
        if !committed.atomic {
            self.notices.warning("01000", "the store is not atomic over several rows: they were written one by one");
        }
        Ok(())
    }

    async fn commit_block(
        &mut self,
        txn: Arc<Mutex<Transaction>>,
        restarted: Option<Arc<RestartedSequences>>,
    ) -> EngineResult<()> {
        self.commit_transaction(txn).await?;
        if let Some(restarted) = restarted {
            self.commit_restarts(&restarted).await;
        }
        Ok(())
    }

    fn new_transaction(&self) -> Transaction {
        let writes = Writes::new(&self.engine);
        let options = TransactionOptions { at_least: self.last_commit, max_write_bytes: writes.most() };
        let mut txn = Transaction::begin(self.engine.store().clone(), self.engine.locks(), options);
        txn.set_write_memory(Arc::new(writes));
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
            advisory: BlockLocks::new(&self.entry),
            cursors: Cursors::default(),
            deferred: Deferred::default(),
            restarted: None,
            repeats: false,
            state: None,
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
                self.notices.warning("25001", "there is already a transaction in progress");
            }
            Block::Idle => self.open_block(false),
        }
        self.apply_modes(modes)?;
        Ok("BEGIN".to_string())
    }

    /// COMMIT. Rolls back a failed block and returns the tag ROLLBACK.
    pub(crate) async fn commit(&mut self) -> EngineResult<String> {
        let status = self.block.status();
        if status != TransactionStatus::Failed
            && let Err(error) = self.check_deferred(true).await
        {
            self.block = Block::Idle;
            self.settings.end_block(false)?;
            return Err(error);
        }
        match std::mem::take(&mut self.block) {
            Block::Idle => {
                self.notices.warning("25P01", "there is no transaction in progress");
                Ok("COMMIT".to_string())
            }
            Block::Open(OpenBlock { txn: Some(txn), implicit, restarted, .. })
                if status != TransactionStatus::Failed =>
            {
                if implicit {
                    self.notices.warning("25P01", "there is no transaction in progress");
                }
                // Settings are kept only after a successful commit, which uses the durability set at the end of the
                // block.
                let done = self.commit_block(txn, restarted).await;
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
            Block::Idle => self.notices.warning("25P01", "there is no transaction in progress"),
            Block::Open(open) => {
                if open.implicit {
                    self.notices.warning("25P01", "there is no transaction in progress");
                }
                self.settings.end_block(false)?;
            }
        }
        Ok("ROLLBACK".to_string())
    }

    /// COMMIT AND CHAIN: opens a new block with the same modes.
    pub(crate) async fn commit_and_chain(&mut self) -> EngineResult<String> {
        let modes = self.modes_to_chain("COMMIT AND CHAIN")?;
        let tag = self.commit().await?;
        self.open_block(false);
        self.apply_modes(modes)?;
        Ok(tag)
    }

    /// ROLLBACK AND CHAIN.
    pub(crate) fn rollback_and_chain(&mut self) -> EngineResult<String> {
        let modes = self.modes_to_chain("ROLLBACK AND CHAIN")?;
        let tag = self.rollback()?;
        self.open_block(false);
        self.apply_modes(modes)?;
        Ok(tag)
    }

    fn modes_to_chain(&self, command: &'static str) -> EngineResult<TransactionModes> {
        match &self.block {
            Block::Open(open) if !open.implicit => {
                let isolation = if open.repeats { Isolation::RepeatableRead } else { Isolation::ReadCommitted };
                let read_only = Some(self.settings.effective().read_only);
                Ok(TransactionModes { isolation: Some(isolation), read_only, ..TransactionModes::default() })
            }
            _ => fail(Fault::OutsideBlock { command }),
        }
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
                self.notices.warning("25P01", message);
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
            // Setting the same level again keeps the block's snapshot.
            Block::Open(open) if modes.isolation.is_some() && repeat != open.repeats => {
                open.borrow()?.repeat_reads(repeat);
                (open.repeats, open.state) = (repeat, None);
                self.settings.show_isolation(if repeat { "repeatable read" } else { "read committed" })
            }
            _ => Ok(()),
        }
    }

    /// Refuses unsupported modes. READ COMMITTED is supported, and REPEATABLE READ for read-only blocks.
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

    /// Ends the implicit transaction, unless a BEGIN in the query made it explicit.
    pub(crate) async fn end_implicit(&mut self, ok: bool) -> EngineResult<()> {
        if !self.in_implicit() {
            if !ok {
                self.block.fail();
            }
            return Ok(());
        }
        let failed = self.block.status() == TransactionStatus::Failed;
        if ok
            && !failed
            && let Err(error) = self.check_deferred(true).await
        {
            self.block = Block::Idle;
            self.settings.end_block(false)?;
            return Err(error);
        }
        match std::mem::take(&mut self.block) {
            Block::Open(OpenBlock { txn: Some(txn), restarted, .. }) if ok && !failed => {
                let done = self.commit_block(txn, restarted).await;
                self.settings.end_block(done.is_ok())?;
                done
            }
            _ => self.settings.end_block(false),
        }
    }

    /// Whether the session is in the implicit transaction of a simple query.
    pub(crate) fn in_implicit(&self) -> bool {
        matches!(&self.block, Block::Open(open) if open.implicit)
    }
}

fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_string()
}
