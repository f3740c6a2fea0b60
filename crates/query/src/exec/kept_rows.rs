//! Materialized rows that several readers share: the first reader starts the computation, all read its result.
//!
//! The rows stay in memory while it suffices; beyond that all of them move to one temporary file. A separate task
//! computes them, so that no reader depends on another reader being polled.

use super::pass_through::only_input;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::utils::memory::get_record_batch_memory_size;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, SpillFile, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet, SpillMetrics};
use datafusion::physical_plan::spill::SpillManager;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildStats, DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, Partitioning, PlanProperties, StatisticsArgs,
};
use futures::future::{BoxFuture, FutureExt, Shared};
use futures::stream::{self, StreamExt, TryStreamExt};
use std::fmt;
use std::sync::{Arc, OnceLock};

type Computed = Shared<BoxFuture<'static, std::result::Result<Arc<Kept>, Arc<DataFusionError>>>>;

/// The materialized rows of one query, for as long as the statement runs.
#[derive(Default)]
pub(crate) struct KeptRows {
    computed: OnceLock<Computed>,
}

impl fmt::Debug for KeptRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptRows").finish_non_exhaustive()
    }
}

/// The complete result, in memory or in a file.
struct Kept {
    batches: Vec<RecordBatch>,
    /// Replaces `batches` if the memory did not suffice.
    file: Option<Arc<dyn SpillFile>>,
    spill: SpillManager,
    /// The reservation for `batches`.
    _memory: MemoryReservation,
}

impl Kept {
    async fn all(mut rows: SendableRecordBatchStream, spill: SpillManager, tasks: Arc<TaskContext>) -> Result<Self> {
        let memory = MemoryConsumer::new("WITH").with_can_spill(true).register(tasks.memory_pool());
        let mut batches = Vec::new();
        let mut file = None;
        while let Some(batch) = rows.try_next().await? {
            if file.is_none() && memory.try_grow(get_record_batch_memory_size(&batch)).is_err() {
                let mut begun = spill.create_in_progress_file("WITH")?;
                for batch in batches.drain(..) {
                    begun.append_batch(&batch)?;
                }
                memory.free();
                file = Some(begun);
            }
            match &mut file {
                Some(file) => {
                    file.append_batch(&batch)?;
                }
                None => batches.push(batch),
            }
        }
        let file = match file {
            Some(mut file) => file.finish()?,
            None => None,
        };
        Ok(Self { batches, file, spill, _memory: memory })
    }

    fn read(self: Arc<Self>) -> Result<SendableRecordBatchStream> {
        let schema = Arc::clone(self.spill.schema());
        if let Some(file) = &self.file {
            let from_file = self.spill.read_spill_as_stream(Arc::clone(file), None)?;
            // Keeps the file open while it is read.
            let kept = from_file.map(move |batch| {
                let _ = &self;
                batch
            });
            return Ok(Box::pin(RecordBatchStreamAdapter::new(schema, kept)));
        }
        let batches = (0..self.batches.len()).filter_map(move |at| self.batches.get(at).cloned().map(Ok));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter(batches))))
    }
}

/// Reads materialized rows.
#[derive(Debug)]
pub(crate) struct KeptRowsExec {
    input: Arc<dyn ExecutionPlan>,
    rows: Arc<KeptRows>,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl KeptRowsExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, rows: Arc<KeptRows>) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self { input, rows, metrics: ExecutionPlanMetricsSet::new(), properties: Arc::new(properties) }
    }

    fn computed(&self, schema: SchemaRef, tasks: &Arc<TaskContext>) -> Computed {
        let begin = || {
            let spill = SpillManager::new(tasks.runtime_env(), SpillMetrics::new(&self.metrics, 0), schema);
            let (input, tasks) = (Arc::clone(&self.input), Arc::clone(tasks));
            let task = SpawnedTask::spawn(async move {
                let rows = input.execute(0, Arc::clone(&tasks))?;
                Kept::all(rows, spill, tasks).await
            });
            let kept = async move {
                match task.await {
                    Ok(kept) => kept.map(Arc::new).map_err(Arc::new),
                    Err(failed) => Err(Arc::new(DataFusionError::ExecutionJoin(Box::new(failed)))),
                }
            };
            kept.boxed().shared()
        };
        self.rows.computed.get_or_init(begin).clone()
    }
}

impl DisplayAs for KeptRowsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Computed once")
    }
}

impl ExecutionPlan for KeptRowsExec {
    fn name(&self) -> &str {
        "KeptRowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
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
        let input = only_input(children)?;
        Ok(Arc::new(Self::new(input, Arc::clone(&self.rows))))
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, input: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        only_input(input).map(Arc::clone)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(&self, _: usize, tasks: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = self.schema();
        let computed = self.computed(Arc::clone(&schema), &tasks);
        let rows = stream::once(async move { computed.await.map_err(DataFusionError::Shared)?.read() }).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, AsArray, Int64Array};
    use arrow::datatypes::{DataType as ArrowType, Field, Int64Type, Schema};
    use datafusion::datasource::memory::MemorySourceConfig;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;

    const BATCHES: i64 = 8;

    fn source() -> Arc<dyn ExecutionPlan> {
        let schema = Arc::new(Schema::new(vec![Field::new("n", ArrowType::Int64, false)]));
        let batch = |number: i64| {
            let column: ArrayRef = Arc::new(Int64Array::from_iter_values(number * 1000..(number + 1) * 1000));
            RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap()
        };
        MemorySourceConfig::try_new_exec(&[(0..BATCHES).map(batch).collect()], Arc::clone(&schema), None).unwrap()
    }

    async fn numbers(exec: &KeptRowsExec, tasks: &Arc<TaskContext>) -> Vec<i64> {
        let batches: Vec<RecordBatch> = exec.execute(0, Arc::clone(tasks)).unwrap().try_collect().await.unwrap();
        batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec()).collect()
    }

    /// Reads twice within `memory` bytes and returns the number of files written.
    async fn read_twice(memory: usize) -> usize {
        let runtime = RuntimeEnvBuilder::new().with_memory_limit(memory, 1.0).build_arc().unwrap();
        let tasks = Arc::new(TaskContext::default().with_runtime(runtime));
        let rows = Arc::new(KeptRows::default());
        let readers = [(); 2].map(|()| KeptRowsExec::new(source(), Arc::clone(&rows)));
        let all: Vec<i64> = (0..BATCHES * 1000).collect();
        for reader in &readers {
            assert_eq!(numbers(reader, &tasks).await, all);
        }
        readers.iter().filter_map(|reader| reader.metrics()?.spill_count()).sum()
    }

    #[tokio::test]
    async fn readers_share_rows_in_memory_or_in_one_file() {
        assert_eq!(read_twice(1 << 20).await, 0);
        assert_eq!(read_twice(20_000).await, 1);
    }
}
