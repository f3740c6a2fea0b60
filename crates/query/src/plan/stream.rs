//! The result stream of an executing query, with retries that need less memory.
//!
//! Before any row is returned, a query is restarted
//! - with sort-merge joins, if it ran out of memory with hash joins: those keep their build side in memory and cannot
//!   spill;
//! - with a smaller batch size, if its rows are too long (`exec/long_rows.rs`).

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

/// Executes `physical`; `bound` is the plan that it was made from.
pub(super) fn with_fall_back(
    planner: Arc<Planner>,
    bound: LogicalPlan,
    physical: Arc<dyn ExecutionPlan>,
) -> QueryResult<SendableRecordBatchStream> {
    let schema = physical.schema();
    if !may_restart(physical.as_ref()) {
        return Ok(execute_stream(physical, Arc::clone(planner.tasks()))?);
    }
    let begun = Arc::new(Begun::default());
    let hash_joins = has(physical.as_ref(), &|plan| plan.is::<HashJoinExec>());
    let stream = execute_stream(physical, telling(planner.tasks(), &begun))?;
    let first = RestartableStream { planner, bound, stream, hash_joins, rows: None, begun: Some(begun) };
    let stream = futures::stream::unfold(first, |mut running| async move {
        let item = running.next().await?;
        Some((item, running))
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
}

/// The task context, extended by the flag that tells whether the query may be restarted.
fn telling(tasks: &TaskContext, begun: &Arc<Begun>) -> Arc<TaskContext> {
    with_config(tasks, tasks.session_config().clone().with_extension(Arc::clone(begun)))
}

struct RestartableStream {
    planner: Arc<Planner>,
    bound: LogicalPlan,
    stream: SendableRecordBatchStream,
    /// Does the plan have hash joins that can still be replaced?
    hash_joins: bool,
    /// The batch size, if it is reduced.
    rows: Option<usize>,
    /// `None` once rows have been returned or the stream has ended.
    begun: Option<Arc<Begun>>,
}

impl RestartableStream {
    async fn next(&mut self) -> Option<Result<arrow::record_batch::RecordBatch>> {
        loop {
            let item = self.stream.next().await;
            if self.begun.is_none() {
                return item;
            }
            let again = matches!(&item, Some(Err(error)) if self.can_restart_after(error));
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

    /// Can the query be restarted in a way that avoids the error?
    fn can_restart_after(&mut self, error: &DataFusionError) -> bool {
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

fn may_restart(plan: &dyn ExecutionPlan) -> bool {
    has(plan, &|plan| plan.is::<HashJoinExec>() || plan.is::<LongRowsExec>())
}

fn has(plan: &dyn ExecutionPlan, wanted: &dyn Fn(&dyn ExecutionPlan) -> bool) -> bool {
    wanted(plan) || plan.children().into_iter().any(|child| has(child.as_ref(), wanted))
}
