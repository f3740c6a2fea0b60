//! A projection whose output batches are cut by bytes.

use super::pieces::{Piece, Pieces};
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;

/// Evaluates the expressions of a projection piece by piece, see [`Pieces`].
#[derive(Debug)]
pub(crate) struct ComputeExec {
    projection: Arc<ProjectionExec>,
    metrics: ExecutionPlanMetricsSet,
}

impl ComputeExec {
    pub(crate) fn new(projection: Arc<ProjectionExec>) -> Self {
        Self { projection, metrics: ExecutionPlanMetricsSet::new() }
    }

    pub(crate) fn projection(&self) -> &ProjectionExec {
        &self.projection
    }
}

impl DisplayAs for ComputeExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.projection.fmt_as(format, f)
    }
}

impl ExecutionPlan for ComputeExec {
    fn name(&self) -> &str {
        "ComputeExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.projection.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.projection.children()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        self.projection.maintains_input_order()
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        self.projection.benefits_from_input_partitioning()
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.projection.apply_expressions(visit)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let anew = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        let changed = Arc::clone(&self.projection).replace_children(children, anew)?;
        match changed.downcast_ref::<ProjectionExec>() {
            Some(projection) => Ok(Arc::new(Self::new(Arc::new(projection.clone())))),
            None => internal_err!("a projection stays one"),
        }
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(&self, partition: usize, tasks: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let exprs = self.projection.expr().iter().map(|item| Arc::clone(&item.expr)).collect();
        let schema = self.schema();
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let work = Work {
            pieces: Pieces::new(exprs, &tasks),
            schema: Arc::clone(&schema),
            input: self.projection.input().execute(partition, tasks)?,
            metrics,
        };
        let batches = stream::try_unfold(work, |mut work| async move {
            let batch = work.next().await?;
            Ok(batch.map(|batch| (batch, work)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

struct Work {
    pieces: Pieces,
    schema: SchemaRef,
    input: SendableRecordBatchStream,
    metrics: BaselineMetrics,
}

impl Work {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let time = self.metrics.elapsed_compute().clone();
            let timer = time.timer();
            let piece = self.pieces.next()?;
            drop(timer);
            if let Some(Piece { rows, computed }) = piece {
                let count = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
                let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), computed, &count)?;
                self.metrics.record_output(batch.num_rows());
                return Ok(Some(batch));
            }
            match self.input.next().await.transpose()? {
                Some(batch) => self.pieces.begin(batch),
                None => return Ok(None),
            }
        }
    }
}
