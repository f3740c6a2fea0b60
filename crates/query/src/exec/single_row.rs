//! A scalar subquery's rows: a second row is an error.

use super::pass_through::only_input;
use crate::error::QueryError;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// Passes on at most one row.
#[derive(Debug)]
pub(crate) struct SingleRowExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl SingleRowExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let properties = input.properties().as_ref().clone().with_partitioning(Partitioning::UnknownPartitioning(1));
        Self { input, properties: Arc::new(properties) }
    }
}

impl DisplayAs for SingleRowExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SingleRowExec")
    }
}

impl ExecutionPlan for SingleRowExec {
    fn name(&self) -> &str {
        "SingleRowExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let input = only_input(children)?;
        Ok(Arc::new(Self::new(input)))
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn execute(&self, partition: usize, tasks: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.input.execute(partition, tasks)?;
        let schema = rows.schema();
        let mut seen = 0_usize;
        let rows = rows.map(move |batch| {
            let batch = batch?;
            seen = seen.saturating_add(batch.num_rows());
            if seen > 1 { Err(QueryError::SubqueryRows.into()) } else { Ok(batch) }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
