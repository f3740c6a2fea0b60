//! Tables of which only the first rows in some order are wanted are told so: an index in that order may give them.
//!
//! ```text
//!   Sort: delay DESC, fetch 5
//!     Projection, other names, …
//!       TableScan: flights            <-- the first 5 by delay DESC
//! ```
//! Nothing of the plan changes: the sort stays, and goes when the scan turns out to give its order.

use crate::choose_path::FirstRows;
use crate::provider::RegionTable;
use datafusion::arrow::compute::SortOptions;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::datasource::{DefaultTableSource, provider_as_source};
use datafusion::logical_expr::{Expr, FetchType, LogicalPlan, SkipType, SortExpr};
use datafusion::physical_expr::PhysicalSortExpr;
use datafusion::physical_expr::expressions::Column;
use std::sync::Arc;

/// A column of a node's output, by its place, and how it is sorted.
type Wanted = (usize, SortOptions);

/// The node, if it is a sort of which the first rows are wanted with the table below it told so.
pub(super) fn told(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match node {
        LogicalPlan::Sort(mut sort) => {
            let Some(fetch) = sort.fetch else { return Ok(Transformed::no(LogicalPlan::Sort(sort))) };
            let told = below(&sort.input, &sort.expr, fetch);
            told.into_iter().for_each(|input| sort.input = Arc::new(input));
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

/// The input with its table told, if there is one and its columns alone are sorted by.
fn below(input: &LogicalPlan, by: &[SortExpr], fetch: usize) -> Option<LogicalPlan> {
    let wanted = |by: &SortExpr| {
        let Expr::Column(column) = &by.expr else { return None };
        let at = input.schema().maybe_index_of_column(column)?;
        Some((at, SortOptions { descending: !by.asc, nulls_first: by.nulls_first }))
    };
    tell(input, &by.iter().map(wanted).collect::<Option<Vec<Wanted>>>()?, fetch)
}

/// Goes down through nodes that keep rows as they are and only name or choose columns.
fn tell(node: &LogicalPlan, wanted: &[Wanted], fetch: usize) -> Option<LogicalPlan> {
    match node {
        LogicalPlan::Projection(projection) => {
            let column = |at: usize| match projection.expr.get(at)?.clone().unalias() {
                Expr::Column(column) => projection.input.schema().maybe_index_of_column(&column),
                _ => None,
            };
            let inner =
                wanted.iter().map(|(at, options)| Some((column(*at)?, *options))).collect::<Option<Vec<_>>>()?;
            let mut told = projection.clone();
            told.input = Arc::new(tell(&projection.input, &inner, fetch)?);
            Some(LogicalPlan::Projection(told))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let mut told = alias.clone();
            told.input = Arc::new(tell(&alias.input, wanted, fetch)?);
            Some(LogicalPlan::SubqueryAlias(told))
        }
        LogicalPlan::TableScan(scan) => {
            let source = (scan.source.as_ref() as &dyn std::any::Any).downcast_ref::<DefaultTableSource>()?;
            let table = (source.table_provider.as_ref() as &dyn std::any::Any).downcast_ref::<RegionTable>()?;
            let column = |at: usize| match &scan.projection {
                Some(columns) => columns.get(at).copied(),
                None => Some(at),
            };
            let sort = |(at, options): &Wanted| {
                let at = column(*at)?;
                let name = &table.codec().table().columns.get(at)?.name;
                Some(PhysicalSortExpr::new(Arc::new(Column::new(name, at)), *options))
            };
            let order = wanted.iter().map(sort).collect::<Option<Vec<_>>>()?;
            let mut told = scan.clone();
            told.source = provider_as_source(Arc::new(table.with_first(FirstRows { order, fetch })));
            Some(LogicalPlan::TableScan(told))
        }
        _ => None,
    }
}
