//! Expressions in ROLLUP, CUBE and GROUPING SETS become columns below the aggregate.
//!
//! What stands above names a group by the text of its expression. Later passes rewrite expressions, and inside a
//! grouping set their names would go lost; a column keeps its name.

use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Aggregate, Expr, GroupingSet, LogicalPlan, LogicalPlanBuilder};
use std::sync::Arc;

/// Computes the groups' expressions first.
///
/// # Errors
/// None of a plan that the planner made.
pub(super) fn compute_groups_first(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Aggregate(aggregate) => grouped_by_columns(aggregate),
        node => Ok(Transformed::no(node)),
    })
    .data()
}

fn grouped_by_columns(mut aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let mut computed = Vec::new();
    let mut column = |expr: Expr| {
        if matches!(expr, Expr::Column(_)) {
            return expr;
        }
        let name = expr.schema_name().to_string();
        let named = expr.alias(&name);
        if !computed.contains(&named) {
            computed.push(named);
        }
        Expr::Column(Column::new_unqualified(name))
    };
    let mut all = |exprs: Vec<Expr>| exprs.into_iter().map(&mut column).collect::<Vec<_>>();
    for group in &mut aggregate.group_expr {
        if let Expr::GroupingSet(set) = group {
            *set = match std::mem::replace(set, GroupingSet::Rollup(Vec::new())) {
                GroupingSet::Rollup(exprs) => GroupingSet::Rollup(all(exprs)),
                GroupingSet::Cube(exprs) => GroupingSet::Cube(all(exprs)),
                GroupingSet::GroupingSets(sets) => GroupingSet::GroupingSets(sets.into_iter().map(&mut all).collect()),
            };
        }
    }
    if computed.is_empty() {
        return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
    }
    let columns = aggregate.input.schema().columns().into_iter().map(Expr::Column);
    let input = LogicalPlanBuilder::from(Arc::clone(&aggregate.input)).project(columns.chain(computed))?.build()?;
    let aggregate = Aggregate::try_new(Arc::new(input), aggregate.group_expr, aggregate.aggr_expr)?;
    Ok(Transformed::yes(LogicalPlan::Aggregate(aggregate)))
}
