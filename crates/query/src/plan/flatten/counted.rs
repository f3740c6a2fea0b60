//! LIMIT and OFFSET with subqueries, and FETCH FIRST … WITH TIES: the rows are numbered in their order and filtered by
//! number.

use super::domain::{Domain, Names};
use super::push::{Range, numbered};
use super::references;
use crate::Refusal;
use crate::functions::{WITH_TIES, row_count};
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{Expr, Limit, LogicalPlan, LogicalPlanBuilder, Projection};
use std::sync::Arc;

/// Does LIMIT or OFFSET contain a subquery, or is it WITH TIES?
pub(super) fn is_computed(limit: &Limit) -> bool {
    let is_known = |part: &Expr| Ok(references::subquery_in(part).is_some() || with_ties(part).is_some());
    let computed = |count: &Expr| count.exists(is_known).unwrap_or(false);
    [&limit.skip, &limit.fetch].into_iter().flatten().any(|count| computed(count))
}

/// Filters the rows to the limit.
pub(super) fn rows_within(limit: Limit, names: &mut Names) -> Result<LogicalPlan> {
    let skip = limit.skip.map(|skip| row_count(*skip, Refusal::Offset));
    let ties = limit.fetch.as_deref().and_then(with_ties);
    let fetch = ties.clone().or_else(|| limit.fetch.map(|fetch| *fetch));
    let fetch = fetch.map(|fetch| row_count(fetch, Refusal::Limit));
    let domain = Domain::without_columns()?;
    within(&domain, Range { skip, fetch, ties: ties.is_some() }, Arc::unwrap_or_clone(limit.input), names)
}

/// The count of FETCH FIRST … WITH TIES.
fn with_ties(fetch: &Expr) -> Option<Expr> {
    match fetch {
        Expr::ScalarFunction(call) if call.func.name() == WITH_TIES => call.args.first().cloned(),
        Expr::Cast(cast) => with_ties(&cast.expr),
        _ => None,
    }
}

fn within(domain: &Domain, range: Range, input: LogicalPlan, names: &mut Names) -> Result<LogicalPlan> {
    match input {
        // The projection only drops the columns that the sort below needs.
        LogicalPlan::Projection(Projection { expr, input, .. }) if matches!(input.as_ref(), LogicalPlan::Sort(_)) => {
            let rows = within(domain, range, Arc::unwrap_or_clone(input), names)?;
            LogicalPlanBuilder::from(rows).project(expr)?.build()
        }
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => {
            let rows = numbered(domain, range, Arc::unwrap_or_clone(sort.input), sort.expr.clone(), names)?;
            LogicalPlanBuilder::from(rows).sort(sort.expr)?.build()
        }
        other => numbered(domain, range, other, Vec::new(), names),
    }
}
