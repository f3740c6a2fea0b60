//! The rows of a running query, and further tries that take less memory.
//!
//! Before any row was handed out, a query begins again
//! - with sort-merge joins, when it ran out of memory with hash joins: those keep their smaller side in memory and
//!   cannot spill;
//! - with fewer rows to a batch, when its rows are too long (`exec/long_rows.rs`).

use super::Planner;
use crate::error::QueryResult;
use crate::exec::{Begun, LongRows, LongRowsExec, with_config};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::StreamExt;
use std::sync::Arc;

/// Runs `physical`; `bound` is what it was made from.
pub(super) fn with_fall_back(
    planner: Arc<Planner>,
    bound: LogicalPlan,
    physical: Arc<dyn ExecutionPlan>,
) -> QueryResult<SendableRecordBatchStream> {
    let schema = physical.schema();
    if !may_begin_again(physical.as_ref()) {
        return Ok(execute_stream(physical, Arc::clone(planner.tasks()))?);
    }
    let begun = Arc::new(Begun::default());
    let hash_joins = has(physical.as_ref(), &|plan| plan.is::<HashJoinExec>());
    let stream = execute_stream(physical, telling(planner.tasks(), &begun))?;
    let first = Tries { planner, bound, stream, hash_joins, rows: None, begun: Some(begun) };
    let stream = futures::stream::unfold(first, |mut running| async move {
        let item = running.next().await?;
        Some((item, running))
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
}

/// The context, whose tasks see whether the query may begin again.
fn telling(tasks: &TaskContext, begun: &Arc<Begun>) -> Arc<TaskContext> {
    with_config(tasks, tasks.session_config().clone().with_extension(Arc::clone(begun)))
}

struct Tries {
    planner: Arc<Planner>,
    bound: LogicalPlan,
    stream: SendableRecordBatchStream,
    /// Are joins made by hash, and could be made otherwise?
    hash_joins: bool,
    /// Rows of a batch, where they are fewer than always.
    rows: Option<usize>,
    /// `None`: rows have been handed out, or the end was told.
    begun: Option<Arc<Begun>>,
}

impl Tries {
    async fn next(&mut self) -> Option<Result<arrow::record_batch::RecordBatch>> {
        loop {
            let item = self.stream.next().await;
            if self.begun.is_none() {
                return item;
            }
            let again = matches!(&item, Some(Err(error)) if self.takes_less(error));
            if !again {
                if let Some(begun) = self.begun.take() {
                    begun.set();
                }
                return item;
            }
            match self.try_again().await {
                Ok(stream) => self.stream = stream,
                Err(error) => {
                    self.begun = None;
                    return Some(Err(error.into()));
                }
            }
        }
    }

    /// Is there a way that does without what an error says was missing?
    fn takes_less(&mut self, error: &DataFusionError) -> bool {
        if let Some(rows) = LongRows::of(error) {
            let fewer = self.rows.is_none_or(|now| rows < now);
            self.rows = Some(rows);
            return fewer;
        }
        let out_of_memory = matches!(error.find_root(), DataFusionError::ResourcesExhausted(_));
        out_of_memory && std::mem::take(&mut self.hash_joins)
    }

    async fn try_again(&mut self) -> QueryResult<SendableRecordBatchStream> {
        let mut state = self.planner.state(!self.hash_joins).clone();
        if let Some(rows) = self.rows {
            *state.config_mut() = state.config().clone().with_batch_size(rows);
        }
        let physical = self.planner.physical_in(&self.bound, &state).await?;
        let tasks = state.task_ctx();
        let tasks = self.begun.as_ref().map_or_else(|| Arc::clone(&tasks), |begun| telling(&tasks, begun));
        Ok(execute_stream(physical, tasks)?)
    }
}

fn may_begin_again(plan: &dyn ExecutionPlan) -> bool {
    has(plan, &|plan| plan.is::<HashJoinExec>() || plan.is::<LongRowsExec>())
}

fn has(plan: &dyn ExecutionPlan, wanted: &dyn Fn(&dyn ExecutionPlan) -> bool) -> bool {
    wanted(plan) || plan.children().into_iter().any(|child| has(child.as_ref(), wanted))
}
