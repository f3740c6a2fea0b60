//! Subqueries that stand for one value and may have several rows.
//!
//! DataFusion computes a subquery that reads nothing of the query around it before the query runs, and refuses a second row in
//! words of its own. Here the subquery itself does, with [`QueryError::SubqueryRows`](crate::QueryError::SubqueryRows). Those that
//! read outer rows are joined, and checked where the joined value is used (`flatten`).

use crate::exec::SingleRowExec;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, Result, internal_err};
use datafusion::logical_expr::{
    Expr, Extension, LogicalPlan, Subquery, UserDefinedLogicalNode, UserDefinedLogicalNodeCore,
};
use datafusion::physical_plan::ExecutionPlan;
use std::fmt;
use std::sync::Arc;

/// The node with its subqueries checked, of which `is_one_row` does not say that they have one row at most.
///
/// # Errors
/// None of a plan that is one.
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
            Expr::ScalarSubquery(query) if query.outer_ref_columns.is_empty() && !is_one_row(&query.subquery) => {
                if is_checked(&query.subquery) {
                    return Ok(Transformed::no(Expr::ScalarSubquery(query)));
                }
                let node = Arc::new(SingleRow { input: query.subquery.as_ref().clone() });
                let subquery = Arc::new(LogicalPlan::Extension(Extension { node }));
                Ok(Transformed::yes(Expr::ScalarSubquery(Subquery { subquery, ..query })))
            }
            part => Ok(Transformed::no(part)),
        })
    })
}

fn is_checked(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Extension(extension) if extension.node.as_any().is::<SingleRow>())
}

/// Rows of which there is one at most.
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
        match <[_; 1]>::try_from(inputs) {
            Ok([input]) => Ok(Self { input }),
            Err(_) => internal_err!("one input is wanted"),
        }
    }
}

/// The operator of such a node.
pub(super) fn operator(
    node: &dyn UserDefinedLogicalNode,
    input: &Arc<dyn ExecutionPlan>,
) -> Option<Arc<dyn ExecutionPlan>> {
    node.as_any().downcast_ref::<SingleRow>()?;
    Some(Arc::new(SingleRowExec::new(Arc::clone(input))))
}
