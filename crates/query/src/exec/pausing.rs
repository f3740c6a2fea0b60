//! Yields between batches, and stops a cancelled statement.
//!
//! DataFusion's operators count batches: a task yields after 128 of them, whatever each takes. If batches are slow to
//! compute, these are seconds in which no other task of the thread runs and neither a cancel request nor the statement
//! timeout is noticed. So the interrupt state is checked before each batch.

use super::pass_through::{PassThrough, PassThroughExec};
use crate::error::QueryError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use futures::stream::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use types::interrupt;

/// Passes on the batches of its input, and checks for an interrupt before each.
pub(crate) type PausingExec = PassThroughExec<Pausing>;

/// Checks for an interrupt before each batch.
#[derive(Clone, Debug)]
pub(crate) struct Pausing {
    /// Does each batch count against Tokio's cooperative budget?
    counts: bool,
}

impl PausingExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        Self::over(input, Pausing { counts: false })
    }

    /// For an input that does not count batches itself. DataFusion's own operator for that has its own plan properties,
    /// from which those of all operators above would be recomputed.
    pub(crate) fn counting(input: Arc<dyn ExecutionPlan>) -> Self {
        Self::over(input, Pausing { counts: true })
    }
}

impl PassThrough for Pausing {
    const NAME: &'static str = "PausingExec";

    fn pass(&self, input: SendableRecordBatchStream, _: &TaskContext) -> SendableRecordBatchStream {
        let mut batches = if self.counts { make_cooperative(input) } else { input };
        let schema = batches.schema();
        let asking = poll_fn(move |cx| match interrupt::pause() {
            Ok(false) => batches.poll_next_unpin(cx),
            Ok(true) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Err(stopped) => Poll::Ready(Some(Err(QueryError::from(stopped).into()))),
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, asking))
    }
}
