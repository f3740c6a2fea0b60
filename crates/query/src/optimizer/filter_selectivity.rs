//! The selectivity of filters over a scan, by the table's statistics.
//!
//! DataFusion 55.2 estimates numeric comparisons from column ranges, and assumes that every other filter passes a fifth
//! of the rows (`FilterExec::default_selectivity`). The estimate decides which side of a join is the build side.

use crate::exec::RegionScanExec;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use std::sync::Arc;

/// Sets the default selectivity of filters over scans.
#[derive(Debug)]
pub(super) struct FilterSelectivity;

/// The rule that uses the row estimates.
pub(super) const BEFORE: &str = "join_selection";

impl PhysicalOptimizerRule for FilterSelectivity {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let with_selectivity = |plan: Arc<dyn ExecutionPlan>| {
            let Some(filter) = plan.downcast_ref::<FilterExec>() else { return Ok(Transformed::no(plan)) };
            let scan = filter.input().downcast_ref::<RegionScanExec>();
            let Some(share) = scan.and_then(|scan| scan.share_passing(filter.predicate())) else {
                return Ok(Transformed::no(plan));
            };
            // Whole percents; 0 percent would mean no rows.
            let percent = (share * 100.0).ceil().clamp(1.0, 100.0) as u8;
            let filter = FilterExecBuilder::from(filter).with_default_selectivity(percent).build()?;
            Ok(Transformed::yes(Arc::new(filter) as Arc<dyn ExecutionPlan>))
        };
        plan.transform_up(with_selectivity).data()
    }

    fn name(&self) -> &str {
        "filter_selectivity"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
