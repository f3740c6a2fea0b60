//! Cuts batches for an operator above that evaluates memory-hungry expressions over whole batches.

use super::pass_through::{PassThrough, PassThroughExec};
use super::pieces::Pieces;
use arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};
use std::sync::Arc;

/// Re-cuts its input into batches over which the expressions fit into memory. It evaluates them to find out.
pub(crate) type FewerRowsExec = PassThroughExec<FewerRows>;

/// The expressions that must fit.
#[derive(Clone, Debug)]
pub(crate) struct FewerRows {
    exprs: Vec<Arc<dyn PhysicalExpr>>,
}

impl FewerRowsExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, exprs: Vec<Arc<dyn PhysicalExpr>>) -> Self {
        Self::over(input, FewerRows { exprs })
    }
}

impl PassThrough for FewerRows {
    const NAME: &'static str = "FewerRowsExec";

    fn exprs(&self) -> &[Arc<dyn PhysicalExpr>] {
        &self.exprs
    }

    fn pass(&self, input: SendableRecordBatchStream, tasks: &TaskContext) -> SendableRecordBatchStream {
        let (schema, pieces) = (input.schema(), Pieces::new(self.exprs.clone(), tasks));
        let batches = stream::try_unfold((pieces, input), |(mut pieces, mut input)| async move {
            let batch = next(&mut pieces, &mut input).await?;
            Ok(batch.map(|batch| (batch, (pieces, input))))
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, batches))
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
