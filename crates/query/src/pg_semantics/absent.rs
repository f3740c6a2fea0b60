//! Scalar subqueries without a row are NULL, whatever their one column says of itself.

use crate::functions::nullable;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Subquery};
use std::sync::Arc;

/// Says of the column of a subquery that may have no row that it may be NULL. Those that depend on the row outside
/// become outer joins, which say so themselves.
///
/// # Errors
/// None of a plan that the planner made.
pub(super) fn settle_scalar_subquery(subquery: Subquery) -> Result<Transformed<Expr>> {
    let plan = &subquery.subquery;
    let columns = plan.schema().columns();
    let never_null = plan.schema().fields().first().is_some_and(|field| !field.is_nullable());
    let [column] = columns.as_slice() else { return Ok(Transformed::no(Expr::ScalarSubquery(subquery))) };
    if !never_null || !subquery.outer_ref_columns.is_empty() || has_a_row(plan) {
        return Ok(Transformed::no(Expr::ScalarSubquery(subquery)));
    }
    let value = nullable(Expr::Column(column.clone())).alias_qualified(column.relation.clone(), &column.name);
    let plan = LogicalPlanBuilder::from(plan.as_ref().clone()).project([value])?.build()?;
    Ok(Transformed::yes(Expr::ScalarSubquery(Subquery { subquery: Arc::new(plan), ..subquery })))
}

/// Has a plan a row, whatever is in the tables?
fn has_a_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => has_a_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => has_a_row(&alias.input),
        LogicalPlan::Sort(sort) => has_a_row(&sort.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::EmptyRelation(relation) => relation.produce_one_row,
        _ => false,
    }
}
