//! Joins that make many rows of few let others run in between.
//!
//! A task gives way when it waits, or when an operator counts its turns. The planner's rule counts turns of leaves; a
//! join of small inputs reads its leaves once and then computes for hours, and no cancel request would reach it.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec};
use std::sync::Arc;

/// Counts the turns of joins.
#[derive(Debug)]
pub(super) struct CooperativeJoins;

impl PhysicalOptimizerRule for CooperativeJoins {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let multiplies = plan.is::<CrossJoinExec>() || plan.is::<NestedLoopJoinExec>() || plan.is::<HashJoinExec>();
            Ok(if multiplies {
                Transformed::yes(Arc::new(CooperativeExec::new(plan)) as Arc<dyn ExecutionPlan>)
            } else {
                Transformed::no(plan)
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "cooperative_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
