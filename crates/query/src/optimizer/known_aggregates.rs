//! Replaces aggregates by values that statistics give: `count(*)` of a whole table, or of a one-row subquery.
//!
//! DataFusion's rule (55.2, `aggregate_statistics.rs`, `take_optimizable`) searches below a final aggregate for any
//! partial one without FILTER: if the matching one has a FILTER, it finds the aggregate of a subquery and uses that
//! one's values. This rule accepts only the first aggregate below.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_expr::expressions::lit;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateInputMode, AggregateMode};
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::udaf::{AggregateFunctionExpr, StatisticsArgs as Known};
use std::sync::Arc;

/// Replaces DataFusion's rule.
#[derive(Debug)]
pub(super) struct KnownAggregates;

impl PhysicalOptimizerRule for KnownAggregates {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _options: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let known = |node: Arc<dyn ExecutionPlan>| {
            Ok(match known(node.as_ref())? {
                Some(values) => Transformed::yes(values),
                None => Transformed::no(node),
            })
        };
        plan.transform_down(known).data()
    }

    fn name(&self) -> &str {
        "aggregate_statistics"
    }

    /// Known values are not NULL, unlike the columns of the aggregate's schema.
    fn schema_check(&self) -> bool {
        false
    }
}

/// The constant row of an aggregate whose values are all known.
fn known(node: &dyn ExecutionPlan) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(aggregate) = node.downcast_ref::<AggregateExec>() else { return Ok(None) };
    let Some(of_rows) = of_rows(aggregate) else { return Ok(None) };
    let is_plain = |of: &AggregateExec| of.group_expr().is_empty() && of.filter_expr().iter().all(Option::is_none);
    if !is_plain(aggregate) || !is_plain(of_rows) {
        return Ok(None);
    }
    let statistics = StatisticsContext::new().compute(of_rows.input().as_ref(), &StatisticsArgs::new())?;
    let value = |call: &Arc<AggregateFunctionExpr>| {
        let (field, exprs) = (call.field(), call.expressions());
        let known = Known {
            statistics: &statistics,
            return_type: field.data_type(),
            is_distinct: call.is_distinct(),
            exprs: &exprs,
        };
        let value = call.fun().value_from_stats(&known)?;
        Some(ProjectionExpr { expr: lit(value), alias: call.name().to_string() })
    };
    let Some(values) = of_rows.aggr_expr().iter().map(value).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let row = PlaceholderRowExec::new(node.schema());
    Ok(Some(Arc::new(ProjectionExec::try_new(values, Arc::new(row))?)))
}

/// The aggregate that reads the rows: `aggregate` itself, or the partial aggregate below it.
fn of_rows(aggregate: &AggregateExec) -> Option<&AggregateExec> {
    if matches!(aggregate.mode(), AggregateMode::Single | AggregateMode::SinglePartitioned) {
        return Some(aggregate);
    }
    if aggregate.mode().input_mode() != AggregateInputMode::Partial {
        return None;
    }
    let mut below = aggregate.input();
    loop {
        if let Some(partial) = below.downcast_ref::<AggregateExec>() {
            return (partial.mode().input_mode() == AggregateInputMode::Raw).then_some(partial);
        }
        let children = below.children();
        let [only] = children.as_slice() else { return None };
        below = only;
    }
}
