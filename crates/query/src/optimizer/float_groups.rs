//! Excludes aggregates with floats from DataFusion's TopK aggregation.
//!
//! For `GROUP BY … ORDER BY … LIMIT n` that rule keeps only `n` groups and compares them by `==` (DataFusion 55.2,
//! `aggregates/topk/hash_table.rs`): each NaN forms a group of its own, and a heap full of NaN panics.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNode;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::topk_aggregation::TopKAggregation;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use std::sync::Arc;

/// Replaces DataFusion's rule; runs it if no aggregate returns a float.
#[derive(Debug)]
pub(super) struct FloatGroups(TopKAggregation);

impl Default for FloatGroups {
    fn default() -> Self {
        Self(TopKAggregation::new())
    }
}

impl PhysicalOptimizerRule for FloatGroups {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, options: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        if plan.exists(|node| Ok(is_of_floats(node.as_ref())))? { Ok(plan) } else { self.0.optimize(plan, options) }
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

fn is_of_floats(node: &dyn ExecutionPlan) -> bool {
    let is_float = |ty: &DataType| matches!(ty, DataType::Float16 | DataType::Float32 | DataType::Float64);
    node.downcast_ref::<AggregateExec>()
        .is_some_and(|groups| groups.schema().fields().iter().any(|field| is_float(field.data_type())))
}
