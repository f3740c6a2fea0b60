//! Errors of the binder in texts that are no statement's: a definition's expressions.

use super::{EngineError, Report};
use bind::BindError;

impl EngineError {
    /// What the binder found wrong with an expression of a definition, of which no client has the text.
    pub(crate) fn of_bind_text(error: &BindError) -> Self {
        let report = Report {
            code: error.sqlstate(),
            message: error.to_string(),
            detail: error.detail(),
            hint: error.hint.as_ref().map(|hint| hint.clone().into_owned()),
            ..Report::default()
        };
        Self { report: Box::new(report) }
    }
}
