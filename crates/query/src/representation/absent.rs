//! Subqueries of which the planner would not believe that NULL is met: scalar ones without a row, and those beside which
//! an expression stands that may be NULL.

use crate::functions::nullable;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Subquery};
use std::sync::Arc;

/// Says of the column of a subquery that may have no row that it may be NULL. Those that depend on the row outside
/// become outer joins, which say so themselves.
///
/// # Errors
/// None of a plan that the planner made.
pub(super) fn represent_scalar_subquery(subquery: Subquery) -> Result<Transformed<Expr>> {
    let plan = &subquery.subquery;
    if !subquery.outer_ref_columns.is_empty() || has_a_row(plan) {
        return Ok(Transformed::no(Expr::ScalarSubquery(subquery)));
    }
    let never_null = plan.schema().fields().first().is_some_and(|field| !field.is_nullable());
    if !never_null {
        return Ok(Transformed::no(Expr::ScalarSubquery(subquery)));
    }
    Ok(maybe_null(subquery)?.update_data(Expr::ScalarSubquery))
}

/// Makes `expr NOT IN (…)` ask whether `expr` is NULL. The planner does so where one of the columns that are compared may
/// be; of an expression it looks at the columns within, and `nullif(id, 0)` is NULL where `id` never is.
///
/// # Errors
/// None of a plan that the planner made.
pub(super) fn represent_not_in(within: InSubquery, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if !within.negated || matches!(*within.expr, Expr::Column(_)) || !within.expr.nullable(schema)? {
        return Ok(Transformed::no(Expr::InSubquery(within)));
    }
    let InSubquery { expr, subquery, negated } = within;
    Ok(maybe_null(subquery)?.update_data(|subquery| Expr::InSubquery(InSubquery { expr, subquery, negated })))
}

/// Says of the one column of a subquery that it may be NULL, whatever becomes of it when constants are computed.
fn maybe_null(subquery: Subquery) -> Result<Transformed<Subquery>> {
    let plan = &subquery.subquery;
    let columns = plan.schema().columns();
    let [column] = columns.as_slice() else { return Ok(Transformed::no(subquery)) };
    let value = nullable(Expr::Column(column.clone())).alias_qualified(column.relation.clone(), &column.name);
    let plan = LogicalPlanBuilder::from(plan.as_ref().clone()).project([value])?.build()?;
    Ok(Transformed::yes(Subquery { subquery: Arc::new(plan), ..subquery }))
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
