//! Where a stored query names relations, so that it can follow when one of them gets another name.
//!
//! ```text
//!   relation_names ──> spans of the relation ──change_references──> query with the new name ──printed──> catalog
//! ```
//! Names are those that the binder resolved, so that a CTE or an alias of the same name is another one.

use crate::binder::Binder;
use crate::error::BindError;
use crate::name::parts;
use crate::position::Lines;
use crate::relations::{Environment, Found, Relations};
use crate::tree::Span;
use catalog::TableOid;
use sql::ast;
use std::ops::ControlFlow;

/// A relation of FROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedRelation {
    /// Its name in the text.
    pub span: Span,
    /// The relation.
    pub relation: TableOid,
}

/// Returns the tables and views that a query names in FROM.
///
/// # Errors
/// As [`crate::bind`].
pub fn relation_names(
    statement: &sql::Statement,
    relations: &dyn Relations,
    env: &Environment<'_>,
) -> Result<Vec<NamedRelation>, BindError> {
    let mut binder = Binder::new(relations, env, &[]);
    binder.named = Some(Vec::new());
    binder.statement(statement)?;
    Ok(binder.named.unwrap_or_default())
}

/// Applies `change` to the items of FROM with these names; `text` is the text of the query.
pub fn change_references(
    query: &mut ast::Query,
    text: &str,
    names: &[NamedRelation],
    change: &mut dyn FnMut(&mut ast::TableFactor),
) {
    let lines = Lines::new(text);
    let _ = ast::VisitMut::visit(query, &mut References { lines, names, change });
}

struct References<'a> {
    lines: Lines<'a>,
    names: &'a [NamedRelation],
    change: &'a mut dyn FnMut(&mut ast::TableFactor),
}

impl ast::VisitorMut for References<'_> {
    type Break = ();

    /// After the parts of an item, so that the parts of its replacement are not visited.
    fn post_visit_table_factor(&mut self, factor: &mut ast::TableFactor) -> ControlFlow<()> {
        let ast::TableFactor::Table { name, .. } = &*factor else { return ControlFlow::Continue(()) };
        let idents = parts(name).unwrap_or_default();
        let span = idents.iter().fold(Span::default(), |all, ident| all.with(self.lines.span(ident.span)));
        if !span.is_empty() && self.names.iter().any(|named| named.span == span) {
            (self.change)(factor);
        }
        ControlFlow::Continue(())
    }
}

impl Binder<'_> {
    /// Notes a relation of FROM. Relations within views have no spans.
    pub(crate) fn note_name(&mut self, found: Option<&Found>, span: Span) {
        if let Some(named) = &mut self.named
            && !span.is_empty()
            && let Some(relation) = found.and_then(Found::oid)
        {
            named.push(NamedRelation { span, relation });
        }
    }
}
