//! Output names that hide columns: `SELECT -k AS k FROM t ORDER BY t.k`.
//!
//! In ORDER BY a name that stands alone is an output's, and any other name a column's. The planner takes an output's
//! wherever there is one, and has no place for a column and an output of one name. So an output that would stand in
//! the way gets a mark, which [`super::names::shown`] takes off; inside other queries, that know it by its name, it
//! gets the name back from a query around it.

use super::names::{MARK, ident_name, shown};
use super::own_level::each_expr;
use super::set_functions::parse;
use sql::ast::{Expr, Ident, OrderByKind, Query, Select, SelectItem, SetExpr, TableAliasColumnDef, TableFactor};
use std::collections::HashSet;

/// Marks the outputs of a query that hide columns. `top`: is it the statement itself?
pub(super) fn unhide(query: &mut Query, top: bool) {
    let meant = columns_of_order(query);
    let SetExpr::Select(select) = query.body.as_mut() else { return };
    let wildcard = select.projection.iter().any(is_wildcard);
    // Behind `*` may be anything; what others know a column of an inner query by stays.
    let in_the_way = |name: &str| meant.contains(name) || (wildcard && top);
    let mut marked = Vec::new();
    for (number, item) in select.projection.iter_mut().enumerate() {
        let SelectItem::ExprWithAlias { alias, .. } = item else { continue };
        let name = ident_name(alias);
        if !name.contains(MARK) && in_the_way(&name) {
            *alias = Ident::with_quote('"', format!("{name}{MARK}h{number}"));
            marked.push((name, alias.clone()));
        }
    }
    if marked.is_empty() {
        return;
    }
    follow(query, &marked);
    if !top && !wildcard {
        wrap(query);
    }
}

fn is_wildcard(item: &SelectItem) -> bool {
    matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..))
}

/// Names in ORDER BY that are columns': all but those that stand alone.
fn columns_of_order(query: &mut Query) -> HashSet<String> {
    let mut meant = HashSet::new();
    let Some(OrderByKind::Expressions(by)) = query.order_by.as_mut().map(|order| &mut order.kind) else { return meant };
    for by in by.iter_mut().filter(|by| !matches!(by.expr, Expr::Identifier(_))) {
        each_expr(&mut by.expr, |expr| {
            let name = match expr {
                Expr::Identifier(name) => Some(&*name),
                Expr::CompoundIdentifier(parts) => parts.last(),
                _ => None,
            };
            meant.extend(name.map(ident_name));
        });
    }
    meant
}

/// Lets names that stand alone in ORDER BY follow their outputs.
fn follow(query: &mut Query, marked: &[(String, Ident)]) {
    let Some(OrderByKind::Expressions(by)) = query.order_by.as_mut().map(|order| &mut order.kind) else { return };
    for by in by {
        if let Expr::Identifier(name) = &mut by.expr {
            let found = marked.iter().find(|(old, _)| *old == ident_name(name));
            if let Some((_, new)) = found {
                *name = new.clone();
            }
        }
    }
}

/// `SELECT * FROM (query) AS _q(names)`, with the names as they are shown.
fn wrap(query: &mut Query) {
    let SetExpr::Select(select) = query.body.as_ref() else { return };
    let Some(names) = output_names(select) else { return };
    let Some(mut outer) = parse("SELECT * FROM (SELECT 1) AS _q") else { return };
    let SetExpr::Select(around) = outer.body.as_mut() else { return };
    let Some(TableFactor::Derived { subquery, alias: Some(alias), .. }) =
        around.from.first_mut().map(|from| &mut from.relation)
    else {
        return;
    };
    alias.columns = names.into_iter().map(|name| TableAliasColumnDef { name, data_type: None }).collect();
    let with = query.with.take();
    std::mem::swap(subquery.as_mut(), query);
    *query = *outer;
    query.with = with;
}

fn output_names(select: &Select) -> Option<Vec<Ident>> {
    let name = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(Ident::with_quote('"', shown(&ident_name(alias)))),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(name.clone()),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => parts.last().cloned(),
        _ => None,
    };
    let names: Option<Vec<Ident>> = select.projection.iter().map(name).collect();
    let names = names?;
    let distinct: HashSet<String> = names.iter().map(ident_name).collect();
    (distinct.len() == names.len()).then_some(names)
}
