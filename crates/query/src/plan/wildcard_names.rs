//! Columns that stand beside `t.*` in a query in FROM: `SELECT x FROM (SELECT t.*, u.x FROM t, u) AS s`.
//!
//! They are marked (see `names`), since `t.*` may have a column of that name, too. Who asks for the name from outside
//! means the marked one: with two of them PostgreSQL would call it ambiguous.

use super::names::{MARK, ident_name, shown};
use super::own_level::each_expr;
use sql::ast::{Expr, Ident, OrderByKind, Query, Select, SelectItem, SetExpr, TableAlias, TableFactor};

/// A marked column that a table in FROM has.
struct Marked {
    table: String,
    name: String,
    /// Its name with the mark.
    own: String,
}

/// Outputs of a query that are marked: their names without and with the mark.
type Outputs = Vec<(String, String)>;

/// Lets a SELECT's expressions name the marked columns of the queries in its FROM.
pub(super) fn follow(select: &mut Select) {
    let marked = in_from(select, &|_| None);
    rename(select, &marked);
}

/// Lets ORDER BY do so, and the body those of WITH.
pub(super) fn follow_query(query: &mut Query) {
    let Query { with, body, order_by, .. } = query;
    let SetExpr::Select(select) = body.as_mut() else { return };
    let with = with.as_ref().map(|with| with.cte_tables.as_slice()).unwrap_or_default();
    let defined = |name: &str| {
        let cte = with.iter().find(|cte| ident_name(&cte.alias.name) == name && cte.alias.columns.is_empty())?;
        Some(outputs(&cte.query))
    };
    let marked = in_from(select, &defined);
    if marked.is_empty() {
        return;
    }
    rename(select, &marked);
    let Some(OrderByKind::Expressions(by)) = order_by.as_mut().map(|order| &mut order.kind) else { return };
    let names: Vec<String> = select.projection.iter().filter_map(output).collect();
    for by in by {
        let is_output = matches!(&by.expr, Expr::Identifier(name) if names.contains(&ident_name(name)));
        if !is_output {
            each_expr(&mut by.expr, |expr| drop(follow_one(expr, &marked)));
        }
    }
}

/// The marked columns of the tables in FROM; `defined` knows those of WITH.
fn in_from(select: &Select, defined: &dyn Fn(&str) -> Option<Outputs>) -> Vec<Marked> {
    let mut all = Vec::new();
    let factors = select
        .from
        .iter()
        .flat_map(|table| std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)));
    for factor in factors {
        let (table, columns) = match factor {
            TableFactor::Derived { subquery, alias: Some(alias), .. } if alias.columns.is_empty() => {
                (ident_name(&alias.name), outputs(subquery))
            }
            TableFactor::Table { name, alias, args: None, .. } => {
                let [part] = name.0.as_slice() else { continue };
                let Some(name) = part.as_ident().map(ident_name) else { continue };
                let Some(columns) = defined(&name) else { continue };
                let Some(table) = alias_of(alias.as_ref(), name) else { continue };
                (table, columns)
            }
            _ => continue,
        };
        all.extend(columns.into_iter().map(|(name, own)| Marked { table: table.clone(), name, own }));
    }
    all
}

/// The name that a table has in a query; `None` if its columns have others.
fn alias_of(alias: Option<&TableAlias>, name: String) -> Option<String> {
    match alias {
        None => Some(name),
        Some(alias) => alias.columns.is_empty().then(|| ident_name(&alias.name)),
    }
}

/// The marked columns beside `t.*`, by their names: those that come once.
fn outputs(query: &Query) -> Outputs {
    let SetExpr::Select(select) = query.body.as_ref() else { return Vec::new() };
    let items = &select.projection;
    let beside = items.iter().any(|item| matches!(item, SelectItem::QualifiedWildcard(..)));
    if !beside || items.iter().any(|item| matches!(item, SelectItem::Wildcard(_))) {
        return Vec::new();
    }
    let names: Vec<String> = items.iter().filter_map(output).collect();
    let mut marked = Vec::new();
    for item in items {
        let SelectItem::ExprWithAlias { alias, .. } = item else { continue };
        let own = ident_name(alias);
        let name = shown(&own).to_owned();
        if own.contains(MARK) && names.iter().filter(|other| **other == name).count() == 1 {
            marked.push((name, own));
        }
    }
    marked
}

/// The name that an output shows.
fn output(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(shown(&ident_name(alias)).to_owned()),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(ident_name(name)),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => parts.last().map(ident_name),
        _ => None,
    }
}

fn rename(select: &mut Select, marked: &[Marked]) {
    if marked.is_empty() {
        return;
    }
    for item in &mut select.projection {
        // An output keeps the name that was asked for.
        if let SelectItem::UnnamedExpr(expr) = item
            && let Some(name) = follow_one(expr, marked)
        {
            let expr = std::mem::replace(expr, Expr::value(sql::ast::Value::Null));
            *item = SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', name) };
        }
    }
    each_expr(select, |expr| drop(follow_one(expr, marked)));
}

/// Puts the marked column's name where its own is asked for, and gives that.
fn follow_one(expr: &mut Expr, marked: &[Marked]) -> Option<String> {
    let found = match expr {
        Expr::Identifier(name) => {
            let asked = ident_name(name);
            let mut all = marked.iter().filter(|column| column.name == asked);
            let first = all.next()?;
            if all.next().is_some() {
                return None;
            }
            *name = Ident::with_quote('"', first.own.clone());
            first
        }
        Expr::CompoundIdentifier(parts) => {
            let [table, name] = parts.as_mut_slice() else { return None };
            let (of, asked) = (ident_name(table), ident_name(name));
            let found = marked.iter().find(|column| column.table == of && column.name == asked)?;
            *name = Ident::with_quote('"', found.own.clone());
            found
        }
        _ => return None,
    };
    Some(found.name.clone())
}
