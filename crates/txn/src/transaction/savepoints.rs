//! Savepoints of a transaction, and giving up a statement.

use super::Transaction;
use crate::writes::{Savepoint, WriteSet};
use std::sync::Arc;
use store::StoreResult;

impl Transaction {
    /// A point to go back to: what the statements so far wrote and locked.
    ///
    /// # Errors
    /// As [`Self::end_statement`].
    pub fn savepoint(&mut self) -> StoreResult<Savepoint> {
        self.end_statement()?;
        let (steps, conditions, locks) = (self.undo.begin(), self.conditions.len(), self.locks.savepoint());
        Ok(Savepoint { steps, conditions, locks })
    }

    /// Takes back what was written after the savepoint, also by the present statement, and gives back what was locked since.
    /// Savepoints made after it are no longer valid; this one is.
    ///
    /// # Errors
    /// I/O failures; the transaction can only be rolled back then.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> StoreResult<()> {
        self.abort_statement();
        self.conditions.truncate(savepoint.conditions);
        self.undo.undo(Arc::make_mut(&mut self.before), savepoint.steps)?;
        // Without its lock a table may change: who writes to it again knows it as it is then.
        for table in self.locks.rollback_to(savepoint.locks) {
            self.epochs.remove(&table);
        }
        Ok(())
    }

    /// No savepoint is needed any more. Locks stay.
    ///
    /// # Errors
    /// As [`Self::end_statement`].
    pub fn release_savepoints(&mut self) -> StoreResult<()> {
        self.end_statement()?;
        self.undo.end();
        self.locks.release_savepoints();
        Ok(())
    }

    /// Forgets what the present statement wrote. Its locks stay.
    pub fn abort_statement(&mut self) {
        self.statement = WriteSet::default();
        self.aside = WriteSet::default();
        self.statement_file = None;
    }
}
