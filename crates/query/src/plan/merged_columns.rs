//! Columns that `JOIN … USING` merges, named without their table.
//!
//! The planner takes the left side's column for the merged one. That is so after an inner or left join; after a right
//! join it is the right side's, and after a full join whichever is not NULL:
//!
//! ```text
//!   SELECT id, * FROM a FULL JOIN b USING (id)
//!   SELECT coalesce(a.id, b.id) AS id, coalesce(a.id, b.id) AS id, a.* EXCLUDE (id), b.* EXCLUDE (id) FROM a FULL JOIN b USING (id)
//! ```

use super::names::ident_name;
use super::own_level::each_expr;
use super::rewrite::call;
use crate::error::{QueryError, QueryResult};
use sql::ast::{
    BinaryOperator, ExcludeSelectItem, Expr, Ident, JoinConstraint, JoinOperator, ObjectName, OrderByExpr, OrderByKind,
    Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableFactor, TableWithJoins,
};

/// Says in a query's SELECT what merged columns are.
///
/// # Errors
/// [`QueryError::Unsupported`] where that cannot be told.
pub(super) fn rewrite(query: &mut Query) -> QueryResult<()> {
    let Query { body, order_by, .. } = query;
    let mut by = match order_by.as_mut().map(|order| &mut order.kind) {
        Some(OrderByKind::Expressions(by)) => by.as_mut_slice(),
        _ => &mut [],
    };
    let mut rest = vec![body.as_mut()];
    while let Some(body) = rest.pop() {
        match body {
            SetExpr::SetOperation { left, right, .. } => {
                by = &mut [];
                rest.extend([left.as_mut(), right.as_mut()]);
            }
            SetExpr::Select(select) => rewrite_select(select, std::mem::take(&mut by))?,
            _ => {}
        }
    }
    Ok(())
}

/// A merged column: its name and what it is.
type Merged = Vec<(Ident, Expr)>;

#[derive(Default)]
struct Joins {
    merged: Merged,
    /// Does a right or full join merge columns?
    outer: bool,
    /// Do all joins merge the same columns?
    uniform: bool,
    /// What columns are qualified with, table by table.
    tables: Vec<Vec<Ident>>,
}

fn rewrite_select(select: &mut Select, by: &mut [OrderByExpr]) -> QueryResult<()> {
    let mut all = Joins { uniform: select.from.len() == 1, ..Joins::default() };
    for table in &mut select.from {
        collect(table, &mut all)?;
    }
    if all.merged.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = select.projection.iter().filter_map(output_name).collect();
    // The planner would leave out the merged column of whichever table's name comes last.
    if all.outer || all.uniform {
        expand_wildcards(select, &all)?;
    }
    let merged = &all.merged;
    for item in &mut select.projection {
        name_item(item, merged);
        each_expr(item, |expr| in_place(expr, merged));
    }
    each_expr(&mut select.selection, |expr| in_place(expr, merged));
    each_expr(&mut select.group_by, |expr| in_place(expr, merged));
    each_expr(&mut select.having, |expr| in_place(expr, merged));
    each_expr(&mut select.distinct, |expr| in_place(expr, merged));
    for by in by {
        // A name in ORDER BY is first of all one of the answer's columns.
        let output = matches!(&by.expr, Expr::Identifier(name) if shown.contains(&ident_name(name)));
        if !output {
            each_expr(&mut by.expr, |expr| in_place(expr, merged));
        }
    }
    Ok(())
}

/// Puts what it is in the place of a merged column.
fn in_place(expr: &mut Expr, merged: &Merged) {
    if let Expr::Identifier(column) = &*expr
        && let Some((_, merged)) = find(merged, column)
    {
        *expr = merged.clone();
    }
}

fn output_name(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::UnnamedExpr(Expr::Identifier(name)) | SelectItem::ExprWithAlias { alias: name, .. } => {
            Some(ident_name(name))
        }
        _ => None,
    }
}

/// The item of a merged column keeps that column's name.
fn name_item(item: &mut SelectItem, merged: &Merged) {
    if let SelectItem::UnnamedExpr(Expr::Identifier(name)) = item
        && let Some((_, expr)) = find(merged, name)
    {
        *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: name.clone() };
    }
}

fn find<'a>(merged: &'a Merged, name: &Ident) -> Option<&'a (Ident, Expr)> {
    let name = ident_name(name);
    merged.iter().find(|(known, _)| ident_name(known) == name)
}

