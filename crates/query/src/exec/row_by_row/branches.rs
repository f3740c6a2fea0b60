//! UNION ALL of branches with effects: one branch after the other, and only as far as rows are asked for.
//!
//! DataFusion runs the branches of a `UnionExec` at the same time, so that their calls would take turns, and would run
//! branches that a LIMIT does not need.

use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, Partitioning, PlanProperties, Statistics,
};
use futures::{StreamExt, TryStreamExt, stream};
use std::fmt;
use std::sync::Arc;

/// Runs the branches of a `UnionExec` one after the other.
#[derive(Debug)]
pub(crate) struct BranchesExec {
    union: Arc<dyn ExecutionPlan>,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl BranchesExec {
    pub(crate) fn new(union: Arc<dyn ExecutionPlan>) -> Self {
        let properties = union.properties().as_ref().clone();
        // Orders and constants that hold within each branch do not hold across branches.
        let properties = properties
            .with_eq_properties(EquivalenceProperties::new(union.schema()))
            .with_partitioning(Partitioning::UnknownPartitioning(1));
        Self { union, metrics: ExecutionPlanMetricsSet::new(), properties: Arc::new(properties) }
    }

    pub(crate) fn union(&self) -> &dyn ExecutionPlan {
        self.union.as_ref()
    }
}

impl DisplayAs for BranchesExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.union.fmt_as(format, f)
    }
}

impl ExecutionPlan for BranchesExec {
    fn name(&self) -> &str {
        "BranchesExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.union.children()
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition; self.children().len()]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; self.children().len()]
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.union.apply_expressions(visit)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let anew = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        Ok(Arc::new(Self::new(Arc::clone(&self.union).replace_children(children, anew)?)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, input: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        self.union.statistics_from_inputs(input, args)
    }

    fn execute(&self, partition: usize, tasks: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let branches: Vec<_> = self.children().into_iter().map(Arc::clone).collect();
        let schema: SchemaRef = self.schema();
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let branches = stream::iter(branches).map(move |branch| branch.execute(0, Arc::clone(&tasks)));
        let batches = branches.try_flatten().inspect_ok(move |batch| {
            metrics.record_output(batch.num_rows());
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}
