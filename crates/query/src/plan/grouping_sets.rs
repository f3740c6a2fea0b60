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
    let schema = Arc::clone(&aggregate.schema);
    let mut computed: Vec<Expr> = Vec::new();
    let mut column = |expr: Expr| {
        if matches!(expr, Expr::Column(_)) {
            return expr;
        }
        let at = computed.iter().position(|known| *known == expr).unwrap_or(computed.len());
        if at == computed.len() {
            computed.push(expr);
        }
        Expr::Column(place(at))
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
    let places = computed.iter().enumerate().map(|(at, expr)| expr.clone().alias(place(at).name));
    let input = LogicalPlanBuilder::from(Arc::clone(&aggregate.input)).project(columns.chain(places))?.build()?;
    let aggregate = Aggregate::try_new(Arc::new(input), aggregate.group_expr, aggregate.aggr_expr)?;
    // Above, groups have the names that they had.
    let shown = aggregate.schema.columns().into_iter().zip(schema.iter()).map(|(column, (qualifier, field))| {
        let known = column.relation.as_ref() == qualifier && column.name == *field.name();
        let expr = Expr::Column(column);
        if known { expr } else { expr.alias_qualified(qualifier.cloned(), field.name()) }
    });
    let shown: Vec<Expr> = shown.collect();
    LogicalPlanBuilder::from(LogicalPlan::Aggregate(aggregate)).project(shown)?.build().map(Transformed::yes)
}

/// No column of a query has such a name.
fn place(at: usize) -> Column {
    Column::new_unqualified(format!("\u{1}group{at}"))
}
