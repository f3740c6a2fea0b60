//! Refuses what the binder would silently ignore or get wrong, and what PostgreSQL does not have.
//!
//! Every struct of sqlparser that is looked at is taken apart by name, without `..` where the binder ignores
//! fields: a field that a new sqlparser brings does not compile until somebody has decided about it.

mod expr;
mod from;
mod name;
mod query;
mod select;

use crate::parser::FaultKind;
use crate::statement::walk;
use sqlparser::ast::{Expr, Query, Select, SelectItem, Statement, TableFactor, TableWithJoins, Visitor};
use sqlparser::tokenizer::{Location, Span};
use std::ops::ControlFlow;

/// What is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// Why.
    pub(crate) kind: FaultKind,
    /// Where.
    pub(crate) place: Place,
}

/// Where a refused thing stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Where the tree says.
    At(Location),
    /// At the first of these words in the statement that stand side by side: the tree does not say.
    Words(&'static [&'static str]),
}

/// The visitor: hand it to a walk over a statement.
pub(crate) struct Rejecter;

/// Looks at a whole statement.
pub(crate) fn check(statement: &crate::Statement) -> ControlFlow<Refusal> {
    walk::shared::statement(statement, &mut Rejecter)?;
    own_parts(statement)
}

/// What stands in our own statements and not inside a SELECT: joins of FROM and USING, items of RETURNING.
fn own_parts(statement: &crate::Statement) -> Verdict {
    use crate::Statement as S;
    let (tables, items): (&[TableWithJoins], &[SelectItem]) = match statement {
        S::Insert(it) => (&[], &it.returning),
        S::Update(it) => (&it.from, &it.returning),
        S::Delete(it) => (&it.using, &it.returning),
        S::Explain(it) => return own_parts(&it.statement),
        S::Prepare { statement, .. } => return own_parts(statement),
        _ => (&[], &[]),
    };
    tables.iter().try_for_each(from::check_joins)?;
    items.iter().try_for_each(select::check_item)
}

type Verdict = ControlFlow<Refusal>;

impl Visitor for Rejecter {
    type Break = Refusal;

    fn pre_visit_query(&mut self, query: &Query) -> Verdict {
        query::check(query)
    }

    fn pre_visit_select(&mut self, select: &Select) -> Verdict {
        select::check(select)
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Verdict {
        from::check(factor)
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Verdict {
        expr::check(expr)
    }

    fn pre_visit_statement(&mut self, _: &Statement) -> Verdict {
        unsupported("INSERT, UPDATE, DELETE or MERGE inside a query", Place::Words(&["WITH"]))
    }
}

/// Not built.
fn unsupported(feature: impl Into<String>, place: impl Into<Place>) -> Verdict {
    let kind = FaultKind::Unsupported { feature: feature.into(), hint: None };
    ControlFlow::Break(Refusal { kind, place: place.into() })
}

/// Not built, with advice.
fn unsupported_hint(feature: &str, hint: &'static str, place: impl Into<Place>) -> Verdict {
    let kind = FaultKind::Unsupported { feature: feature.to_owned(), hint: Some(hint) };
    ControlFlow::Break(Refusal { kind, place: place.into() })
}

/// Not SQL as PostgreSQL knows it, though sqlparser reads it.
fn invalid(message: &str, place: impl Into<Place>) -> Verdict {
    ControlFlow::Break(Refusal { kind: FaultKind::Invalid(message.to_owned()), place: place.into() })
}

/// Refuses when the condition holds.
fn refuse_if(condition: bool, feature: &str, place: impl Into<Place>) -> Verdict {
    if condition { unsupported(feature, place) } else { ControlFlow::Continue(()) }
}

impl From<Span> for Place {
    fn from(span: Span) -> Self {
        Self::At(span.start)
    }
}

impl From<&'static [&'static str]> for Place {
    fn from(words: &'static [&'static str]) -> Self {
        Self::Words(words)
    }
}
