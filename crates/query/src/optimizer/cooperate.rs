//! Joins that make many rows of few let others run in between.
//!
//! A task gives way when it waits, or when an operator counts its turns. DataFusion's rule counts turns of leaves; a
//! join of small inputs reads its leaves once and then computes for hours, and no cancel request would reach it.
//!
//! A task has 128 turns at a time, and a poll that goes down through counting joins takes one at each: of joins nested
//! deeper than that none would ever be reached. So of many only some count.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec};
use std::sync::Arc;

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

/// Counts the turns of joins.
#[derive(Debug)]
pub(super) struct CooperativeJoins;

impl PhysicalOptimizerRule for CooperativeJoins {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            Ok(if multiplies(plan.as_ref()) && counts(joins_below(plan.as_ref())) {
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
