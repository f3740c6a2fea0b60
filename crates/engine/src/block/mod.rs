//! The state of a session's transaction block.

pub(crate) mod current_of;
pub(crate) mod cursor;
pub(crate) mod lock_tables;
pub(crate) mod restarted_sequences;
pub(crate) mod row_locks;
pub(crate) mod savepoint;
pub(crate) mod transaction;
pub(crate) mod work;

use crate::block::cursor::Cursors;
use crate::block::restarted_sequences::RestartedSequences;
use crate::block::savepoint::Savepoints;
use crate::error::{EngineResult, Fault};
use crate::references::Deferred;
use crate::session::advisory::BlockLocks;
use crate::session::exported_snapshots::Exported;
use crate::{Answer, TransactionStatus};
use catalog::CatalogCache;
use futures::StreamExt;
use futures::stream::BoxStream;
use sql::{Isolation, TransactionModes};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::TableId;
use tokio::sync::{Mutex, OwnedMutexGuard};
use txn::{ReadView, Transaction};

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
    pub(crate) advisory: BlockLocks,
    pub(crate) cursors: Cursors,
    /// Foreign keys that are checked at its end.
    pub(crate) deferred: Deferred,
    /// TRUNCATE … RESTART IDENTITY.
    pub(crate) restarted: Option<Arc<RestartedSequences>>,
    /// REPEATABLE READ: all statements read one state, and none writes.
    pub(crate) repeats: bool,
    /// Of a block that repeats its reads, once the state was chosen that it reads.
    pub(crate) state: Option<Box<RepeatedState>>,
    /// States that it lets other sessions read.
    pub(crate) exported: Exported,
    /// When it began, microseconds since 1970.
    pub(crate) started: i64,
    /// Has a statement run in it?
    pub(crate) used: bool,
}

/// The state that all statements of a block read.
#[derive(Debug)]
pub(crate) struct RepeatedState {
    /// The version of the catalog in it.
    version: u64,
    /// Tables whose rows it has elsewhere, by the catalog of that version.
    rewritten: Option<(u64, Arc<BTreeMap<TableId, String>>)>,
}

impl Block {
    pub(crate) fn status(&self) -> TransactionStatus {
        match self {
            Self::Open(open) if open.has_failed() => TransactionStatus::Failed,
            Self::Open(open) if !open.implicit => TransactionStatus::InTransaction,
            Self::Open(_) | Self::Idle => TransactionStatus::Idle,
        }
    }

    /// The version of the catalog in the state that all its statements read, once it was chosen; `None` where each has its own.
    pub(crate) fn repeated_state(&self) -> Option<u64> {
        match self {
            Self::Open(open) if open.repeats => open.state.as_ref().map(|state| state.version),
            _ => None,
        }
    }

    /// Marks an open block failed. What it wrote and locked since its last savepoint goes at once, for nothing but going back
    /// there can follow.
    pub(crate) fn fail(&mut self) {
        let Self::Open(open) = self else { return };
        open.failed = true;
        if let Some((writes, advisory)) = open.savepoints.last() {
            open.advisory.go_back(advisory);
            if open.borrow().is_ok_and(|mut txn| txn.rollback_to(writes).is_err()) {
                // Its writes are in no known state.
                open.txn = None;
            }
        } else {
            open.txn = None;
            open.advisory.release();
            open.cursors.close_all();
        }
    }

    /// Lets the locks of a block go that failed while rows were read.
    pub(crate) fn release_if_failed(&mut self) {
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
    pub(crate) fn has_failed(&self) -> bool {
        self.failed || self.writing || self.txn.is_none() || self.broken.load(Ordering::Acquire)
    }

    /// Would another isolation level change what a query has relied on?
    pub(crate) fn is_too_late_for(&self, modes: TransactionModes) -> bool {
        let own = if self.repeats { Isolation::RepeatableRead } else { Isolation::ReadCommitted };
        self.used && modes.isolation.is_some_and(|wanted| wanted != own)
    }

    /// A view of the state that all statements read, without tables whose rows it has elsewhere.
    pub(crate) async fn repeated_view(&mut self, catalog: &CatalogCache, view: ReadView) -> EngineResult<ReadView> {
        let state = match &mut self.state {
            Some(state) => state,
            None => {
                let version = catalog.version_in(view.snapshot()).await?;
                self.state.insert(Box::new(RepeatedState { version, rewritten: None }))
            }
        };
        let version = catalog.version();
        if version == state.version {
            return Ok(view);
        }
        let rewritten = match &state.rewritten {
            Some((known, tables)) if *known == version => Arc::clone(tables),
            _ => Arc::new(catalog.rewritten_since(view.snapshot()).await?),
        };
        state.rewritten = Some((version, Arc::clone(&rewritten)));
        Ok(view.without(rewritten))
    }

    /// The transaction, for one statement.
    pub(crate) fn borrow(&self) -> EngineResult<OwnedMutexGuard<Transaction>> {
        let txn = self.txn.as_ref().and_then(|txn| Arc::clone(txn).try_lock_owned().ok());
        txn.ok_or_else(|| Fault::InFailedTransaction.into())
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
