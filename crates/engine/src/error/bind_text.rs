//! Errors of the binder in texts that are no statement's: a definition's expressions.

use super::{EngineError, Report};
use bind::{BindError, BindErrorKind};

impl EngineError {
    /// What the binder found wrong with an expression of a definition. Whoever has the statement finds the wrong name in it.
    pub(crate) fn of_bind_text(error: &BindError) -> Self {
        let named = match error.kind.as_ref() {
            BindErrorKind::UndefinedColumn { relation: Some(relation), name } => Some(format!("{relation}.{name}")),
            BindErrorKind::UndefinedColumn { relation: None, name }
            | BindErrorKind::AmbiguousColumn { name }
            | BindErrorKind::MissingFrom { name } => Some(name.clone()),
            _ => None,
        };
        let report = Report {
            code: error.sqlstate(),
            message: error.to_string(),
            detail: error.detail(),
            hint: error.hint.as_ref().map(|hint| hint.clone().into_owned()),
            named,
            ..Report::default()
        };
        Self { report: Box::new(report) }
    }
}
