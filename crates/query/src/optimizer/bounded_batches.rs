//! Bounds the memory of a batch where expressions compute long values or operators copy long rows.

use crate::exec::{ComputeExec, FewerRowsExec, FittingRowsExec, HeldWindowExec, LongRowsExec, is_long};
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::execution_plan::{
    ChildrenPropertiesMode, ReplaceChildrenOptions, replace_children_if_necessary,
};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, PiecewiseMergeJoinExec, SortMergeJoinExec,
};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use std::sync::Arc;

/// Functions whose results may be arbitrarily longer than their arguments.
const GROWING: [&str; 17] = [
    "array_fill",
    "array_repeat",
    "array_resize",
    "array_to_string",
    "concat",
    "concat_ws",
    "format",
    "generate_series",
    "lpad",
    "range",
    "regexp_matches",
    "regexp_replace",
    "regexp_split_to_array",
    "repeat",
    "replace",
    "rpad",
    "string_to_array",
];

/// In bytes. A larger constant, expanded to a column for a batch of rows, takes much memory or overflows 32-bit
/// offsets.
const LARGE_CONSTANT: usize = 1 << 16;

/// Limits batches by the size of the values in them.
#[derive(Debug)]
pub(super) struct BoundedBatches;

impl PhysicalOptimizerRule for BoundedBatches {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
                return if makes_long_values(projection)? {
                    Ok(Transformed::yes(Arc::new(ComputeExec::new(Arc::new(projection.clone()))) as _))
                } else {
                    Ok(Transformed::no(plan))
                };
            }
            let sorts = plan.is::<SortExec>() || plan.is::<SortPreservingMergeExec>();
            if sorts && plan.schema().fields().iter().any(|field| is_long(field.data_type())) {
                return Ok(Transformed::yes(Arc::new(FittingRowsExec::new(plan)) as _));
            }
            with_fewer_rows(plan)?.transform_data(with_measured_rows)
        })
        .data()
    }

    fn name(&self) -> &str {
        "bounded_batches"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Cuts the input batches of an operator that computes growing values.
fn with_fewer_rows(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    if !computes_of_input(plan.as_ref()) {
        return Ok(Transformed::no(plan));
    }
    let exprs = growing(plan.as_ref())?;
    let inputs: Vec<_> = plan.children().into_iter().map(Arc::clone).collect();
    let ([input], false) = (inputs.as_slice(), exprs.is_empty()) else {
        return Ok(Transformed::no(plan));
    };
    let fewer = FewerRowsExec::new(Arc::clone(input), exprs);
    let anew = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    plan.replace_children(vec![Arc::new(fewer)], anew).map(Transformed::yes)
}

/// Measures the rows below an operator that builds new batches of them.
fn with_measured_rows(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let multiplies = multiplies(plan.as_ref());
    if !multiplies && !gathers(plan.as_ref()) {
        return Ok(Transformed::no(plan));
    }
    let has_long_rows = |input: &Arc<dyn ExecutionPlan>| {
        let schema = input.schema();
        schema.fields().iter().any(|field| is_long(field.data_type()))
    };
    let measured = |input: &Arc<dyn ExecutionPlan>| -> Arc<dyn ExecutionPlan> {
        match has_long_rows(input) {
            true => Arc::new(LongRowsExec::new(Arc::clone(input), multiplies)),
            false => Arc::clone(input),
        }
    };
    let inputs: Vec<_> = plan.children().into_iter().map(measured).collect();
    let plan = replace_children_if_necessary(plan, inputs)?;
    Ok(Transformed::yes(if is_window(plan.as_ref()) { Arc::new(HeldWindowExec::new(plan)) } else { plan }))
}

/// May an operator return several rows for one input row?
fn multiplies(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<HashJoinExec>()
        || plan.is::<SortMergeJoinExec>()
        || plan.is::<NestedLoopJoinExec>()
        || plan.is::<CrossJoinExec>()
        || plan.is::<PiecewiseMergeJoinExec>()
        || plan.is::<UnnestExec>()
        || is_window(plan)
}

fn is_window(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<WindowAggExec>() || plan.is::<BoundedWindowAggExec>()
}

/// Does an operator combine rows of several batches?
fn gathers(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<FilterExec>() || plan.is::<AggregateExec>() || plan.is::<RepartitionExec>()
}

/// Does an operator evaluate its expressions over whole input batches?
fn computes_of_input(plan: &dyn ExecutionPlan) -> bool {
    // The input of the other modes is aggregate states, not rows.
    let of_rows = [AggregateMode::Partial, AggregateMode::Single, AggregateMode::SinglePartitioned];
    plan.is::<FilterExec>()
        || plan.downcast_ref::<AggregateExec>().is_some_and(|aggregate| of_rows.contains(aggregate.mode()))
}

/// Does a projection compute values of variable length, or shorter values from growing ones?
fn makes_long_values(projection: &ProjectionExec) -> Result<bool> {
    let schema = projection.input().schema();
    for item in projection.expr() {
        let computed = !item.expr.is::<Column>() && !is_small_constant(&item.expr);
        if computed && (is_long(&item.expr.data_type(&schema)?) || grows(&item.expr)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_small_constant(expr: &Arc<dyn PhysicalExpr>) -> bool {
    expr.downcast_ref::<Literal>().is_some_and(|literal| literal.value().size() < 1 << 10)
}

/// The operator's expressions that call growing functions or contain large constants.
fn growing(plan: &dyn ExecutionPlan) -> Result<Vec<Arc<dyn PhysicalExpr>>> {
    let mut found = Vec::new();
    plan.apply_expressions(&mut |expr| {
        if grows(expr)? {
            found.push(Arc::clone(expr));
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

fn grows(expr: &Arc<dyn PhysicalExpr>) -> Result<bool> {
    let mut grows = false;
    expr.apply(|part| {
        grows |= part.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| GROWING.contains(&call.name()))
            || part.downcast_ref::<Literal>().is_some_and(|literal| literal.value().size() > LARGE_CONSTANT);
        Ok(if grows { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(grows)
}