/// `*` as the merged columns and the others.
fn expand_wildcards(select: &mut Select, all: &Joins) -> QueryResult<()> {
    let mut items = Vec::with_capacity(select.projection.len());
    for item in std::mem::take(&mut select.projection) {
        let SelectItem::Wildcard(mut options) = item else {
            items.push(item);
            continue;
        };
        if !all.uniform {
            let feature = "* over a RIGHT or FULL JOIN … USING beside other joins".to_owned();
            return Err(QueryError::Unsupported { feature });
        }
        let columns = all.merged.iter().cloned();
        items.extend(columns.map(|(alias, expr)| SelectItem::ExprWithAlias { expr, alias }));
        let names: Vec<ObjectName> = all.merged.iter().map(|(name, _)| name.clone().into()).collect();
        options.opt_exclude = Some(ExcludeSelectItem::Multiple(names));
        items.extend(all.tables.iter().map(|table| {
            let table = SelectItemQualifiedWildcardKind::ObjectName(ObjectName::from(table.clone()));
            SelectItem::QualifiedWildcard(table, options.clone())
        }));
    }
    select.projection = items;
    Ok(())
}

fn collect(table: &mut TableWithJoins, all: &mut Joins) -> QueryResult<()> {
    let mut own: Merged = nested(&mut table.relation, all)?;
    all.add_table(&table.relation);
    for (place, join) in table.joins.iter_mut().enumerate() {
        let inner = nested(&mut join.relation, all)?;
        all.add_table(&join.relation);
        let (constraint, side) = match &mut join.join_operator {
            JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) => (constraint, Side::Left),
            JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => (constraint, Side::Left),
            JoinOperator::Right(constraint) | JoinOperator::RightOuter(constraint) => (constraint, Side::Right),
            JoinOperator::FullOuter(constraint) => (constraint, Side::Both),
            _ => {
                all.uniform = false;
                continue;
            }
        };
        let outer = side != Side::Left;
        if outer && matches!(constraint, JoinConstraint::Natural) {
            return Err(QueryError::Unsupported { feature: "NATURAL RIGHT JOIN and NATURAL FULL JOIN".to_owned() });
        }
        let JoinConstraint::Using(columns) = constraint else {
            all.uniform = false;
            continue;
        };
        let names: Vec<Ident> = columns.iter().filter_map(|name| name.0.last()?.as_ident().cloned()).collect();
        all.uniform &= place == 0 || names.len() == own.len() && names.iter().all(|name| find(&own, name).is_some());
        all.outer |= outer;
        let mut conditions = Vec::new();
        for name in &names {
            let left = find(&own, name).map(|(_, expr)| expr.clone());
            let left = left.or_else(|| if place == 0 { column_of(&table.relation, name) } else { None });
            let right = find(&inner, name).map(|(_, expr)| expr.clone()).or_else(|| column_of(&join.relation, name));
            let (Some(left), Some(right)) = (left, right) else {
                if !outer {
                    continue;
                }
                let feature = format!("a RIGHT or FULL JOIN USING (\"{}\") of one of several tables", name.value);
                return Err(QueryError::Unsupported { feature });
            };
            conditions.push(equal(left.clone(), right.clone()));
            let column = match side {
                Side::Left => left,
                Side::Right => right,
                Side::Both => call("coalesce", vec![left, right]),
            };
            own.retain(|(known, _)| ident_name(known) != ident_name(name));
            own.push((name.clone(), column));
        }
        // The planner would compare the left side's own column.
        if all.outer
            && place > 0
            && let Some(condition) = conditions.into_iter().reduce(both)
        {
            *constraint = JoinConstraint::On(condition);
        }
    }
    all.merged.append(&mut own);
    Ok(())
}

impl Joins {
    fn add_table(&mut self, factor: &TableFactor) {
        match qualifier(factor) {
            Some(table) => self.tables.push(table),
            None => self.uniform = false,
        }
    }
}

#[derive(PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Both,
}

/// Columns that joins in parentheses merge.
fn nested(factor: &mut TableFactor, all: &mut Joins) -> QueryResult<Merged> {
    let TableFactor::NestedJoin { table_with_joins, alias: None } = factor else { return Ok(Merged::new()) };
    let mut inside = Joins { uniform: true, ..Joins::default() };
    collect(table_with_joins, &mut inside)?;
    all.outer |= inside.outer;
    all.uniform &= inside.uniform && table_with_joins.joins.is_empty();
    Ok(inside.merged)
}

fn equal(left: Expr, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op: BinaryOperator::Eq, right: Box::new(right) }
}

fn both(left: Expr, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op: BinaryOperator::And, right: Box::new(right) }
}

/// The column of that name of a table in FROM.
fn column_of(factor: &TableFactor, name: &Ident) -> Option<Expr> {
    let mut parts = qualifier(factor)?;
    parts.push(name.clone());
    Some(Expr::CompoundIdentifier(parts))
}

/// What the columns of a table in FROM are qualified with.
fn qualifier(factor: &TableFactor) -> Option<Vec<Ident>> {
    match factor {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Some(vec![alias.name.clone()])
        }
        TableFactor::Table { name, alias: None, .. } => name.0.iter().map(|part| part.as_ident().cloned()).collect(),
        _ => None,
    }
}
