//! Annotates tables with the lookups that a join performs, on which the choice of the access path depends.
//!
//! ```text
//!   Join: few.id = many.id
//!     few                           gives about 40 rows
//!     TableScan: many (b)           <-- rows are looked up by 40 values of id
//! ```
//! A covering index is narrower than its table, but only an index or rowkey that begins with the column can be searched
//! by its values. The scan receives the values while the statement runs (`exec/narrowing.rs`). The plan is otherwise
//! unchanged.

use super::estimate;
use super::sources::Sources;
use crate::convert::expr_to_ranges::MAX_JOIN_KEYS;
use crate::provider::RegionTable;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, Result};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, Join, LogicalPlan};
use std::sync::Arc;

/// Annotates tables by the joins directly above them.
pub(super) fn annotated(plan: LogicalPlan, sources: &Sources) -> Result<LogicalPlan> {
    plan.transform_down_with_subqueries(|node| match node {
        LogicalPlan::Join(join) => Ok(Transformed::yes(LogicalPlan::Join(of_join(join, sources)))),
        node => Ok(Transformed::no(node)),
    })
    .data()
}

/// A side may be narrowed by the other one if the join drops its rows without a match.
fn of_join(mut join: Join, sources: &Sources) -> Join {
    let (left_narrows, right_narrows) = join.join_type.on_lr_is_preserved();
    for (left, right) in join.on.clone() {
        if right_narrows && let Some(annotated) = annotate_side(&join.right, &right, &join.left, sources) {
            join.right = Arc::new(annotated);
        } else if left_narrows && let Some(annotated) = annotate_side(&join.left, &left, &join.right, sources) {
            join.left = Arc::new(annotated);
        }
    }
    join
}

fn annotate_side(side: &LogicalPlan, key: &Expr, other: &LogicalPlan, sources: &Sources) -> Option<LogicalPlan> {
    let Expr::Column(column) = key else { return None };
    // More values are not passed down as a list.
    annotate(side, column, &|| Some(estimate::of(other, sources)?.rows).filter(|rows| *rows <= MAX_JOIN_KEYS as f64))
}

/// Descends through nodes that only select rows and columns.
fn annotate(node: &LogicalPlan, column: &Column, values: &dyn Fn() -> Option<f64>) -> Option<LogicalPlan> {
    let at = node.schema().maybe_index_of_column(column)?;
    match node {
        LogicalPlan::Projection(projection) => {
            let Expr::Column(inner) = projection.expr.get(at)?.clone().unalias() else { return None };
            let mut annotated = projection.clone();
            annotated.input = Arc::new(annotate(&projection.input, &inner, values)?);
            Some(LogicalPlan::Projection(annotated))
        }
        LogicalPlan::Filter(filter) => {
            let mut annotated = filter.clone();
            annotated.input = Arc::new(annotate(&filter.input, column, values)?);
            Some(LogicalPlan::Filter(annotated))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let mut annotated = alias.clone();
            let inner = alias.input.schema().columns().into_iter().nth(at)?;
            annotated.input = Arc::new(annotate(&alias.input, &inner, values)?);
            Some(LogicalPlan::SubqueryAlias(annotated))
        }
        LogicalPlan::TableScan(scan) if scan.fetch.is_none() => {
            let table = RegionTable::of(scan).filter(|table| table.is_indexed())?;
            let column = match &scan.projection {
                Some(columns) => *columns.get(at)?,
                None => at,
            };
            let mut annotated = scan.clone();
            annotated.source = provider_as_source(Arc::new(table.with_lookups(column, values()?)));
            Some(LogicalPlan::TableScan(annotated))
        }
        _ => None,
    }
}
