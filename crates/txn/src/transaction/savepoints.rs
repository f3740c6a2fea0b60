//! Savepoints of a transaction, and aborting a statement.

use super::Transaction;
use crate::writes::{Savepoint, WriteSet};
use std::sync::Arc;
use store::StoreResult;

impl Transaction {
    /// Sets a savepoint after the writes and locks of the statements so far.
    ///
    /// # Errors
    /// As [`Self::end_statement`].
    pub fn savepoint(&mut self) -> StoreResult<Savepoint> {
        self.end_statement()?;
        let (steps, conditions, locks) = (self.undo.begin(), self.conditions.len(), self.locks.savepoint());
        Ok(Savepoint { steps, conditions, locks })
    }

    /// Undoes the writes after the savepoint, also of the present statement, and releases the locks acquired since.
    /// Later savepoints become invalid; this one stays valid.
    ///
    /// # Errors
    /// I/O failures; then the transaction can only be rolled back.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> StoreResult<()> {
        self.abort_statement();
        self.conditions.truncate(savepoint.conditions);
        self.undo.undo(Arc::make_mut(&mut self.before), savepoint.steps)?;
        // An unlocked table may change: a later write records its version again.
        for table in self.locks.rollback_to(savepoint.locks) {
            self.epochs.remove(&table);
        }
        Ok(())
    }

    /// Releases all savepoints. Locks are kept.
    ///
    /// # Errors
    /// As [`Self::end_statement`].
    pub fn release_savepoints(&mut self) -> StoreResult<()> {
        self.end_statement()?;
        self.undo.end();
        self.locks.release_savepoints();
        Ok(())
    }

    /// Discards the writes of the present statement. Its locks are kept.
    pub fn abort_statement(&mut self) {
        self.statement = WriteSet::default();
        self.aside = WriteSet::default();
        self.statement_file = None;
    }
}
