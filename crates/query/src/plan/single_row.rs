//! Scalar subqueries that may return several rows.
//!
//! DataFusion evaluates an uncorrelated scalar subquery before the query runs, and reports a second row with its own
//! error. Here the subquery itself reports it as [`QueryError::SubqueryRows`](crate::QueryError::SubqueryRows).
//! Correlated subqueries are joined, and checked where the joined value is used (`flatten`).
//!
//! Without a row the value is NULL. DataFusion infers NOT NULL if the subquery's column is NOT NULL or folded to a
//! constant.

use crate::exec::{SingleRowExec, only_input};
use crate::functions::{is_nullable, nullable};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, Result};
use datafusion::logical_expr::{
    Expr, Extension, LogicalPlan, LogicalPlanBuilder, Subquery, UserDefinedLogicalNode, UserDefinedLogicalNodeCore,
};
use datafusion::physical_plan::ExecutionPlan;
use std::fmt;
use std::sync::Arc;

/// Checks the node's uncorrelated scalar subqueries that may return several rows by `is_one_row`, and marks their
/// columns as nullable.
///
/// # Errors
/// None for a valid plan.
pub(super) fn checked(node: LogicalPlan, is_one_row: fn(&LogicalPlan) -> bool) -> Result<Transformed<LogicalPlan>> {
    let mut any = false;
    node.apply_expressions(|expr| {
        any |= expr.exists(|part| Ok(matches!(part, Expr::ScalarSubquery(_))))?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    if !any {
        return Ok(Transformed::no(node));
    }
    node.map_expressions(|expr| {
        expr.transform_down(|part| match part {
            Expr::ScalarSubquery(query) if query.outer_ref_columns.is_empty() => {
                let mut plan = query.subquery.as_ref().clone();
                let several = !is_one_row(&plan) && !is_checked(&plan);
                let absent = !has_a_row(&plan) && !is_marked_nullable(&plan) && !is_stored(&plan);
                if several {
                    plan = LogicalPlan::Extension(Extension { node: Arc::new(SingleRow { input: plan }) });
                }
                if absent {
                    plan = mark_nullable(plan)?;
                }
                let query = Subquery { subquery: Arc::new(plan), ..query };
                Ok(Transformed::new_transformed(Expr::ScalarSubquery(query), several || absent))
            }
            part => Ok(Transformed::no(part)),
        })
    })
}

fn is_checked(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Extension(extension) => extension.node.as_any().is::<SingleRow>(),
        LogicalPlan::Projection(projection) => is_marked_nullable(plan) && is_checked(&projection.input),
        _ => false,
    }
}

/// Marks the only column as nullable.
fn mark_nullable(plan: LogicalPlan) -> Result<LogicalPlan> {
    let columns = plan.schema().columns();
    let [column] = columns.as_slice() else { return Ok(plan) };
    let value = nullable(Expr::Column(column.clone())).alias_qualified(column.relation.clone(), &column.name);
    LogicalPlanBuilder::from(plan).project([value])?.build()
}

/// Is its column a nullable table column? That cannot be folded to a constant.
fn is_stored(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => match projection.expr.as_slice() {
            [Expr::Column(_)] => is_stored(&projection.input),
            [Expr::Alias(alias)] => matches!(*alias.expr, Expr::Column(_)) && is_stored(&projection.input),
            _ => false,
        },
        LogicalPlan::TableScan(_) => plan.schema().fields().iter().all(|field| field.is_nullable()),
        LogicalPlan::Filter(_) | LogicalPlan::Sort(_) | LogicalPlan::Limit(_) | LogicalPlan::SubqueryAlias(_) => {
            plan.inputs().into_iter().all(is_stored)
        }
        _ => false,
    }
}

/// Is its column marked as nullable already?
fn is_marked_nullable(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => projection.expr.iter().any(|expr| match expr {
            Expr::Alias(alias) => is_nullable(&alias.expr),
            expr => is_nullable(expr),
        }),
        LogicalPlan::Extension(_) => plan.inputs().into_iter().any(is_marked_nullable),
        _ => false,
    }
}

/// Does a plan return a row for any table contents?
fn has_a_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => has_a_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => has_a_row(&alias.input),
        LogicalPlan::Sort(sort) => sort.fetch != Some(0) && has_a_row(&sort.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::EmptyRelation(relation) => relation.produce_one_row,
        _ => false,
    }
}

/// Fails if its input has more than one row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Hash)]
struct SingleRow {
    input: LogicalPlan,
}

impl UserDefinedLogicalNodeCore for SingleRow {
    fn name(&self) -> &str {
        "SingleRow"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SingleRow")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let input = only_input(inputs)?;
        Ok(Self { input })
    }
}

/// The physical operator of a [`SingleRow`] node.
pub(super) fn operator(
    node: &dyn UserDefinedLogicalNode,
    input: &Arc<dyn ExecutionPlan>,
) -> Option<Arc<dyn ExecutionPlan>> {
    node.as_any().downcast_ref::<SingleRow>()?;
    Some(Arc::new(SingleRowExec::new(Arc::clone(input))))
}
