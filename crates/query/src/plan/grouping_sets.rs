//! Expressions in ROLLUP, CUBE and GROUPING SETS, and all that `grouping()` may ask for, become columns below the aggregate.
//!
//! What stands above names a group by the text of its expression. Later passes rewrite expressions, and inside a
//! grouping set their names would go lost; a column keeps its name.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Aggregate, Expr, GroupingSet, LogicalPlan, LogicalPlanBuilder, Projection};
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
    let asked = aggregate.aggr_expr.iter().any(asks_for_groups);
    for group in &mut aggregate.group_expr {
        if let Expr::GroupingSet(set) = group {
            *set = match std::mem::replace(set, GroupingSet::Rollup(Vec::new())) {
                GroupingSet::Rollup(exprs) => GroupingSet::Rollup(all(exprs)),
                GroupingSet::Cube(exprs) => GroupingSet::Cube(all(exprs)),
                GroupingSet::GroupingSets(sets) => GroupingSet::GroupingSets(sets.into_iter().map(&mut all).collect()),
            };
        } else if asked {
            *group = all(vec![std::mem::take(group)]).pop().unwrap_or_default();
        }
    }
    if computed.is_empty() {
        return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
    }
    for call in &mut aggregate.aggr_expr {
        *call = std::mem::take(call).transform(|expr| Ok(of_columns(expr, &computed))).data()?;
    }
    let columns = aggregate.input.schema().columns().into_iter().map(Expr::Column);
    let places = computed.iter().enumerate().map(|(at, expr)| expr.clone().alias(place(at).name));
    let input = LogicalPlanBuilder::from(Arc::clone(&aggregate.input)).project(columns.chain(places))?.build()?;
    let aggregate = Aggregate::try_new(Arc::new(input), aggregate.group_expr, aggregate.aggr_expr)?;
    // Above, groups have the names that they had.
    let columns = aggregate.schema.columns().into_iter().zip(schema.iter());
    let columns = columns.filter(|(column, _)| column.name != Aggregate::INTERNAL_GROUPING_ID);
    let shown = columns.map(|(column, (qualifier, field))| {
        let known = column.relation.as_ref() == qualifier && column.name == *field.name();
        let expr = Expr::Column(column);
        if known { expr } else { expr.alias_qualified(qualifier.cloned(), field.name()) }
    });
    let shown: Vec<Expr> = shown.collect();
    // The builder would take `t.a` and a cast of it, which has that name as one word, for two of one name.
    let shown = Projection::try_new(shown, Arc::new(LogicalPlan::Aggregate(aggregate)))?;
    Ok(Transformed::yes(LogicalPlan::Projection(shown)))
}

/// Is there a `grouping()`?
fn asks_for_groups(expr: &Expr) -> bool {
    let asks = |part: &Expr| Ok(matches!(part, Expr::AggregateFunction(call) if call.func.name() == "grouping"));
    expr.exists(asks).unwrap_or(false)
}

/// `grouping()` of the computed columns.
fn of_columns(mut expr: Expr, computed: &[Expr]) -> Transformed<Expr> {
    match &mut expr {
        Expr::AggregateFunction(call) if call.func.name() == "grouping" => {
            for arg in &mut call.params.args {
                if let Some(at) = computed.iter().position(|known| known == arg) {
                    *arg = Expr::Column(place(at));
                }
            }
            Transformed::yes(expr)
        }
        _ => Transformed::no(expr),
    }
}

/// No column of a query has such a name.
fn place(at: usize) -> Column {
    Column::new_unqualified(format!("\u{1}group{at}"))
}
