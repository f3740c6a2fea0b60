//! Hides unsound properties of joins, because of which DataFusion would drop sorts.
//!
//! Two claims of DataFusion 55.2 (`join_equivalence_properties`, `EquivalenceGroup::join`) are wrong:
//!
//! ```text
//!   probe side ordered by a, build side ordered by a, b     claimed: ordered by a, b
//!       a              a b
//!       1  (b = 2)     1 1        the matches of one probe row are ordered by b; those of the next row
//!       1  (b = 1)     1 2        with the same a start again. Only the order of the probe side holds.
//!
//!   t LEFT JOIN (… WHERE k = 5)                           claimed: k is constant
//!                                                         it is NULL in rows without a match
//! ```
//! So the order of a build side is hidden from the join, and so are all properties of a side whose rows may be
//! NULL-extended. A merge join requires ordered inputs, so its own output order is hidden instead.

use super::misplaced_keys::UnorderedExec;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use std::sync::Arc;

/// Hides properties from which joins draw wrong conclusions, before sorts are placed.
#[derive(Debug)]
pub(super) struct SoundJoins;

impl PhysicalOptimizerRule for SoundJoins {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let Some(join_type) = join_type(plan.as_ref()) else { return Ok(Transformed::no(plan)) };
            let hashed = plan.is::<HashJoinExec>();
            let hidden = |(side, child): (usize, &Arc<dyn ExecutionPlan>)| -> Arc<dyn ExecutionPlan> {
                if has_no_equivalences(child) {
                    Arc::clone(child)
                } else if is_padded(join_type, side) {
                    Arc::new(UnorderedExec::unknown(Arc::clone(child)))
                } else if hashed && side == 0 {
                    Arc::new(UnorderedExec::new(Arc::clone(child)))
                } else {
                    Arc::clone(child)
                }
            };
            let sides: Vec<_> = plan.children().into_iter().enumerate().map(hidden).collect();
            let plan = replace_children_if_necessary(plan, sides)?;
            Ok(Transformed::yes(match plan.is::<SortMergeJoinExec>() {
                true => Arc::new(UnorderedExec::new(plan)),
                false => plan,
            }))
        })
        .data()
    }

    fn name(&self) -> &str {
        "sound_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn join_type(plan: &dyn ExecutionPlan) -> Option<JoinType> {
    let hash = plan.downcast_ref::<HashJoinExec>().map(|join| *join.join_type());
    let merge = || plan.downcast_ref::<SortMergeJoinExec>().map(SortMergeJoinExec::join_type);
    let nested = || plan.downcast_ref::<NestedLoopJoinExec>().map(|join| *join.join_type());
    hash.or_else(merge).or_else(nested)
}

/// May rows of that side be NULL-extended?
fn is_padded(join_type: JoinType, side: usize) -> bool {
    match join_type {
        JoinType::Left => side == 1,
        JoinType::Right => side == 0,
        JoinType::Full => true,
        _ => false,
    }
}

/// Has it neither an order nor constants, equal columns or constraints?
fn has_no_equivalences(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let known = plan.properties().equivalence_properties();
    known.oeq_class().is_empty() && known.eq_group().is_empty() && known.constraints().is_empty()
}
