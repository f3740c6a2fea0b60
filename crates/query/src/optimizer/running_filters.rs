//! Filters that joins and sorts make while they run are handed down only where names cannot mislead them.
//!
//! The planner's rule leads a filter through the operators below by the names of its columns, and takes the first column of
//! a name. In the answer of `SELECT a.x, b.x FROM a JOIN b …` two have the same: a bound on `a.x` would end as one on
//! `b.x`, and drop rows that are wanted. So the rule gets the parts of a plan in which that cannot happen.

use arrow::datatypes::Schema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{HashSet, Result};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use std::sync::Arc;

/// Takes the place of the planner's rule.
#[derive(Debug)]
pub(super) struct RunningFilters {
    rule: FilterPushdown,
}

impl RunningFilters {
    pub(super) fn new() -> Self {
        Self { rule: FilterPushdown::new_post_optimization() }
    }
}

impl PhysicalOptimizerRule for RunningFilters {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, options: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_down(|plan| {
            if !names_are_clear(&plan) {
                return Ok(Transformed::no(plan));
            }
            let plan = self.rule.optimize(plan, options)?;
            Ok(Transformed::new(plan, true, TreeNodeRecursion::Jump))
        })
        .data()
    }

    fn name(&self) -> &str {
        self.rule.name()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Has no operator that a filter comes through two columns of one name?
fn names_are_clear(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let mut open = vec![(plan, false)];
    while let Some((plan, below)) = open.pop() {
        if below && repeats_a_name(&plan.schema()) {
            return false;
        }
        let makes = |child: usize| {
            // A join's filter is about the rows that it probes with.
            plan.is::<SortExec>() || plan.is::<AggregateExec>() || (plan.is::<HashJoinExec>() && child == 1)
        };
        open.extend(plan.children().into_iter().enumerate().map(|(at, child)| (child, below || makes(at))));
    }
    true
}

fn repeats_a_name(schema: &Schema) -> bool {
    let mut names = HashSet::new();
    schema.fields().iter().any(|field| !names.insert(field.name()))
}
