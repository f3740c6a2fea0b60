//! `min` and `max` of a key column: the first row of a scan in key order, instead of all rows.
//!
//! ```text
//!   Aggregate: max(departed)                Aggregate: max(departed)
//!     TableScan: carrier = 'UA', ...   =>     Limit: 1
//!                                               Sort: departed DESC
//!                                                 TableScan: carrier = 'UA', ...
//! ```
//! The sort then becomes a direction of the scan. Only where key order gives the answer: the parts in front of the
//! column are bound to one value each.

use crate::provider::RegionTable;
use catalog::row_codec::Place;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::datasource::DefaultTableSource;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, Operator, TableScan};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::any::Any;
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
        let Some((column, ascending)) = only_min_or_max(&aggregate) else {
            return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
        };
        if !first_row_has_it(&aggregate.input, &column) {
            return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
        }
        let first = LogicalPlanBuilder::from(aggregate.input.as_ref().clone())
            .sort(vec![column.sort(ascending, false)])?
            .limit(0, Some(1))?
            .build()?;
        let Aggregate { group_expr, aggr_expr, .. } = aggregate;
        let aggregate = Aggregate::try_new(Arc::new(first), group_expr, aggr_expr)?;
        Ok(Transformed::yes(LogicalPlan::Aggregate(aggregate)))
    }
}

/// The column of a lone `min` (true) or `max` over all rows.
fn only_min_or_max(aggregate: &Aggregate) -> Option<(Expr, bool)> {
    let ([], [only]) = (aggregate.group_expr.as_slice(), aggregate.aggr_expr.as_slice()) else { return None };
    let Expr::AggregateFunction(call) = only else { return None };
    let ascending = match call.func.name() {
        "min" => true,
        "max" => false,
        _ => return None,
    };
    match call.params.args.as_slice() {
        [column @ Expr::Column(_)] if call.params.filter.is_none() => Some((column.clone(), ascending)),
        _ => None,
    }
}

/// Is the input a table's scan whose key order begins with the column, and is it never NULL?
fn first_row_has_it(input: &LogicalPlan, column: &Expr) -> bool {
    let (LogicalPlan::TableScan(scan), Expr::Column(column)) = (input, column) else { return false };
    let Some(table) = region_table(scan) else { return false };
    let codec = table.codec();
    let Some(index) = codec.table().columns.iter().position(|candidate| candidate.name == column.name) else {
        return false;
    };
    let Some(Place::Key(part)) = codec.places().get(index) else { return false };
    let nullable = codec.key_schema().parts.get(*part).is_none_or(|part| part.nullable);
    let bound = |column: &usize| {
        let name = codec.table().columns.get(*column).map(|column| column.name.as_str()).unwrap_or_default();
        scan.filters.iter().flat_map(split_conjunction).any(|filter| binds(filter, name))
    };
    !nullable && codec.key_columns().iter().take(*part).all(bound)
}

fn region_table(scan: &TableScan) -> Option<&RegionTable> {
    let source = (scan.source.as_ref() as &dyn Any).downcast_ref::<DefaultTableSource>()?;
    (source.table_provider.as_ref() as &dyn Any).downcast_ref::<RegionTable>()
}

/// `name = something without columns`.
fn binds(filter: &Expr, name: &str) -> bool {
    let Expr::BinaryExpr(binary) = filter else { return false };
    let is_column = |expr: &Expr| matches!(expr, Expr::Column(column) if column.name == name);
    let sides = [(&binary.left, &binary.right), (&binary.right, &binary.left)];
    binary.op == Operator::Eq && sides.iter().any(|(column, value)| is_column(column) && !value.any_column_refs())
}
