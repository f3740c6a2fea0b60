//! INTERSECT ALL and EXCEPT ALL, which count equal rows.
//!
//! DataFusion makes a semi or anti join of them, as if one row on the right stood for all. Here equal rows of each
//! side are numbered and the numbers joined too: the second of a side meets only the second of the other.
//!
//! ```text
//!   a a b  EXCEPT ALL  a c      (a,1) (a,2) (b,1)  anti join  (a,1) (c,1)      a b
//! ```

use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{JoinType, NullEquality, Result};
use datafusion::functions_window::row_number::row_number;
use datafusion::logical_expr::{Expr, ExprFunctionExt, Join, LogicalPlan, LogicalPlanBuilder, ident};
use std::sync::Arc;

/// No column of a query has this name.
const NUMBER: &str = "\u{1}number";

/// Counts rows where the query says ALL.
///
/// # Errors
/// None of a plan that DataFusion made.
pub(super) fn count_equal_rows(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Join(join) if is_counted(&join) => Ok(Transformed::yes(numbered_join(join)?)),
        node => Ok(Transformed::no(node)),
    })
    .data()
}

/// Of what a statement can say, only set operations make joins in which NULLs are equal. Those without ALL have a
/// left side without repetitions, and of such a side each row is the first.
fn is_counted(join: &Join) -> bool {
    matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && join.null_equality == NullEquality::NullEqualsNull
        && !matches!(join.left.as_ref(), LogicalPlan::Distinct(_))
}

fn numbered_join(join: Join) -> Result<LogicalPlan> {
    let shown = columns(&join.left);
    let left = numbered(&join.left)?;
    let right = numbered(&join.right)?;
    let mut on = join.on;
    on.push((ident(NUMBER), ident(NUMBER)));
    let joined = Join::try_new(
        Arc::new(left),
        Arc::new(right),
        on,
        join.filter,
        join.join_type,
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    )?;
    LogicalPlanBuilder::from(LogicalPlan::Join(joined)).project(shown)?.build()
}

fn numbered(side: &Arc<LogicalPlan>) -> Result<LogicalPlan> {
    let number = row_number().partition_by(columns(side)).build()?.alias(NUMBER);
    LogicalPlanBuilder::from(Arc::clone(side)).window([number])?.build()
}

fn columns(plan: &LogicalPlan) -> Vec<Expr> {
    plan.schema().columns().into_iter().map(Expr::Column).collect()
}
