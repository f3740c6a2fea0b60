//! Where a plan asks whether to go on: at its leaves, and above operators that make many batches of what they read.

use crate::exec::{FittingRowsExec, PausingExec};
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::joins::SortMergeJoinExec;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use std::sync::Arc;

/// Does it make batches without reading one for each? Leaves that do not count turns, and other joins, are in the
/// planner's operator that does it for them.
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

/// Puts them there.
#[derive(Debug)]
pub(super) struct Pauses;

impl PhysicalOptimizerRule for Pauses {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            Ok(if makes_batches(plan.as_ref()) {
                Transformed::yes(PausingExec::over(plan))
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
