//! Detects rows that are too long for batches of the configured size, before operators build such batches.
//!
//! Joins, aggregates, windows and filters fix the batch size when they are built. The rows below them are measured. If
//! a batch of such rows would not fit, the query is restarted with a smaller batch size (`plan/stream.rs`), as long as
//! no row has been returned. After that, memory for the larger batches is reserved:
//!
//! ```text
//!   rows of average length               eight times the bytes of a batch
//!   rows as long as the longest          a quarter of the memory, if one row may be copied many times
//! ```

use super::pass_through::{PassThrough, PassThroughExec};
use crate::functions::allowance::batch_bytes;
use arrow::array::{Array, ArrayRef, AsArray, OffsetSizeTrait, RecordBatch};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A batch of these operators may have this many times the usual bytes: they hold few batches.
const SHARES: usize = 8;

/// A batch of copies of the longest row may take this fraction of the memory.
const PART: usize = 4;

/// Has the query returned rows? Then it cannot be restarted. Part of the session configuration of its tasks.
#[derive(Debug, Default)]
pub(crate) struct Begun(AtomicBool);

impl Begun {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Requests a restart of the query with `rows` rows per batch.
#[derive(Debug, thiserror::Error)]
#[error("rows are too long for batches of more than {rows} (query_memory_mib)")]
pub(crate) struct LongRows {
    pub(crate) rows: usize,
}

impl LongRows {
    /// The batch size to restart with, if `error` is a [`LongRows`].
    pub(crate) fn of(error: &DataFusionError) -> Option<usize> {
        match error.find_root() {
            DataFusionError::External(inner) => inner.downcast_ref::<Self>().map(|long| long.rows),
            _ => None,
        }
    }
}

/// Measures the rows of its input and passes them on.
pub(crate) type LongRowsExec = PassThroughExec<Measuring>;

/// Measures row lengths.
#[derive(Clone, Debug)]
pub(crate) struct Measuring {
    /// May the operator above return many rows for one input row?
    multiplied: bool,
}

impl LongRowsExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, multiplied: bool) -> Self {
        Self::over(input, Measuring { multiplied })
    }
}

impl PassThrough for Measuring {
    const NAME: &'static str = "LongRowsExec";

    fn pass(&self, input: SendableRecordBatchStream, tasks: &TaskContext) -> SendableRecordBatchStream {
        let (schema, mut measure) = (input.schema(), Measure::new(tasks, self.multiplied));
        let measured = input.map(move |batch| batch.and_then(|batch| measure.pass(batch)));
        Box::pin(RecordBatchStreamAdapter::new(schema, measured))
    }
}

struct Measure {
    /// Rows per batch of the operator above.
    rows: usize,
    /// Bytes that such a batch may take.
    most: usize,
    /// Bytes that it may take if all rows are as long as the longest.
    most_of_longest: usize,
    /// `None` if the query cannot be restarted.
    begun: Option<Arc<Begun>>,
    /// The reservation for larger batches.
    memory: MemoryReservation,
    passed: usize,
    multiplied: bool,
}

impl Measure {
    fn new(tasks: &TaskContext, multiplied: bool) -> Self {
        let memory = match tasks.memory_pool().memory_limit() {
            MemoryLimit::Finite(bytes) => bytes,
            _ => usize::MAX,
        };
        Self {
            rows: tasks.session_config().batch_size(),
            most: batch_bytes(memory).saturating_mul(SHARES),
            most_of_longest: if multiplied { memory / PART } else { usize::MAX },
            begun: tasks.session_config().get_extension(),
            memory: MemoryConsumer::new("batches of long rows").register(tasks.memory_pool()),
            passed: 0,
            multiplied,
        }
    }

    fn pass(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        if batch.num_rows() == 0 {
            return Ok(batch);
        }
        let (mut bytes, mut longest) = (0_usize, 0_usize);
        for column in batch.columns().iter().filter(|column| is_long(column.data_type())) {
            let of_column = lengths(column)?;
            bytes = bytes.saturating_add(of_column.0);
            longest = longest.saturating_add(of_column.1);
        }
        self.passed = self.passed.saturating_add(bytes);
        let mean = bytes.div_ceil(batch.num_rows()).max(1);
        let rows = (self.most / mean).min(self.most_of_longest / longest.max(1)).max(1);
        if rows > self.rows / 2 {
            return Ok(batch);
        }
        match &self.begun {
            Some(begun) if !begun.is_set() => Err(DataFusionError::External(Box::new(LongRows { rows }))),
            _ => self.reserve(mean).map(|()| batch),
        }
    }

    /// Reserves the bytes that a batch of rows of the mean length needs beyond `most`.
    fn reserve(&self, mean: usize) -> Result<()> {
        let made = mean.saturating_mul(self.rows);
        // An operator that returns at most its input rows needs at most the bytes read so far.
        let made = if self.multiplied { made } else { made.min(self.passed) };
        let beyond = made.saturating_sub(self.most);
        if beyond > self.memory.size() { self.memory.try_resize(beyond) } else { Ok(()) }
    }
}

/// Can values of the type be long?
pub(crate) fn is_long(ty: &ArrowType) -> bool {
    !ty.is_primitive() && !matches!(ty, ArrowType::Null | ArrowType::Boolean | ArrowType::FixedSizeBinary(_))
}

/// The bytes of all values of a column, and of its longest value.
fn lengths(column: &ArrayRef) -> Result<(usize, usize)> {
    let all = column.to_data().get_slice_memory_size()?;
    let longest = match column.data_type() {
        ArrowType::Utf8 => longest(column.as_string::<i32>().offsets()),
        ArrowType::Binary => longest(column.as_binary::<i32>().offsets()),
        ArrowType::List(_) => {
            let list = column.as_list::<i32>();
            let items = list.offsets().last().zip(list.offsets().first()).map_or(0, |(end, start)| end - start);
            longest(list.offsets()).saturating_mul(all.div_ceil(usize::try_from(items).unwrap_or(1).max(1)))
        }
        _ => all.div_ceil(column.len().max(1)),
    };
    Ok((all, longest))
}

fn longest<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> usize {
    offsets.lengths().max().unwrap_or(0)
}
