//! Names of outputs where PostgreSQL does not see them, or sees two: in HAVING, in ORDER BY.

use super::names::{self, ident_name};
use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use sql::ast::{Expr, GroupByExpr, Ident, OrderByExpr, Query, Select, SelectItem, SetExpr, Visit, Visitor};
use std::ops::ControlFlow;

/// An alias is no column of HAVING.
///
/// # Errors
/// 42703 for one that is asked for outside of aggregates and that nothing is grouped by.
pub(super) fn check_having(select: &Select, condition: &Expr, aggregates: &dyn Fn(&Expr) -> bool) -> QueryResult<()> {
    let aliases = select.projection.iter().filter_map(|item| match item {
        SelectItem::ExprWithAlias { expr, alias } if column_name(expr) != Some(ident_name(alias)) => {
            Some(ident_name(alias))
        }
        _ => None,
    });
    let grouped: Vec<String> = match &select.group_by {
        GroupByExpr::Expressions(by, _) => by.iter().filter_map(column_name).collect(),
        GroupByExpr::All(_) => return Ok(()),
    };
    let aliases: Vec<String> = aliases.filter(|alias| !grouped.contains(alias)).collect();
    match condition.visit(&mut Searcher { aliases: &aliases, aggregates, inside: 0 }) {
        ControlFlow::Break(name) => Err(QueryError::NoSuchColumn { relation: None, name, close: None }),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Looks for a name outside of aggregates and subqueries.
struct Searcher<'a> {
    aliases: &'a [String],
    aggregates: &'a dyn Fn(&Expr) -> bool,
    /// How deep in what is not looked at.
    inside: usize,
}

impl Visitor for Searcher<'_> {
    type Break = String;

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<String> {
        self.inside += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<String> {
        self.inside -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<String> {
        match expr {
            Expr::Identifier(name) if self.inside == 0 && self.aliases.contains(&ident_name(name)) => {
                return ControlFlow::Break(ident_name(name));
            }
            expr if (self.aggregates)(expr) => self.inside += 1,
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<String> {
        if (self.aggregates)(expr) {
            self.inside -= 1;
        }
        ControlFlow::Continue(())
    }
}

/// A name that stands alone in ORDER BY is an output's.
///
/// # Errors
/// 42702 where it is that of two that differ.
pub(super) fn check_order(query: &Query, by: &[OrderByExpr]) -> QueryResult<()> {
    let Some(select) = first_select(&query.body) else { return Ok(()) };
    for by in by {
        let Expr::Identifier(name) = &by.expr else { continue };
        let name = ident_name(name);
        let mut meant = select.projection.iter().filter_map(|item| output(item, &name));
        let Some(first) = meant.next() else { continue };
        if meant.any(|other| !alike(first, other)) {
            return Err(Refusal::AmbiguousName.because(format!("ORDER BY \"{name}\" is ambiguous")));
        }
    }
    Ok(())
}

/// The SELECT that names a query's outputs.
pub(super) fn first_select(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::SetOperation { left, .. } => first_select(left),
        SetExpr::Query(query) => first_select(&query.body),
        _ => None,
    }
}

/// The expression of an output of that name.
fn output<'a>(item: &'a SelectItem, name: &str) -> Option<&'a Expr> {
    let (expr, own) = match item {
        SelectItem::UnnamedExpr(expr) => (expr, names::column_name(expr)),
        SelectItem::ExprWithAlias { expr, alias } => (expr, ident_name(alias)),
        _ => return None,
    };
    (own == name).then_some(expr)
}

/// The name of a column, with or without its table's.
fn column_name(expr: &Expr) -> Option<String> {
    column(expr).map(ident_name)
}

fn column(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    }
}

/// May they be one value? `a` may be `t.a`.
fn alike(one: &Expr, other: &Expr) -> bool {
    let bare = |expr: &Expr| matches!(expr, Expr::Identifier(_));
    match (column_name(one), column_name(other)) {
        (Some(a), Some(b)) if bare(one) || bare(other) => a == b,
        _ => one == other,
    }
}
