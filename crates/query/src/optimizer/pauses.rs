//! Where a plan asks whether to go on: at its leaves, and above operators that make many batches of what they read.
//!
//! Joins that make many rows of few let others run in between, too. A task gives way when it waits, or when an operator counts its
//! turns. DataFusion's rule counts turns of leaves; a join of small inputs reads its leaves once and then computes for hours, and no
//! cancel request would reach it. A task has 128 turns at a time, and a poll that goes down through counting joins takes one at
//! each: of joins nested deeper than that none would ever be reached. So of many only some count.

use crate::exec::{FittingRowsExec, PausingExec};
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use std::sync::Arc;

/// Does it make batches without reading one for each? Leaves that do not count turns are in DataFusion's operator that does it for
/// them.
fn makes_batches(plan: &dyn ExecutionPlan) -> bool {
    let counts = plan.properties().scheduling_type == SchedulingType::Cooperative;
    plan.children().is_empty() && counts
        || plan.is::<CooperativeExec>()
        || plan.is::<AggregateExec>()
        || plan.is::<SortExec>()
        || plan.is::<SortPreservingMergeExec>()
        || plan.is::<FittingRowsExec>()
        || plan.is::<WindowAggExec>()
        || plan.is::<BoundedWindowAggExec>()
        || plan.is::<UnnestExec>()
        || plan.is::<SortMergeJoinExec>()
        || plan.is::<RecursiveQueryExec>()
}

/// Up to so many joins in each other all count, and of more each time so many one.
const ALL: usize = 24;

/// Does a join over so many levels of joins count its turns?
fn counts(below: usize) -> bool {
    below < ALL || below.is_multiple_of(ALL)
}

fn multiplies(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<CrossJoinExec>() || plan.is::<NestedLoopJoinExec>() || plan.is::<HashJoinExec>()
}

/// How many levels of joins are under a plan.
fn joins_below(plan: &dyn ExecutionPlan) -> usize {
    let mut deepest = 0;
    let mut open = vec![(plan.children(), 0)];
    while let Some((children, depth)) = open.pop() {
        for child in children {
            let depth = depth + usize::from(multiplies(child.as_ref()));
            deepest = deepest.max(depth);
            open.push((child.children(), depth));
        }
    }
    deepest
}

/// Puts them there.
#[derive(Debug)]
pub(super) struct Pauses;

impl PhysicalOptimizerRule for Pauses {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            Ok(if multiplies(plan.as_ref()) && counts(joins_below(plan.as_ref())) {
                Transformed::yes(Arc::new(PausingExec::counting(plan)) as _)
            } else if makes_batches(plan.as_ref()) {
                Transformed::yes(Arc::new(PausingExec::new(plan)) as _)
            } else {
                Transformed::no(plan)
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "pauses"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
