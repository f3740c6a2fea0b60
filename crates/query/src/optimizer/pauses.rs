//! Places `PausingExec`: at the leaves, and above operators that return many batches for few input batches.
//!
//! Joins that multiply rows also count against Tokio's cooperative budget. A task yields when it waits or when its
//! budget is used up. DataFusion's rule counts the batches of leaves; a join of small inputs reads its leaves once and
//! then computes for hours, and no cancel request would reach it. The budget is 128, and a poll that descends through
//! counting joins uses one unit per join: joins nested deeper than that would never make progress. So in deep nestings
//! only some joins count.

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

/// May it return batches without reading one for each? Leaves that do not count batches are below DataFusion's
/// `CooperativeExec`.
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

/// Up to this depth all nested joins count; deeper ones only at multiples of it.
const ALL: usize = 24;

/// Does a join with `below` levels of joins under it count its batches?
fn counts(below: usize) -> bool {
    below < ALL || below.is_multiple_of(ALL)
}

fn multiplies(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<CrossJoinExec>() || plan.is::<NestedLoopJoinExec>() || plan.is::<HashJoinExec>()
}

/// The number of levels of joins under a plan.
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

/// The rule that places them.
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
