//! Errors of the binder: SQLSTATE, message, and position.

use super::{EngineError, Report};
use crate::statement::Written;
use bind::{BindError, BindErrorKind};

impl EngineError {
    /// Converts an error of the binder in a tree that was parsed from `written`.
    pub(crate) fn of_bind(error: &BindError, written: &Written) -> Self {
        let report = Report {
            code: error.sqlstate(),
            message: error.to_string(),
            detail: error.detail(),
            hint: hint(error),
            position: written.position(error.span),
            ..Report::default()
        };
        Self { report: Box::new(report) }
    }
}

fn hint(error: &BindError) -> Option<String> {
    if let BindErrorKind::UndefinedFunction { name, .. } = error.kind.as_ref()
        && let Some(instead) = query::hint_for_missing_function(name)
    {
        return Some(instead.to_owned());
    }
    error.hint.as_ref().map(|hint| hint.clone().into_owned())
}
