//! `pg_export_snapshot()` and SET TRANSACTION SNAPSHOT: several sessions read one state, as a parallel pg_dump does.
//!
//! A state is the exporting block's: it can be taken over as long as that is open, and is let go with it.

use crate::error::{EngineResult, Fault, fail};
use crate::transaction_block::Block;
use crate::{Engine, Session};
use futures::FutureExt;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use store::Snapshot;
use txn::Transaction;

/// What blocks of all sessions have exported, by id.
#[derive(Debug, Default)]
pub(crate) struct ExportedSnapshots {
    /// Locked for one look or change, never across an await.
    by_id: Mutex<Exports>,
}

#[derive(Debug, Default)]
struct Exports {
    open: BTreeMap<String, Weak<Snapshot>>,
    /// How many there have been.
    count: u32,
}

/// What a block exported: held as long as it is open.
pub(crate) type Exported = Arc<Mutex<Vec<Arc<Snapshot>>>>;

/// How a statement of a block exports what the block reads.
#[derive(Debug)]
pub(crate) struct Exporter {
    txn: Weak<tokio::sync::Mutex<Transaction>>,
    exported: Weak<Mutex<Vec<Arc<Snapshot>>>>,
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
    /// `None` outside of blocks.
    pub(crate) fn of(session: &Session) -> Option<Self> {
        match &session.block {
            Block::Open(open) => {
                Some(Self { txn: Arc::downgrade(open.txn.as_ref()?), exported: Arc::downgrade(&open.exported) })
            }
            Block::Idle => None,
        }
    }

    /// Exports the state that the block's next statement would read; `None` if the block is over.
    pub(crate) fn export(&self, engine: &Engine, process: i32) -> Option<String> {
        let (txn, exported) = (self.txn.upgrade()?, self.exported.upgrade()?);
        // The store has a published state at hand.
        let view = txn.try_lock().ok()?.begin_statement().now_or_never()?.ok()?;
        let snapshot = Arc::new(view.snapshot().clone());
        let id = engine.exported_snapshots().add(process, &snapshot);
        exported.lock().push(snapshot);
        Some(id)
    }
}

impl Session {
    /// SET TRANSACTION SNAPSHOT.
    pub(crate) fn import_snapshot(&mut self, id: &str) -> EngineResult<String> {
        let open = match &mut self.block {
            Block::Open(open) if open.used => return fail(Fault::TooLate { what: "SNAPSHOT" }),
            Block::Open(open) if open.repeats => open,
            _ => {
                let feature = "SET TRANSACTION SNAPSHOT in isolation level READ COMMITTED";
                return fail(Fault::Unsupported { feature: feature.to_string() });
            }
        };
        let Some(snapshot) = self.engine.exported_snapshots().find(id) else {
            return fail(Fault::NoSuchSnapshot { id: id.to_string() });
        };
        open.borrow()?.read_at(snapshot.as_ref().clone());
        Ok("SET".to_string())
    }
}
