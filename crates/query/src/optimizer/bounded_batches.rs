//! Operators whose expressions make long values compute them of as many rows as the memory of a batch takes.

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

/// Functions whose values may be any number of times as long as their arguments.
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

/// A constant of so many bytes is a column of many for a batch of rows, and beyond what offsets reach for a long one.
const LARGE_CONSTANT: usize = 1 << 16;

/// Cuts batches by what is computed of them.
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

/// Below an operator that computes what grows, batches are cut.
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

/// Below an operator that puts rows into batches of its own, long rows are seen.
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

/// Does an operator make several rows of one?
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

/// Does an operator put rows of several batches into one?
fn gathers(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<FilterExec>() || plan.is::<AggregateExec>() || plan.is::<RepartitionExec>()
}

/// Is it an operator that computes its expressions of whole batches of its input?
fn computes_of_input(plan: &dyn ExecutionPlan) -> bool {
    // The input of other modes is not rows, but states of groups.
    let of_rows = [AggregateMode::Partial, AggregateMode::Single, AggregateMode::SinglePartitioned];
    plan.is::<FilterExec>()
        || plan.downcast_ref::<AggregateExec>().is_some_and(|aggregate| of_rows.contains(aggregate.mode()))
}

/// Does a projection compute texts or lists, or of them what is short?
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

/// The expressions of an operator that call functions which grow or have large constants, and that its input's rows are enough for.
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
