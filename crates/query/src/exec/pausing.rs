//! Batches between which a long turn ends, and a statement that is stopped does.
//!
//! The planner's own operators count batches: a task gives way after 128 of them, whatever each takes. Of batches that
//! take long to compute these are seconds, in which nobody else of the thread has a turn and neither a cancel request
//! nor the end of the statement's time is heard. So whoever runs the statement is asked before each batch.

use super::pass_through::{PassThroughExec, Passing};
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

/// Hands the batches of its input on, and asks before each.
pub(crate) type PausingExec = PassThroughExec<Pausing>;

/// Asks before each batch.
#[derive(Clone, Debug)]
pub(crate) struct Pausing {
    /// Does each batch take one of the task's turns?
    counts: bool,
}

impl PausingExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        Self::over(input, Pausing { counts: false })
    }

    /// Over an input that does not count turns itself. DataFusion's own operator for that has properties of its own, from which
    /// those of all operators above would be computed anew.
    pub(crate) fn counting(input: Arc<dyn ExecutionPlan>) -> Self {
        Self::over(input, Pausing { counts: true })
    }
}

impl Passing for Pausing {
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
