//! `pg_export_snapshot()` and SET TRANSACTION SNAPSHOT: several sessions read one snapshot, as a parallel pg_dump
//! does.
//!
//! A snapshot belongs to the transaction block that exports it, and can be imported while that block is open.

use crate::block::Block;
use crate::error::{EngineResult, Fault, fail};
use crate::{Engine, Session};
use futures::FutureExt;
use parking_lot::Mutex;
use query::{QueryError, QueryResult, Refusal};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use store::{CommitNo, Snapshot};
use txn::Transaction;

/// The snapshots exported by blocks of all sessions, by id.
#[derive(Debug, Default)]
pub(crate) struct ExportedSnapshots {
    /// Locked for one look-up or change, never across an await.
    by_id: Mutex<Exports>,
}

#[derive(Debug, Default)]
struct Exports {
    open: BTreeMap<String, Weak<Snapshot>>,
    /// Number of snapshots exported so far.
    count: u32,
}

/// The snapshots that a block has exported, held while the block is open.
pub(crate) type Exported = Arc<Mutex<Vec<Arc<Snapshot>>>>;

/// Exports the snapshot that a transaction reads. A cached plan may hold an exporter, which keeps no snapshot alive.
#[derive(Debug)]
pub(crate) struct Exporter {
    reads: Reads,
    /// Outside a block nothing keeps an exported snapshot: the transaction ends with the statement.
    exported: Weak<Mutex<Vec<Arc<Snapshot>>>>,
    in_savepoint: bool,
}

/// The snapshot that the transaction reads.
#[derive(Debug)]
enum Reads {
    /// The newest snapshot that includes a commit.
    Newest { at_least: CommitNo },
    /// The one snapshot of a repeatable read transaction. Statements hold the transaction only briefly, because it is
    /// read-only.
    One(Weak<tokio::sync::Mutex<Transaction>>),
}

impl ExportedSnapshots {
    fn add(&self, process: i32, snapshot: &Arc<Snapshot>) -> String {
        let mut exports = self.by_id.lock();
        exports.open.retain(|_, snapshot| snapshot.strong_count() > 0);
        exports.count = exports.count.wrapping_add(1);
        let id = format!("{process:08X}-{:08X}-1", exports.count);
        exports.open.insert(id.clone(), Arc::downgrade(snapshot));
        id
    }

    fn find(&self, id: &str) -> Option<Arc<Snapshot>> {
        self.by_id.lock().open.get(id).and_then(Weak::upgrade)
    }
}

impl Exporter {
    pub(crate) fn of(session: &Session) -> Self {
        let newest = Reads::Newest { at_least: session.last_commit };
        match &session.block {
            Block::Open(open) => Self {
                reads: match &open.txn {
                    Some(txn) if open.repeats => Reads::One(Arc::downgrade(txn)),
                    _ => newest,
                },
                exported: Arc::downgrade(&open.exported),
                in_savepoint: !open.savepoints.is_empty(),
            },
            Block::Idle => Self { reads: newest, exported: Weak::new(), in_savepoint: false },
        }
    }

    /// Exports the snapshot that the next statement of the transaction would read.
    ///
    /// # Errors
    /// 25001 inside a savepoint; 0A000 if the store has no published snapshot at hand.
    pub(crate) fn export(&self, engine: &Engine, process: i32) -> QueryResult<String> {
        if self.in_savepoint {
            let message = "cannot export a snapshot from a subtransaction".to_string();
            return Err(QueryError::Refused { reason: Refusal::Transaction, message });
        }
        let snapshot = Arc::new(self.snapshot(engine)?);
        let id = engine.exported_snapshots().add(process, &snapshot);
        if let Some(exported) = self.exported.upgrade() {
            exported.lock().push(snapshot);
        }
        Ok(id)
    }

    fn snapshot(&self, engine: &Engine) -> QueryResult<Snapshot> {
        let busy = || QueryError::Unsupported { feature: "pg_export_snapshot() beside another statement".to_string() };
        // The published snapshot is available without waiting.
        let found = match &self.reads {
            Reads::Newest { at_least } => engine.store().snapshot(*at_least).now_or_never(),
            Reads::One(txn) => {
                let txn = txn.upgrade().ok_or_else(busy)?;
                let mut txn = txn.try_lock().map_err(|_| busy())?;
                let view = txn.begin_statement().now_or_never();
                view.map(|view| view.map(|view| view.snapshot().clone()))
            }
        };
        Ok(found.ok_or_else(busy)??)
    }
}

impl Session {
    /// SET TRANSACTION SNAPSHOT.
    pub(crate) fn import_snapshot(&mut self, id: &str) -> EngineResult<String> {
        let open = match &mut self.block {
            Block::Open(open) if open.used => return fail(Fault::TooLate { what: "SNAPSHOT" }),
            Block::Open(open) if open.repeats => open,
            _ => return fail(Fault::SnapshotNeedsRepeatableRead),
        };
        let Some(snapshot) = self.engine.exported_snapshots().find(id) else {
            return fail(Fault::NoSuchSnapshot { id: id.to_string() });
        };
        open.borrow()?.read_at(snapshot.as_ref().clone());
        // The snapshot is fixed now, as after a query, so the isolation level can no longer be changed.
        open.used = true;
        Ok("SET".to_string())
    }
}
