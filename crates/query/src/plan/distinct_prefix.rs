//! Tables of which each combination of values is wanted once are annotated so: a scan may pass over rows whose columns it has
//! given before.
//!
//! ```text
//!   Aggregate: by a, b, of nothing
//!     Projection, Filter, …
//!       TableScan: t (a, b)           <-- each (a, b) once, or more often
//! ```
//! Nothing of the plan changes: the aggregate stays. What is computed in between depends on the columns of the scan alone.

use crate::provider::RegionTable;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan};
use std::sync::Arc;

/// The node, if it is an aggregate of nothing with the table below it annotated.
pub(super) fn annotated(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Aggregate(mut aggregate) = node else { return Ok(Transformed::no(node)) };
    let plain = aggregate.aggr_expr.is_empty() && !aggregate.group_expr.is_empty();
    let annotated = if plain && are_fixed(&aggregate.group_expr) { annotate(&aggregate.input) } else { None };
    if let Some(input) = annotated {
        aggregate.input = Arc::new(input);
    }
    Ok(Transformed::yes(LogicalPlan::Aggregate(aggregate)))
}

/// Do they give the same for the same columns?
fn are_fixed(exprs: &[Expr]) -> bool {
    let has_subquery = |expr: &Expr| {
        expr.exists(|part| Ok(matches!(part, Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_))))
            .unwrap_or(true)
    };
    exprs.iter().all(|expr| !expr.is_volatile() && !has_subquery(expr))
}

fn annotate(node: &LogicalPlan) -> Option<LogicalPlan> {
    match node {
        LogicalPlan::Projection(projection) if are_fixed(&projection.expr) => {
            let mut annotated = projection.clone();
            annotated.input = Arc::new(annotate(&projection.input)?);
            Some(LogicalPlan::Projection(annotated))
        }
        LogicalPlan::Filter(filter) if are_fixed(std::slice::from_ref(&filter.predicate)) => {
            let mut annotated = filter.clone();
            annotated.input = Arc::new(annotate(&filter.input)?);
            Some(LogicalPlan::Filter(annotated))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let mut annotated = alias.clone();
            annotated.input = Arc::new(annotate(&alias.input)?);
            Some(LogicalPlan::SubqueryAlias(annotated))
        }
        LogicalPlan::TableScan(scan) if scan.fetch.is_none() => {
            let table = RegionTable::of(scan)?;
            let mut annotated = scan.clone();
            annotated.source = provider_as_source(Arc::new(table.with_groups()));
            Some(LogicalPlan::TableScan(annotated))
        }
        _ => None,
    }
}
