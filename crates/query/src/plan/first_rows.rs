//! Annotates tables of which only the first rows in some order are needed, so that an index in that order may be used.
//!
//! ```text
//!   Sort: delay DESC, fetch 5
//!     Projection of columns, …
//!       TableScan: flights            <-- the first 5 by delay DESC
//! ```
//! The plan is otherwise unchanged: the sort stays, and DataFusion drops it if the scan has its order.

use crate::bound_index::bare;
use crate::choose_path::{FirstRows, computed_over};
use crate::provider::RegionTable;
use crate::scan_source::TableIndex;
use datafusion::arrow::compute::SortOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, FetchType, LogicalPlan, SkipType, SortExpr};
use datafusion::physical_expr::PhysicalSortExpr;
use datafusion::physical_expr::expressions::Column;
use std::sync::Arc;

/// A sort key and its options.
type Wanted = (By, SortOptions);

#[derive(Clone)]
enum By {
    /// A column of a node's output, by index.
    Column(usize),
    /// An expression over columns of the table.
    Computed(Expr),
}

impl By {
    /// The sort key of an expression over a node's output. A computed key must be deterministic.
    fn of(expr: &Expr, schema: &DFSchema) -> Option<Self> {
        match expr.clone().unalias() {
            Expr::Column(column) => schema.maybe_index_of_column(&column).map(Self::Column),
            expr if expr.is_volatile() || !expr.any_column_refs() => None,
            expr => Some(Self::Computed(bare(expr))),
        }
    }
}

/// Annotates the table below a sort with a limit.
pub(super) fn annotated(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match node {
        LogicalPlan::Sort(mut sort) => {
            let Some(fetch) = sort.fetch else { return Ok(Transformed::no(LogicalPlan::Sort(sort))) };
            let annotated = below(&sort.input, &sort.expr, fetch);
            annotated.into_iter().for_each(|input| sort.input = Arc::new(input));
            Ok(Transformed::yes(LogicalPlan::Sort(sort)))
        }
        LogicalPlan::Limit(mut limit) => {
            let rows = match (limit.get_skip_type()?, limit.get_fetch_type()?) {
                (SkipType::Literal(skip), FetchType::Literal(Some(fetch))) => Some(skip.saturating_add(fetch)),
                _ => None,
            };
            if let (Some(rows), LogicalPlan::Sort(sort)) = (rows, limit.input.as_ref())
                && let Some(input) = below(&sort.input, &sort.expr, rows)
            {
                let mut sort = sort.clone();
                sort.input = Arc::new(input);
                limit.input = Arc::new(LogicalPlan::Sort(sort));
            }
            Ok(Transformed::yes(LogicalPlan::Limit(limit)))
        }
        node => Ok(Transformed::no(node)),
    }
}

/// The input with its table annotated, if the sort keys are made of the table's columns.
fn below(input: &LogicalPlan, by: &[SortExpr], fetch: usize) -> Option<LogicalPlan> {
    let wanted = |by: &SortExpr| {
        let what = By::of(&by.expr, input.schema())?;
        Some((what, SortOptions { descending: !by.asc, nulls_first: by.nulls_first }))
    };
    annotate(input, &by.iter().map(wanted).collect::<Option<Vec<Wanted>>>()?, fetch)
}

/// Descends through nodes that keep the rows and only rename or choose columns.
fn annotate(node: &LogicalPlan, wanted: &[Wanted], fetch: usize) -> Option<LogicalPlan> {
    match node {
        LogicalPlan::Projection(projection) => {
            let is_choice = || projection.expr.iter().all(|expr| matches!(expr, Expr::Column(_)));
            let inner = |by: &By| match by {
                By::Column(at) => By::of(projection.expr.get(*at)?, projection.input.schema()),
                By::Computed(_) => is_choice().then(|| by.clone()),
            };
            let inner = wanted.iter().map(|(by, options)| Some((inner(by)?, *options))).collect::<Option<Vec<_>>>()?;
            let mut annotated = projection.clone();
            annotated.input = Arc::new(annotate(&projection.input, &inner, fetch)?);
            Some(LogicalPlan::Projection(annotated))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let mut annotated = alias.clone();
            annotated.input = Arc::new(annotate(&alias.input, wanted, fetch)?);
            Some(LogicalPlan::SubqueryAlias(annotated))
        }
        LogicalPlan::TableScan(scan) => {
            let table = RegionTable::of(scan)?;
            let column = |at: usize| match &scan.projection {
                Some(columns) => columns.get(at).copied(),
                None => Some(at),
            };
            let sort = |(by, options): &Wanted| match by {
                By::Column(at) => {
                    let at = column(*at)?;
                    let name = &table.codec().table().columns.get(at)?.name;
                    Some(PhysicalSortExpr::new(Arc::new(Column::new(name, at)), *options))
                }
                // Only an index can have the order of an expression.
                By::Computed(expr) => {
                    let has = |index: &Arc<TableIndex>| index.key_exprs().contains(&Some(expr));
                    let is_kept = table.indexes().iter().any(has);
                    let expr = is_kept.then(|| computed_over(table.codec(), expr)).flatten()?;
                    Some(PhysicalSortExpr::new(expr, *options))
                }
            };
            let order = wanted.iter().map(sort).collect::<Option<Vec<_>>>()?;
            let mut annotated = scan.clone();
            annotated.source = provider_as_source(Arc::new(table.with_first(FirstRows { order, fetch })));
            Some(LogicalPlan::TableScan(annotated))
        }
        _ => None,
    }
}
