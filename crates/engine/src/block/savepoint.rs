//! SAVEPOINT, RELEASE and ROLLBACK TO: savepoints cover writes, settings, cursors, deferred constraints, sequence
//! restarts and advisory locks.
//!
//! Names may repeat; the latest savepoint of a name is used. A failed block with a savepoint keeps its transaction for
//! ROLLBACK TO.

use crate::Session;
use crate::block::restarted_sequences::RestartsMark;
use crate::block::{Block, OpenBlock};
use crate::error::{EngineResult, Fault, fail};
use crate::references::DeferredMark;
use crate::settings::SettingsMark;
use std::sync::Arc;
use txn::{AdvisoryMark, Savepoint};

/// The savepoints of a transaction block, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Savepoints(Vec<Named>);

#[derive(Debug)]
struct Named {
    name: String,
    writes: Savepoint,
    settings: SettingsMark,
    /// The last cursor number before the savepoint.
    cursors: u64,
    deferred: DeferredMark,
    restarted: Option<RestartsMark>,
    advisory: AdvisoryMark,
}

impl Savepoints {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The writes and advisory locks of the last savepoint.
    pub(crate) fn last(&self) -> Option<(Savepoint, AdvisoryMark)> {
        self.0.last().map(|savepoint| (savepoint.writes, savepoint.advisory))
    }

    fn position(&self, name: &str) -> EngineResult<usize> {
        match self.0.iter().rposition(|savepoint| savepoint.name == name) {
            Some(at) => Ok(at),
            None => fail(Fault::NoSuchSavepoint { name: name.to_string() }),
        }
    }
}

impl Session {
    /// SAVEPOINT.
    pub(crate) fn savepoint(&mut self, name: &str) -> EngineResult<String> {
        let settings = self.settings.mark();
        let open = self.explicit_block("SAVEPOINT")?;
        open.used = true;
        let writes = open.borrow()?.savepoint()?;
        let (cursors, deferred) = (open.cursors.mark(), open.deferred.mark());
        let restarted = open.restarted.as_ref().map(|restarted| restarted.mark());
        let (name, advisory) = (name.to_string(), open.advisory.mark());
        open.savepoints.0.push(Named { name, writes, settings, cursors, deferred, restarted, advisory });
        Ok("SAVEPOINT".to_string())
    }

    /// RELEASE: removes the savepoint and all later ones, and keeps the changes since.
    pub(crate) fn release(&mut self, name: &str) -> EngineResult<String> {
        let open = self.explicit_block("RELEASE SAVEPOINT")?;
        let at = open.savepoints.position(name)?;
        open.savepoints.0.truncate(at);
        if open.savepoints.is_empty() {
            open.borrow()?.release_savepoints()?;
        }
        Ok("RELEASE".to_string())
    }

    /// ROLLBACK TO: undoes the changes since the savepoint and removes all later ones; a failed block continues.
    pub(crate) fn rollback_to(&mut self, name: &str) -> EngineResult<String> {
        let open = self.explicit_block("ROLLBACK TO SAVEPOINT")?;
        let at = open.savepoints.position(name)?;
        open.savepoints.0.truncate(at + 1);
        let mut txn = open.borrow()?;
        let Some(savepoint) = open.savepoints.0.last() else { return fail(Fault::InFailedTransaction) };
        let settings = savepoint.settings.clone();
        if let Err(error) = txn.rollback_to(savepoint.writes) {
            // After a failed rollback the writes are in an unknown state.
            drop(txn);
            open.txn = None;
            return Err(error.into());
        }
        open.deferred.go_back(savepoint.deferred.clone());
        match (&open.restarted, &savepoint.restarted) {
            (Some(restarted), Some(mark)) => restarted.go_back(mark),
            _ => open.restarted = None,
        }
        open.cursors.go_back(savepoint.cursors);
        open.advisory.go_back(savepoint.advisory);
        (open.failed, open.writing, open.broken) = (false, false, Arc::default());
        self.settings.go_back(settings)?;
        Ok("ROLLBACK".to_string())
    }

    fn explicit_block(&mut self, command: &'static str) -> EngineResult<&mut OpenBlock> {
        match &mut self.block {
            Block::Open(open) if !open.implicit => Ok(open),
            _ => fail(Fault::OutsideBlock { command }),
        }
    }
}
