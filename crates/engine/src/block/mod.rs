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

/// The transaction state of a session.
#[derive(Debug, Default)]
pub(crate) enum Block {
    /// Outside a block: each statement is a transaction.
    #[default]
    Idle,
    /// Inside a block.
    Open(OpenBlock),
}

/// An open transaction block.
#[derive(Debug)]
pub(crate) struct OpenBlock {
    /// `None`: the block has failed. Locked while a statement writes. Only `try_lock` is used, because a session runs
    /// one statement at a time.
    pub(crate) txn: Option<Arc<Mutex<Transaction>>>,
    /// Whether a writing statement has begun and not ended.
    pub(crate) writing: bool,
    /// Whether it is the implicit block of a simple query with several statements, and ends with the query.
    pub(crate) implicit: bool,
    pub(crate) failed: bool,
    /// Set when reading a statement's rows fails, after the statement has returned. An atomic flag, because the row
    /// stream outlives the statement; the session reads it at its next step.
    pub(crate) broken: Arc<AtomicBool>,
    pub(crate) savepoints: Savepoints,
    pub(crate) advisory: BlockLocks,
    pub(crate) cursors: Cursors,
    /// Deferred constraints, checked at the end of the block.
    pub(crate) deferred: Deferred,
    /// Sequences restarted by TRUNCATE … RESTART IDENTITY.
    pub(crate) restarted: Option<Arc<RestartedSequences>>,
    /// REPEATABLE READ: all statements read one snapshot, and none writes.
    pub(crate) repeats: bool,
    /// The snapshot's state, set by the first query of a REPEATABLE READ block.
    pub(crate) state: Option<Box<RepeatedState>>,
    /// Snapshots exported by `pg_export_snapshot()`.
    pub(crate) exported: Exported,
    /// Start of the block, microseconds since 1970.
    pub(crate) started: i64,
    /// Whether a statement has run in the block.
    pub(crate) used: bool,
}

/// What a REPEATABLE READ block knows of the catalog of its snapshot.
#[derive(Debug)]
pub(crate) struct RepeatedState {
    /// The catalog's version in the snapshot.
    version: u64,
    /// Tables created or rewritten since the snapshot, as of a newer version of the catalog.
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

    /// The catalog's version in the snapshot of a REPEATABLE READ block. `None` before its first query, and for READ
    /// COMMITTED.
    pub(crate) fn repeated_state(&self) -> Option<u64> {
        match self {
            Self::Open(open) if open.repeats => open.state.as_ref().map(|state| state.version),
            _ => None,
        }
    }

    /// Marks an open block as failed. Its writes and locks since the last savepoint are released at once, because only
    /// a rollback can follow.
    pub(crate) fn fail(&mut self) {
        let Self::Open(open) = self else { return };
        open.failed = true;
        if let Some((writes, advisory)) = open.savepoints.last() {
            open.advisory.go_back(advisory);
            if open.borrow().is_ok_and(|mut txn| txn.rollback_to(writes).is_err()) {
                // After a failed rollback the writes are in an unknown state.
                open.txn = None;
            }
        } else {
            open.txn = None;
            open.advisory.release();
            open.cursors.close_all();
        }
    }

    /// Releases the locks of a block that failed while rows were read.
    pub(crate) fn release_if_failed(&mut self) {
        if self.status() == TransactionStatus::Failed {
            self.fail();
        }
    }

    /// Wraps the rows of an answer so that an error while they are read fails the block.
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

    /// Start of the open block, microseconds since 1970.
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

    /// Whether `modes` changes the isolation level after the block's first query.
    pub(crate) fn is_too_late_for(&self, modes: TransactionModes) -> bool {
        let own = if self.repeats { Isolation::RepeatableRead } else { Isolation::ReadCommitted };
        self.used && modes.isolation.is_some_and(|wanted| wanted != own)
    }

    /// Excludes from the view the tables that were created or rewritten since the block's snapshot.
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

    /// Locks the transaction for one statement.
    pub(crate) fn borrow(&self) -> EngineResult<OwnedMutexGuard<Transaction>> {
        let txn = self.txn.as_ref().and_then(|txn| Arc::clone(txn).try_lock_owned().ok());
        txn.ok_or_else(|| Fault::InFailedTransaction.into())
    }
}

/// Wraps `parts` so that an error sets `broken`.
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
