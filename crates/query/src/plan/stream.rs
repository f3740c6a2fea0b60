//! The rows of a running query, and a second try with less memory.
//!
//! A hash join keeps its smaller side in memory and cannot spill. When it runs out before any row was handed out,
//! the query begins again with sort-merge joins, which can.

use super::Planner;
use crate::error::QueryResult;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
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
    let stream = execute_stream(Arc::clone(&physical), Arc::clone(planner.tasks()))?;
    if !has_hash_join(physical.as_ref()) {
        return Ok(stream);
    }
    let first_try = FirstTry { planner, bound, stream, begun: false };
    let stream = futures::stream::unfold(first_try, |mut running| async move {
        let item = running.next().await?;
        Some((item, running))
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
}

struct FirstTry {
    planner: Arc<Planner>,
    bound: LogicalPlan,
    stream: SendableRecordBatchStream,
    /// Have rows been handed out, or is this the second try?
    begun: bool,
}

impl FirstTry {
    async fn next(&mut self) -> Option<Result<arrow::record_batch::RecordBatch>> {
        let item = self.stream.next().await?;
        let out_of_memory =
            matches!(&item, Err(error) if matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)));
        if !out_of_memory || self.begun {
            self.begun = true;
            return Some(item);
        }
        self.begun = true;
        match second_try(&self.planner, &self.bound).await {
            Ok(stream) => {
                self.stream = stream;
                self.stream.next().await
            }
            Err(error) => Some(Err(error.into())),
        }
    }
}

async fn second_try(planner: &Planner, bound: &LogicalPlan) -> QueryResult<SendableRecordBatchStream> {
    let physical = planner.physical(bound, true).await?;
    Ok(execute_stream(physical, Arc::clone(planner.tasks()))?)
}

fn has_hash_join(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<HashJoinExec>() || plan.children().into_iter().any(|child| has_hash_join(child.as_ref()))
}
