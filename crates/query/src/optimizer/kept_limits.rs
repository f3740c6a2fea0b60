//! Keeps the limit of a sort that is removed.
//!
//! DataFusion's rule (55.2, `EnsureRequirements`) removes a sort whose input has the order already, and hands its
//! fetch down with the order. An operator that requires no order of its inputs, such as a scan or a hash join, drops
//! it:
//!
//! ```text
//!   SortExec: id, fetch=3                                    scan in the order of id, and all rows are returned
//!     SortExec: amt                          becomes
//!       scan in the order of id
//! ```
//! So each such sort gets a limit above it before the rule. `LimitPushdown` removes the limits that are not needed.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use std::sync::Arc;

/// Runs before DataFusion's rule.
#[derive(Debug)]
pub(super) struct KeptLimits;

impl PhysicalOptimizerRule for KeptLimits {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            let sort = node.downcast_ref::<SortExec>().filter(|sort| !sort.preserve_partitioning());
            Ok(match sort.and_then(SortExec::fetch) {
                Some(fetch) => {
                    Transformed::yes(Arc::new(GlobalLimitExec::new(node, 0, Some(fetch))) as Arc<dyn ExecutionPlan>)
                }
                None => Transformed::no(node),
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "keep_limits"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
