//! Errors as front ends report them: a message, a SQLSTATE, and the further fields of PostgreSQL's ErrorResponse.

mod bind_error;
mod client_fault;
mod crate_codes;
mod fault;
mod sqlstate;

pub use client_fault::ClientFault;
pub(crate) use fault::{BrokenReference, Fault};

use std::fmt;
use store::{Bytes, TableId};

/// The error of a failed statement. The session continues.
#[derive(Clone)]
pub struct EngineError {
    /// Boxed, so that results stay small on the paths that do not fail.
    report: Box<Report>,
}

/// All fields that are sent to the client.
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
    /// The duplicate key, as `(columns)=(values)`.
    duplicate: Option<String>,
    /// The row of a failed condition or load, until code that knows the table converts the error.
    conflict: Option<(TableId, Bytes)>,
}

/// Result of an engine call.
pub(crate) type EngineResult<T> = Result<T, EngineError>;

impl EngineError {
    /// SQLSTATE.
    pub fn code(&self) -> &'static str {
        self.report.code
    }

    /// The message, one line.
    pub fn message(&self) -> &str {
        &self.report.message
    }

    /// The detail.
    pub fn detail(&self) -> Option<&str> {
        self.report.detail.as_deref()
    }

    /// The hint.
    pub fn hint(&self) -> Option<&str> {
        self.report.hint.as_deref()
    }

    /// Position in the statement's text, in characters from 1.
    pub fn position(&self) -> Option<usize> {
        self.report.position
    }

    /// Context in the data: the line and column of a COPY.
    pub fn context(&self) -> Option<&str> {
        self.report.context.as_deref()
    }

    /// Schema of the affected table.
    pub fn schema(&self) -> Option<&str> {
        self.report.schema.as_deref()
    }

    /// The affected table.
    pub fn table(&self) -> Option<&str> {
        self.report.table.as_deref()
    }

    /// The affected column.
    pub fn column(&self) -> Option<&str> {
        self.report.column.as_deref()
    }

    /// The affected constraint.
    pub fn constraint(&self) -> Option<&str> {
        self.report.constraint.as_deref()
    }

    /// Name of the PostgreSQL function that raises this error, if clients recognize the error by it.
    pub fn routine(&self) -> Option<&str> {
        self.report.routine
    }

    /// A feature that is not supported (0A000), for errors of front ends.
    pub fn unsupported(feature: impl Into<String>) -> Self {
        Fault::Unsupported { feature: feature.into() }.into()
    }

    /// Rewords a duplicate key error for rows that violate a new unique index.
    pub(crate) fn for_new_unique_index(mut self) -> Self {
        if let (Some(key), Some(constraint)) = (self.report.duplicate.take(), self.report.constraint.as_deref()) {
            self.report.message = format!("could not create unique index \"{constraint}\"");
            self.report.detail = Some(format!("Key {key} is duplicated."));
        }
        self
    }

    /// Sets the context line.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.report.context = Some(context.into());
        self
    }

    /// Sets the position in the statement's text, if it is known.
    #[must_use]
    pub(crate) fn at(mut self, position: Option<usize>) -> Self {
        self.report.position = position.or(self.report.position);
        self
    }

    /// Sets the hint.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.report.hint = Some(hint.into());
        self
    }

    /// Whether it is a deadlock (40P01) or a serialization failure (40001): nothing was written, and the statement
    /// may succeed when it runs again.
    pub(crate) fn is_retryable(&self) -> bool {
        matches!(self.code(), "40P01" | "40001")
    }

    /// Whether a table does not exist, by its name or in the store.
    pub(crate) fn is_undefined_table(&self) -> bool {
        self.code() == "42P01"
    }

    /// Whether the object is of another kind than the statement requires.
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

/// Returns one of the engine's own errors.
pub(crate) fn fail<T>(fault: Fault) -> EngineResult<T> {
    Err(fault.into())
}
