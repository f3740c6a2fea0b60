//! Batches between which a long turn ends, and a statement that is stopped does.
//!
//! The planner's own operators count batches: a task gives way after 128 of them, whatever each takes. Of batches that
//! take long to compute these are seconds, in which nobody else of the thread has a turn and neither a cancel request
//! nor the end of the statement's time is heard. So whoever runs the statement is asked before each batch.

use crate::error::QueryError;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildStats, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, StatisticsArgs,
};
use futures::StreamExt;
use futures::stream::poll_fn;
use std::fmt;
use std::sync::Arc;
use std::task::Poll;
use types::interrupt;

/// Hands the batches of its input on, and asks before each.
#[derive(Debug)]
pub(crate) struct PausingExec {
    input: Arc<dyn ExecutionPlan>,
    /// Does each batch take one of the task's turns?
    counts: bool,
}

impl PausingExec {
    pub(crate) fn over(input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        Arc::new(Self { input, counts: false })
    }

    /// Over an input that does not count turns itself. DataFusion's own operator for that has properties of its own, from which
    /// those of all operators above would be computed anew.
    pub(crate) fn counting(input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        Arc::new(Self { input, counts: true })
    }
}

impl DisplayAs for PausingExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PausingExec")
    }
}

impl ExecutionPlan for PausingExec {
    fn name(&self) -> &str {
        "PausingExec"
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
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(children) {
            Ok([input]) => Ok(Arc::new(Self { input, counts: self.counts })),
            Err(_) => internal_err!("one input is wanted"),
        }
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, input: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        match input {
            [input] => Ok(Arc::clone(input)),
            _ => internal_err!("one input is wanted"),
        }
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn execute(&self, partition: usize, tasks: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let batches = self.input.execute(partition, tasks)?;
        let mut batches = if self.counts { make_cooperative(batches) } else { batches };
        let schema = batches.schema();
        let asking = poll_fn(move |cx| match interrupt::pause() {
            Ok(false) => batches.poll_next_unpin(cx),
            Ok(true) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Err(stopped) => Poll::Ready(Some(Err(QueryError::from(stopped).into()))),
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, asking)))
    }
}
