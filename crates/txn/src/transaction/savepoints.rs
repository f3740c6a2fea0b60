//! Savepoints of a transaction, and giving up a statement.

use super::Transaction;
use crate::writes::{Savepoint, WriteSet};
use std::sync::Arc;
use store::StoreResult;

impl Transaction {
    /// A point to go back to: what the statements so far wrote.
    ///
    /// # Errors
    /// As [`Self::end_statement`].
    pub fn savepoint(&mut self) -> StoreResult<Savepoint> {
        self.end_statement()?;
        Ok(Savepoint { steps: self.undo.begin(), conditions: self.conditions.len() })
    }

    /// Takes back what was written after the savepoint, also by the present statement. Locks stay. Savepoints
    /// made after it are no longer valid; this one is.
    ///
    /// # Errors
    /// I/O failures; the transaction can only be rolled back then.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> StoreResult<()> {
        self.abort_statement();
        self.conditions.truncate(savepoint.conditions);
        self.undo.undo(Arc::make_mut(&mut self.before), savepoint.steps)
    }

    /// No savepoint is needed any more.
    ///
    /// # Errors
    /// As [`Self::end_statement`].
    pub fn release_savepoints(&mut self) -> StoreResult<()> {
        self.end_statement()?;
        self.undo.end();
        Ok(())
    }

    /// Forgets what the present statement wrote. Its locks stay.
    pub fn abort_statement(&mut self) {
        self.statement = WriteSet::default();
        self.aside = WriteSet::default();
        self.statement_file = None;
    }
}
