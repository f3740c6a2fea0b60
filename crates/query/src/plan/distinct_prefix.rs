//! Annotates tables of which only distinct values are needed: a scan may skip rows whose output columns repeat.
//!
//! ```text
//!   Aggregate: by a, b, without aggregate functions
//!     Projection, Filter, …
//!       TableScan: t (a, b)           <-- each (a, b) at least once
//! ```
//! The plan is otherwise unchanged: the aggregate stays. The nodes in between must depend on the scan's columns alone.

use crate::provider::RegionTable;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan};
use std::sync::Arc;

/// Annotates the table below an aggregate without aggregate functions.
pub(super) fn annotated(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Aggregate(mut aggregate) = node else { return Ok(Transformed::no(node)) };
    let plain = aggregate.aggr_expr.is_empty() && !aggregate.group_expr.is_empty();
    let annotated = if plain && are_fixed(&aggregate.group_expr) { annotate(&aggregate.input) } else { None };
    if let Some(input) = annotated {
        aggregate.input = Arc::new(input);
    }
    Ok(Transformed::yes(LogicalPlan::Aggregate(aggregate)))
}

/// Are the expressions deterministic and free of subqueries?
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
