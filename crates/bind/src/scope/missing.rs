//! Errors and hints for names that do not exist.

use crate::binder::Binder;
use crate::error::{BindError, BindErrorKind};
use crate::scope::ScopeItem;
use crate::tree::Span;

impl Binder<'_> {
    /// Returns the error for an unqualified column that is not in scope.
    pub(super) fn missing_column(&self, name: &str, span: Span) -> BindError {
        let items = self.scopes.iter().rev().flat_map(|scope| &scope.items);
        let names: Vec<&str> = items.flat_map(|item| self.names_of(item)).collect();
        let kind = BindErrorKind::UndefinedColumn { relation: None, name: name.to_owned() };
        with_close_column(BindError::new(kind, span), name, names.into_iter())
    }

    /// Returns the error for a column that a relation does not have.
    pub(super) fn missing_column_of(
        &self,
        item: &ScopeItem,
        relation: Option<String>,
        name: String,
        span: Span,
    ) -> BindError {
        let error = BindError::new(BindErrorKind::UndefinedColumn { relation, name: name.clone() }, span);
        with_close_column(error, &name, self.names_of(item))
    }

    fn names_of<'s>(&'s self, item: &'s ScopeItem) -> impl Iterator<Item = &'s str> {
        (0..self.width(item)).filter_map(move |at| self.column_name(item, at))
    }

    /// Returns the error for a relation that does not exist.
    pub(crate) fn missing_table(&self, names: &[String], span: Span) -> BindError {
        let error = BindError::new(BindErrorKind::UndefinedTable { name: names.join(".") }, span);
        let known = self.relations.table_names();
        match names.last().and_then(|name| types::close_name(name, known.iter().map(String::as_str))) {
            Some(close) => error.with_hint(format!("Perhaps you meant to reference the table \"{close}\".")),
            None => error,
        }
    }

    /// Returns the error for a qualifier that is not in scope; a hint says if its relation cannot be referenced here.
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

fn with_close_column<'n>(error: BindError, name: &str, names: impl Iterator<Item = &'n str>) -> BindError {
    match types::close_name(name, names) {
        Some(close) => error.with_hint(format!("Perhaps you meant to reference the column \"{close}\".")),
        None => error,
    }
}
