//! `min` and `max` of a key or index column: reads the first row of a scan in key order instead of all rows.
//!
//! ```text
//!   Aggregate: max(departed)                Aggregate: max(departed)
//!     TableScan: carrier = 'UA', ...   =>     Limit: 1
//!                                               Sort: departed DESC
//!                                                 TableScan: carrier = 'UA', ...
//! ```
//! The sort then becomes the scan direction. It applies only if all parts in front of the column are bound to one value
//! each. `min` and `max` ignore NULLs: if the column may have some, the scan gets an IS NOT NULL filter.

use crate::bound_index::bare;
use crate::provider::RegionTable;
use crate::scan_source::ScanSource;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, Operator, TableScan};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// The rule. Runs after filters have been pushed into scans.
#[derive(Debug)]
pub(super) struct MinMaxOfKey;

impl OptimizerRule for MinMaxOfKey {
    fn name(&self) -> &str {
        "min_max_of_key"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(aggregate) = plan else { return Ok(Transformed::no(plan)) };
        let Some((value, ascending)) = only_min_or_max(&aggregate) else {
            return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
        };
        let Some((input, nulls_first)) = in_order(&aggregate.input, &value, ascending) else {
            return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
        };
        let first = LogicalPlanBuilder::from(input)
            .sort(vec![value.sort(ascending, nulls_first)])?
            .limit(0, Some(1))?
            .build()?;
        let Aggregate { group_expr, aggr_expr, .. } = aggregate;
        let aggregate = Aggregate::try_new(Arc::new(first), group_expr, aggr_expr)?;
        Ok(Transformed::yes(LogicalPlan::Aggregate(aggregate)))
    }
}

/// The argument of a lone `min` (true) or `max` (false) without GROUP BY.
fn only_min_or_max(aggregate: &Aggregate) -> Option<(Expr, bool)> {
    let ([], [only]) = (aggregate.group_expr.as_slice(), aggregate.aggr_expr.as_slice()) else { return None };
    let Expr::AggregateFunction(call) = only else { return None };
    let ascending = match call.func.name() {
        "min" => true,
        "max" => false,
        _ => return None,
    };
    match call.params.args.as_slice() {
        [value] if call.params.filter.is_none() && !value.is_volatile() => Some((value.clone(), ascending)),
        _ => None,
    }
}

/// The input with NULLs filtered out, if it is a table scan and the first row in a key order has the result; and
/// whether that order has NULLs first.
fn in_order(input: &LogicalPlan, value: &Expr, ascending: bool) -> Option<(LogicalPlan, bool)> {
    match (input, value) {
        (LogicalPlan::TableScan(scan), value) => {
            let (scan, nulls_first) =
                in_key_order(scan, value, ascending).or_else(|| scan_in_order_of(scan, value, ascending))?;
            Some((LogicalPlan::TableScan(scan), nulls_first))
        }
        (LogicalPlan::Projection(projection), Expr::Column(column)) => {
            let at = projection.schema.maybe_index_of_column(column)?;
            let computed = projection.expr.get(at)?.clone().unalias();
            let (input, nulls_first) = in_order(&projection.input, &computed, ascending)?;
            let mut projection = projection.clone();
            projection.input = Arc::new(input);
            Some((LogicalPlan::Projection(projection), nulls_first))
        }
        _ => None,
    }
}

/// A column in key order of the table or of an index.
fn in_key_order(scan: &TableScan, column: &Expr, ascending: bool) -> Option<(TableScan, bool)> {
    let Expr::Column(named) = column else { return None };
    let table = RegionTable::of(scan)?;
    let columns = &table.codec().table().columns;
    let at = columns.iter().position(|candidate| candidate.name == named.name)?;
    let bound = |column: &Option<usize>| {
        let name = column.and_then(|column| columns.get(column)).map(|column| column.name.as_str());
        let filters = || scan.filters.iter().flat_map(split_conjunction);
        name.is_some_and(|name| filters().any(|filter| binds(filter, name)))
    };
    let whole = table.indexes().iter().filter(|index| index.left_of(&scan.filters).is_some());
    let by_index = whole.map(|index| ScanSource::index(table.codec(), index, true));
    let mut ways = std::iter::once(ScanSource::table(table.codec())).chain(by_index);
    let nulls_first = ways.find_map(|way| {
        let part = way.part_of(at)?;
        let found = way.scanned().key_schema().parts.get(part)?;
        let reverse = found.descending == ascending;
        way.key_columns().iter().take(part).all(bound).then_some(found.nulls_first != reverse)
    })?;
    let mut scan = scan.clone();
    if columns.get(at).is_none_or(|column| !column.not_null) {
        scan.filters.push(column.clone().is_not_null());
    }
    Some((scan, nulls_first))
}

/// An expression in key order of an index whose first part it is.
fn scan_in_order_of(scan: &TableScan, computed: &Expr, ascending: bool) -> Option<(TableScan, bool)> {
    if matches!(computed, Expr::Column(_)) || computed.is_volatile() {
        return None;
    }
    let (table, wanted) = (RegionTable::of(scan)?, bare(computed.clone()));
    let indexes = table.indexes().iter().filter(|index| index.left_of(&scan.filters).is_some());
    let nulls_first = indexes.into_iter().find_map(|index| {
        let first = index.key_exprs().first().copied().flatten() == Some(&wanted);
        let part = index.entries.key_schema().parts.first().filter(|_| first)?;
        Some(part.nulls_first != (part.descending == ascending))
    })?;
    let mut scan = scan.clone();
    scan.filters.push(computed.clone().is_not_null());
    Some((scan, nulls_first))
}

/// Is it `name = expression without columns`?
fn binds(filter: &Expr, name: &str) -> bool {
    let Expr::BinaryExpr(binary) = filter else { return false };
    let is_column = |expr: &Expr| matches!(expr, Expr::Column(column) if column.name == name);
    let sides = [(&binary.left, &binary.right), (&binary.right, &binary.left)];
    binary.op == Operator::Eq && sides.iter().any(|(column, value)| is_column(column) && !value.any_column_refs())
}
