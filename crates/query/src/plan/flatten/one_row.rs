//! LATERAL of one computed row: `FROM t, LATERAL (SELECT t.k + 1 AS k) AS u`.
//!
//! Such columns become a projection over the outer row. With a domain the outer rows would be read twice, and the
//! number of reads would double with each LATERAL of a chain.

use super::references;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, JoinType, Result, TableReference};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder};
use std::collections::HashMap;

/// The qualifier, name and expression of a column.
pub(super) type Computed = (Option<TableReference>, String, Expr);

/// Rewrites the join as a projection, if its right side is one row computed from the left row.
///
/// # Errors
/// None for a valid plan.
pub(super) fn beside(join: &Join) -> Result<Option<LogicalPlan>> {
    if join.join_type != JoinType::Inner || !join.on.is_empty() {
        return Ok(None);
    }
    let outer = join.left.schema();
    let Some(computed) = columns(&join.right, outer)? else { return Ok(None) };
    let own = outer.columns().into_iter().map(Expr::Column);
    let computed = computed.into_iter().map(|(table, name, expr)| expr.alias_qualified(table, name));
    let plan = LogicalPlanBuilder::from(join.left.as_ref().clone()).project(own.chain(computed))?;
    let plan = match &join.filter {
        Some(filter) => plan.filter(filter.clone())?,
        None => plan,
    };
    plan.build().map(Some)
}

/// The columns of a plan that computes one row from an outer row; `None` for any other plan.
fn columns(plan: &LogicalPlan, outer: &DFSchema) -> Result<Option<Vec<Computed>>> {
    let (input, exprs) = match plan {
        LogicalPlan::EmptyRelation(empty) if empty.produce_one_row => return Ok(Some(Vec::new())),
        LogicalPlan::SubqueryAlias(alias) => {
            let Some(computed) = columns(&alias.input, outer)? else { return Ok(None) };
            let named = plan.schema().iter().zip(computed);
            return Ok(Some(
                named.map(|((table, field), (.., expr))| (table.cloned(), field.name().clone(), expr)).collect(),
            ));
        }
        LogicalPlan::Projection(projection) => (&projection.input, &projection.expr),
        _ => return Ok(None),
    };
    let Some(below) = columns(input, outer)? else { return Ok(None) };
    let below: HashMap<Column, Expr> =
        below.into_iter().map(|(table, name, expr)| (Column::new(table, name), expr)).collect();
    let mut all = Vec::with_capacity(exprs.len());
    for ((table, field), expr) in plan.schema().iter().zip(exprs) {
        if !is_plain(expr)? {
            return Ok(None);
        }
        all.push((table.cloned(), field.name().clone(), in_place(bare(expr), &below, outer)?));
    }
    Ok(Some(all))
}

/// Strips an alias without metadata.
pub(super) fn bare(expr: &Expr) -> Expr {
    match expr {
        Expr::Alias(alias) if alias.metadata.is_none() => alias.expr.as_ref().clone(),
        expr => expr.clone(),
    }
}

/// May the expression move to another node? Volatile functions and subqueries may not.
pub(super) fn is_plain(expr: &Expr) -> Result<bool> {
    let other = |part: &Expr| Ok(references::subquery_in(part).is_some() || part.is_volatile_node());
    expr.exists(other).map(|other| !other)
}

/// Substitutes columns by their expressions, and outer references by plain columns.
pub(super) fn in_place(expr: Expr, below: &HashMap<Column, Expr>, outer: &DFSchema) -> Result<Expr> {
    expr.transform_down(|part| match part {
        Expr::Column(column) => Ok(match below.get(&column) {
            Some(expr) => Transformed::new(expr.clone(), true, TreeNodeRecursion::Jump),
            None => Transformed::no(Expr::Column(column)),
        }),
        Expr::OuterReferenceColumn(_, column) if outer.has_column(&column) => {
            Ok(Transformed::new(Expr::Column(column), true, TreeNodeRecursion::Jump))
        }
        part => Ok(Transformed::no(part)),
    })
    .data()
}
