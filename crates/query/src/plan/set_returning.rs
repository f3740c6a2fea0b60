//! Functions in FROM that have a row for each element of an array or series.
//!
//! `unnest(a, b) AS t (x, y)` becomes `LATERAL (SELECT unnest(a) AS x, unnest(b) AS y) AS t`, and so does
//! `generate_series(1, o.n)`, whose array has the name of the function that makes it. A series between constants stays
//! what it is: the planner counts it without an array.

use super::rewrite::{call, subscripts_of};
use sql::ast::{
    Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, Query, SelectItem, SetExpr, TableAlias, TableFactor, Visit,
    Visitor,
};
use std::ops::ControlFlow;

/// Rewrites a table factor that is such a function and depends on columns.
pub(super) fn rewrite(factor: &mut TableFactor) {
    name_lateral_columns(factor);
    let Some((name, arrays, alias)) = arrays_of(factor) else { return };
    let names = column_names(&name, arrays.len(), alias.as_ref());
    let Some(mut subquery) = empty_query() else { return };
    let SetExpr::Select(select) = subquery.body.as_mut() else { return };
    let items = arrays.into_iter().zip(names);
    select.projection =
        items.map(|(array, alias)| SelectItem::ExprWithAlias { expr: call("unnest", vec![array]), alias }).collect();
    let alias = alias.map_or_else(|| Ident::new(name), |alias| alias.name);
    let alias = Some(TableAlias { explicit: true, name: alias, columns: Vec::new(), at: None });
    *factor = TableFactor::Derived { lateral: true, subquery, alias, sample: None };
}

/// Does an expression read columns?
pub(super) fn has_column(expr: &Expr) -> bool {
    expr.visit(&mut Columns).is_break()
}

struct Columns;

impl Visitor for Columns {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// The function's name, its arrays and its alias.
fn arrays_of(factor: &TableFactor) -> Option<(String, Vec<Expr>, Option<TableAlias>)> {
    match factor {
        TableFactor::UNNEST { alias, array_exprs, with_offset: false, with_ordinality: false, .. } => {
            Some(("unnest".to_owned(), array_exprs.clone(), alias.clone()))
        }
        TableFactor::Table { name, args: Some(args), alias, with_ordinality: false, .. } => {
            let arguments = args.args.iter().map(argument).collect::<Option<Vec<_>>>()?;
            let name = function_name(name)?;
            match name.as_str() {
                "unnest" => Some((name, arguments, alias.clone())),
                "generate_series" if arguments.iter().any(has_column) => {
                    let series = call("generate_series", arguments);
                    Some((name, vec![series], alias.clone()))
                }
                "generate_subscripts" if arguments.iter().any(has_column) => {
                    Some((name, vec![subscripts_of(&arguments)?], alias.clone()))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn function_name(name: &ObjectName) -> Option<String> {
    let parts: Vec<String> =
        name.0.iter().map(|part| part.as_ident().map(|part| types::ident::fold(&part.value))).collect::<Option<_>>()?;
    match parts.as_slice() {
        [name] => Some(name.clone()),
        [schema, name] if schema == "pg_catalog" => Some(name.clone()),
        _ => None,
    }
}

fn argument(argument: &FunctionArg) -> Option<Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    }
}

/// As the alias says; the only column of a function has the function's alias, or its name.
fn column_names(function: &str, count: usize, alias: Option<&TableAlias>) -> Vec<Ident> {
    let named = alias.map(|alias| alias.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>());
    let mut names = named.unwrap_or_default();
    let rest = match alias {
        Some(alias) if count == 1 => alias.name.clone(),
        _ => Ident::new(function),
    };
    for place in names.len()..count {
        let name = if place == 0 { rest.clone() } else { Ident::new(format!("{}\u{1}{place}", rest.value)) };
        names.push(name);
    }
    names
}

/// A query to be filled.
fn empty_query() -> Option<Box<Query>> {
    let parsed = sql::parse("SELECT NULL").ok()?;
    match parsed.into_iter().next()?.statement {
        sql::Statement::Query(query) => Some(query),
        _ => None,
    }
}

/// `LATERAL (SELECT o.id) AS l` has a column `id`, also where `o` is outside.
fn name_lateral_columns(factor: &mut TableFactor) {
    let TableFactor::Derived { lateral: true, subquery, .. } = factor else { return };
    let SetExpr::Select(select) = subquery.body.as_mut() else { return };
    for item in &mut select.projection {
        let SelectItem::UnnamedExpr(expr) = &*item else { continue };
        let name = match expr {
            Expr::Identifier(name) => Some(name.clone()),
            Expr::CompoundIdentifier(parts) => parts.last().cloned(),
            _ => None,
        };
        if let Some(alias) = name {
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
        }
    }
}
