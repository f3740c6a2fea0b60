//! What front ends see of a failure: one line, a SQLSTATE, and what PostgreSQL would add to it.

mod bind_error;
mod client_fault;
mod crate_codes;
mod fault;
mod sqlstate;

pub use client_fault::ClientFault;
pub(crate) use fault::{BrokenReference, Fault};

use std::fmt;
use store::{Bytes, TableId};

/// A failed statement. The session goes on.
#[derive(Clone)]
pub struct EngineError {
    /// Boxed, so that results stay small on the paths that do not fail.
    report: Box<Report>,
}

/// All that is told to the client.
#[derive(Clone, Debug, Default)]
struct Report {
    code: &'static str,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
    position: Option<usize>,
    context: Option<String>,
    schema: Option<String>,
    table: Option<String>,
    column: Option<String>,
    constraint: Option<String>,
    routine: Option<&'static str>,
    /// The key that two rows have, as `(columns)=(values)`.
    duplicate: Option<String>,
    /// The row that a condition or load failed on, until somebody who knows the table says it in words.
    conflict: Option<(TableId, Bytes)>,
}

/// Result of an engine call.
pub(crate) type EngineResult<T> = Result<T, EngineError>;

impl EngineError {
    /// SQLSTATE.
    pub fn code(&self) -> &'static str {
        self.report.code
    }

    /// One line for a person.
    pub fn message(&self) -> &str {
        &self.report.message
    }

    /// More about it.
    pub fn detail(&self) -> Option<&str> {
        self.report.detail.as_deref()
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        self.report.hint.as_deref()
    }

    /// Where in the statement's text, in characters from 1.
    pub fn position(&self) -> Option<usize> {
        self.report.position
    }

    /// Where in the data: the line and column of a COPY.
    pub fn context(&self) -> Option<&str> {
        self.report.context.as_deref()
    }

    /// Schema of the table concerned.
    pub fn schema(&self) -> Option<&str> {
        self.report.schema.as_deref()
    }

    /// The table concerned.
    pub fn table(&self) -> Option<&str> {
        self.report.table.as_deref()
    }

    /// The column concerned.
    pub fn column(&self) -> Option<&str> {
        self.report.column.as_deref()
    }

    /// The constraint concerned.
    pub fn constraint(&self) -> Option<&str> {
        self.report.constraint.as_deref()
    }

    /// The function of PostgreSQL's that raises this error, where clients tell errors apart by it.
    pub fn routine(&self) -> Option<&str> {
        self.report.routine
    }

    /// A feature that is not built (0A000), for what a front end refuses itself.
    pub fn unsupported(feature: impl Into<String>) -> Self {
        Fault::Unsupported { feature: feature.into() }.into()
    }

    /// A duplicate key among rows that are to get that key.
    pub(crate) fn of_new_key(mut self) -> Self {
        if let (Some(key), Some(constraint)) = (self.report.duplicate.take(), self.report.constraint.as_deref()) {
            self.report.message = format!("could not create unique index \"{constraint}\"");
            self.report.detail = Some(format!("Key {key} is duplicated."));
        }
        self
    }

    /// The same with a context line.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.report.context = Some(context.into());
        self
    }

    /// The same at a place of the statement's text, if it is known.
    #[must_use]
    pub(crate) fn at(mut self, position: Option<usize>) -> Self {
        self.report.position = position.or(self.report.position);
        self
    }

    /// The same with a hint.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.report.hint = Some(hint.into());
        self
    }

    /// A deadlock (40P01) or a serialization failure (40001): nothing was written, and the statement may succeed when it
    /// runs again.
    pub(crate) fn is_retryable(&self) -> bool {
        matches!(self.code(), "40P01" | "40001")
    }

    /// A table is not there, for names or for the store?
    pub(crate) fn is_undefined_table(&self) -> bool {
        self.code() == "42P01"
    }

    /// Is a name that of another kind of object than the statement is about?
    pub(crate) fn is_wrong_object_type(&self) -> bool {
        self.code() == "42809"
    }

    pub(crate) fn conflict(&self) -> Option<&(TableId, Bytes)> {
        self.report.conflict.as_ref()
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report.message)
    }
}

impl fmt::Debug for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.report.code, self.report.message)?;
        let parts = [("detail", &self.report.detail), ("hint", &self.report.hint), ("context", &self.report.context)];
        for (name, text) in parts {
            if let Some(text) = text {
                write!(f, "; {name}: {text}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for EngineError {}

/// Returns early with one of the engine's own faults.
pub(crate) fn fail<T>(fault: Fault) -> EngineResult<T> {
    Err(fault.into())
}
