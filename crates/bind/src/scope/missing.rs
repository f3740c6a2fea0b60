//! What to say about names that are not there.

use super::lookup::is_system;
use crate::binder::Binder;
use crate::error::{BindError, BindErrorKind};
use crate::tree::Span;

impl Binder<'_> {
    /// No column of that bare name is in sight.
    pub(super) fn missing_column(&self, name: &str, span: Span) -> BindError {
        if is_system(name) && self.scopes.iter().any(|scope| !scope.items.is_empty()) {
            return self.not_built("a system column");
        }
        BindError::new(BindErrorKind::UndefinedColumn { relation: None, name: name.to_owned() }, span)
    }

    /// No relation of that name is in sight; there may be one that cannot be named here.
    pub(super) fn missing_relation(&self, name: &str, span: Span) -> BindError {
        let known = || self.scopes.iter().rev().flat_map(|scope| &scope.known);
        if known().any(|(alias, _)| alias == name) {
            let kind = BindErrorKind::InvalidFromReference { name: name.to_owned() };
            return BindError::new(kind, span).with_hint(format!(
                "There is an entry for table \"{name}\", but it cannot be referenced from this part of the query."
            ));
        }
        if let Some((alias, _)) = known().find(|(_, table)| table.as_deref() == Some(name)) {
            let kind = BindErrorKind::InvalidFromReference { name: name.to_owned() };
            let hint = format!("Perhaps you meant to reference the table alias \"{alias}\".");
            return BindError::new(kind, span).with_hint(hint);
        }
        BindError::new(BindErrorKind::MissingFrom { name: name.to_owned() }, span)
    }
}
