//! Sorts and merges whose batch size is chosen by the width of the first rows of their input.
//!
//! These operators copy rows of many batches into new ones and fix the batch size before they read. So the input is
//! started first, and the operator is executed when the first batches are known.

use super::pass_through::only_input;
use super::wrapped::{WrappedExec, Wrapping};
use crate::functions::allowance::batch_bytes;
use arrow::array::{Array, RecordBatch};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
    ReplaceChildrenOptions,
};
use datafusion::prelude::SessionConfig;
use futures::future::try_join_all;
use futures::{StreamExt, TryStreamExt, stream};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A sort or merge with a batch size that fits into memory.
pub(crate) type FittingRowsExec = WrappedExec<FittingRows>;

#[derive(Debug)]
pub(crate) struct FittingRows;

impl Wrapping for FittingRows {
    fn execute(
        operator: &Arc<dyn ExecutionPlan>,
        partition: usize,
        tasks: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (input, schema) = (Arc::clone(only_input(operator.children())?), operator.schema());
        let operator = Arc::clone(operator);
        let wanted = if operator.is::<SortPreservingMergeExec>() {
            0..input.output_partitioning().partition_count()
        } else {
            partition..partition + 1
        };
        let first = wanted.start;
        let streams = wanted.map(|at| input.execute(at, Arc::clone(&tasks))).collect::<Result<Vec<_>>>()?;
        let begun = async move {
            let begun = try_join_all(streams.into_iter().map(begin)).await?;
            let width = begun.iter().map(|begun| begun.width).max().unwrap_or(0);
            let input = BegunExec::new(input, first, begun.into_iter().map(|begun| begun.stream).collect());
            let same = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
            operator.replace_children(vec![Arc::new(input)], same)?.execute(partition, fitting(&tasks, width))
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream::once(begun).try_flatten())))
    }
}

/// The task context with a batch size that fits rows of `width` bytes.
fn fitting(tasks: &Arc<TaskContext>, width: usize) -> Arc<TaskContext> {
    let most = match tasks.memory_pool().memory_limit() {
        MemoryLimit::Finite(bytes) => batch_bytes(bytes),
        _ => batch_bytes(usize::MAX),
    };
    let (rows, own) = ((most / width.max(1)).max(1), tasks.session_config().batch_size());
    if rows >= own {
        return Arc::clone(tasks);
    }
    with_config(tasks, tasks.session_config().clone().with_batch_size(rows))
}

/// A task context with another configuration. It holds no functions: the operators are already built.
pub(crate) fn with_config(tasks: &TaskContext, config: SessionConfig) -> Arc<TaskContext> {
    let none = (HashMap::new(), HashMap::new(), HashMap::new(), HashMap::new());
    let (id, session) = (tasks.task_id(), tasks.session_id());
    Arc::new(TaskContext::new(id, session, config, none.0, none.1, none.2, none.3, tasks.runtime_env()))
}

/// A stream whose first batch has been read, and the bytes per row in that batch.
struct Begun {
    stream: SendableRecordBatchStream,
    width: usize,
}

async fn begin(mut rest: SendableRecordBatchStream) -> Result<Begun> {
    let schema = rest.schema();
    let first = rest.try_next().await?;
    let width = first.as_ref().map_or(Ok(0), width)?;
    let batches = stream::iter(first.map(Ok)).chain(rest);
    Ok(Begun { stream: Box::pin(RecordBatchStreamAdapter::new(schema, batches)), width })
}

fn width(batch: &RecordBatch) -> Result<usize> {
    let sizes = batch.columns().iter().map(|column| column.to_data().get_slice_memory_size());
    let bytes = sizes.sum::<std::result::Result<usize, _>>()?;
    Ok(bytes / batch.num_rows().max(1))
}

/// A leaf that hands out started streams in place of the plan `like`.
pub(super) struct BegunExec {
    like: Arc<dyn ExecutionPlan>,
    /// The partition of the first stream.
    first: usize,
    streams: Mutex<Vec<Option<SendableRecordBatchStream>>>,
}

impl BegunExec {
    /// Replaces `like`; the streams are its partitions from `first` on.
    pub(super) fn new(like: Arc<dyn ExecutionPlan>, first: usize, streams: Vec<SendableRecordBatchStream>) -> Self {
        Self { like, first, streams: Mutex::new(streams.into_iter().map(Some).collect()) }
    }
}

impl fmt::Debug for BegunExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BegunExec").field("like", &self.like).finish_non_exhaustive()
    }
}

impl DisplayAs for BegunExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BegunExec")
    }
}

impl ExecutionPlan for BegunExec {
    fn name(&self) -> &str {
        "BegunExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.like.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let place = partition.checked_sub(self.first).and_then(|at| streams.get_mut(at));
        match place.and_then(Option::take) {
            Some(stream) => Ok(stream),
            None => internal_err!("partition {partition} is read twice"),
        }
    }
}
