//! Window operators, which buffer rows without reserving memory for them.
//!
//! Reserves memory for each input batch and releases it when as many rows have been returned. Memory that the functions
//! themselves allocate is counted like that of scalar functions (`functions/allowance.rs`).

use super::fitting_rows::BegunExec;
use super::pass_through::only_input;
use super::wrapped::{WrappedExec, Wrapping};
use crate::functions::allowance::Allowance;
use arrow::array::{Array, RecordBatch};
use datafusion::common::Result;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::windows::WindowAggExec;
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};
use futures::StreamExt;
use futures::stream::poll_fn;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// `WindowAggExec` concatenates all buffered rows once more; the others keep concatenated batches.
const TIMES: usize = 2;

/// A window operator with memory accounting.
pub(crate) type HeldWindowExec = WrappedExec<HeldWindow>;

#[derive(Debug)]
pub(crate) struct HeldWindow;

impl Wrapping for HeldWindow {
    fn execute(
        operator: &Arc<dyn ExecutionPlan>,
        partition: usize,
        tasks: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let input = only_input(operator.children())?;
        let schema = input.schema();
        let memory = MemoryConsumer::new("rows of window functions").register(tasks.memory_pool());
        let rows = Arc::new(Rows { memory, inside: Mutex::default() });
        let entering = Arc::clone(&rows);
        let entered = input.execute(partition, Arc::clone(&tasks))?.map(move |batch| {
            let batch = batch?;
            entering.enter(&batch)?;
            Ok(batch)
        });
        let entered = Box::pin(RecordBatchStreamAdapter::new(schema, entered));
        let begun = BegunExec::new(Arc::clone(input), partition, vec![entered]);
        let same = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
        let operator = Arc::clone(operator).replace_children(vec![Arc::new(begun)], same)?;
        let whole = operator.is::<WindowAggExec>();
        let allowance = Allowance::of(tasks.session_config().options());
        let mut computed = operator.execute(partition, tasks)?;
        let computed_schema = operator.schema();
        let batches = poll_fn(move |cx| {
            let polled = allowance.during(1, || computed.poll_next_unpin(cx));
            polled.map_ok(|batch| {
                // `WindowAggExec` returns slices of one batch, which a consumer may hold until the last of them is
                // read.
                if !whole {
                    rows.leave(batch.num_rows());
                }
                batch
            })
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(computed_schema, batches)))
    }
}

/// The buffered rows: read from the input, not yet returned.
struct Rows {
    memory: MemoryReservation,
    /// Rows and bytes of each batch, the oldest first.
    inside: Mutex<VecDeque<(usize, usize)>>,
}

impl Rows {
    fn inside(&self) -> MutexGuard<'_, VecDeque<(usize, usize)>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, batch: &RecordBatch) -> Result<()> {
        let sizes = batch.columns().iter().map(|column| column.to_data().get_slice_memory_size());
        let bytes = sizes.sum::<std::result::Result<usize, _>>()?.saturating_mul(TIMES);
        self.memory.try_grow(bytes)?;
        self.inside().push_back((batch.num_rows(), bytes));
        Ok(())
    }

    fn leave(&self, mut rows: usize) {
        let mut inside = self.inside();
        while let Some(first) = inside.front_mut().filter(|_| rows > 0) {
            if first.0 > rows {
                let bytes = first.1 / first.0 * rows;
                *first = (first.0 - rows, first.1 - bytes);
                self.memory.shrink(bytes);
                return;
            }
            rows -= first.0;
            self.memory.shrink(first.1);
            inside.pop_front();
        }
    }
}
