//! Batches cut for an operator above whose expressions make much of few rows, and that computes them of whole batches.

use super::pieces::Pieces;
use arrow::array::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;

/// Hands on its rows in batches that the expressions can be computed of. It computes them to know.
#[derive(Debug)]
pub(crate) struct FewerRowsExec {
    input: Arc<dyn ExecutionPlan>,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
}

impl FewerRowsExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, exprs: Vec<Arc<dyn PhysicalExpr>>) -> Self {
        Self { input, exprs }
    }
}

impl DisplayAs for FewerRowsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FewerRowsExec")
    }
}

impl ExecutionPlan for FewerRowsExec {
    fn name(&self) -> &str {
        "FewerRowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let mut recursion = TreeNodeRecursion::Continue;
        for expr in &self.exprs {
            recursion = recursion.visit_sibling(|| visit(expr))?;
        }
        Ok(recursion)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(children) {
            Ok([input]) => Ok(Arc::new(Self::new(input, self.exprs.clone()))),
            Err(_) => internal_err!("one input is wanted"),
        }
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn execute(&self, partition: usize, tasks: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let pieces = Pieces::new(self.exprs.clone(), &tasks);
        let input = self.input.execute(partition, tasks)?;
        let batches = stream::try_unfold((pieces, input), |(mut pieces, mut input)| async move {
            let batch = next(&mut pieces, &mut input).await?;
            Ok(batch.map(|batch| (batch, (pieces, input))))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}

async fn next(pieces: &mut Pieces, input: &mut SendableRecordBatchStream) -> Result<Option<RecordBatch>> {
    loop {
        if let Some(piece) = pieces.next()? {
            return Ok(Some(piece.rows));
        }
        match input.next().await.transpose()? {
            Some(batch) => pieces.begin(batch),
            None => return Ok(None),
        }
    }
}
