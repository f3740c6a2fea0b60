//! The public error: a message and its SQLSTATE.

use std::fmt;

/// Why a call failed. `Display` is one line; the rest is in the accessors.
#[derive(Debug)]
#[non_exhaustive]
pub struct Error {
    /// Boxed, so that results stay small on the paths that do not fail.
    report: Box<Report>,
}

#[derive(Debug)]
struct Report {
    code: &'static str,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
    position: Option<usize>,
    context: Option<String>,
}

impl Error {
    /// The SQLSTATE, five characters.
    pub fn code(&self) -> &str {
        self.report.code
    }

    /// The primary message, one line.
    pub fn message(&self) -> &str {
        &self.report.message
    }

    /// The detail message.
    pub fn detail(&self) -> Option<&str> {
        self.report.detail.as_deref()
    }

    /// A suggestion how to fix the problem.
    pub fn hint(&self) -> Option<&str> {
        self.report.hint.as_deref()
    }

    /// Position in the statement, in characters from 1.
    pub fn position(&self) -> Option<usize> {
        self.report.position
    }

    /// Context of an error outside of the statement's text: `COPY t, line 3`, `append to t, row 7`.
    pub fn context(&self) -> Option<&str> {
        self.report.context.as_deref()
    }

    /// Returns whether the same transaction may succeed when it is retried: 40001 (serialization failure) and 40P01
    /// (deadlock).
    pub fn is_retryable(&self) -> bool {
        matches!(self.report.code, "40001" | "40P01")
    }

    pub(crate) fn new(code: &'static str, message: String) -> Self {
        let report = Report { code, message, detail: None, hint: None, position: None, context: None };
        Self { report: Box::new(report) }
    }

    pub(crate) fn io(action: &str, error: &std::io::Error) -> Self {
        Self::new("58030", format!("{action}: {error}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report.message)
    }
}

impl std::error::Error for Error {}

impl From<engine::EngineError> for Error {
    fn from(error: engine::EngineError) -> Self {
        let report = Report {
            code: error.code(),
            message: error.message().to_string(),
            detail: error.detail().map(Into::into),
            hint: error.hint().map(Into::into),
            position: error.position(),
            context: error.context().map(Into::into),
        };
        Self { report: Box::new(report) }
    }
}

impl From<store::StoreError> for Error {
    fn from(error: store::StoreError) -> Self {
        engine::EngineError::from(error).into()
    }
}
