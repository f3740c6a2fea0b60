//! Errors of the binder: their SQLSTATE, their words, and the place that each names itself.

use super::{EngineError, Report};
use crate::statement::Source;
use bind::{BindError, BindErrorKind};

impl EngineError {
    /// What the binder found wrong with a statement.
    pub(crate) fn of_bind(error: &BindError, source: &Source) -> Self {
        let report = Report {
            code: error.sqlstate(),
            message: error.to_string(),
            detail: error.detail(),
            hint: hint(error),
            position: position(error, source),
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

/// The character, from 1, at which the error stands in the text that the client sent.
fn position(error: &BindError, source: &Source) -> Option<usize> {
    if error.span.is_empty() {
        return None;
    }
    let before = source.text.get(..usize::try_from(error.span.start).ok()?)?;
    Some(source.before + before.chars().count() + 1)
}
