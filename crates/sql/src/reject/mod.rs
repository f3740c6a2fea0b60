//! Refuses what the binder would silently ignore or misread, and what PostgreSQL does not have.
//!
//! Every struct of sqlparser that is checked is destructured by name, without `..` where the binder ignores fields: a
//! field that a new release of sqlparser adds does not compile until it is handled here.

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

/// A part of a statement that is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The error.
    pub(crate) kind: FaultKind,
    /// Its position.
    pub(crate) place: Place,
}

/// The position of a refused part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The location in the tree.
    At(Location),
    /// The first occurrence of these adjacent words in the statement: the tree has no location.
    Words(&'static [&'static str]),
}

/// The visitor, for a walk over a statement.
pub(crate) struct Rejecter;

/// Checks a whole statement.
pub(crate) fn check(statement: &crate::Statement) -> ControlFlow<Refusal> {
    walk::shared::statement(statement, &mut Rejecter)?;
    own_parts(statement)
}

/// Checks the parts of Bennu's own statements outside a SELECT: joins of FROM and USING, items of RETURNING.
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

/// Refuses a feature that Bennu does not have.
fn unsupported(feature: impl Into<String>, place: impl Into<Place>) -> Verdict {
    let kind = FaultKind::Unsupported { feature: feature.into(), hint: None };
    ControlFlow::Break(Refusal { kind, place: place.into() })
}

/// As [`unsupported`], with a hint.
fn unsupported_hint(feature: &str, hint: &'static str, place: impl Into<Place>) -> Verdict {
    let kind = FaultKind::Unsupported { feature: feature.to_owned(), hint: Some(hint) };
    ControlFlow::Break(Refusal { kind, place: place.into() })
}

/// Refuses syntax that sqlparser accepts and PostgreSQL does not.
fn invalid(message: &str, place: impl Into<Place>) -> Verdict {
    ControlFlow::Break(Refusal { kind: FaultKind::Invalid(message.to_owned()), place: place.into() })
}

/// Refuses a feature if the condition holds.
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
