//! Rows that are too long for batches of thousands of them, seen before operators put so many together.
//!
//! Joins, groups, windows and filters make batches of a number of rows that they are told when they are made. Below them
//! the rows are measured. When a batch of rows like these would not fit, the query begins again with fewer rows to a
//! batch (`plan/stream.rs`), as long as no row was handed out. Later, room for such batches is reserved:
//!
//! ```text
//!   as long as the rows are on average   eight shares of a batch
//!   as long as the longest of them       a quarter of the memory, where one row may be copied many times
//! ```

use super::pass_through::{PassThroughExec, Passing};
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

/// Shares of a batch that a batch of these operators may have: they hold few of them.
const SHARES: usize = 8;

/// The part of the memory that a batch of the longest row may take.
const PART: usize = 4;

/// Has a query handed rows out? Then it cannot begin again. It travels with the context of its tasks.
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

/// The query is to begin again with so many rows to a batch.
#[derive(Debug, thiserror::Error)]
#[error("rows are too long for batches of more than {rows} (query_memory_mib)")]
pub(crate) struct LongRows {
    pub(crate) rows: usize,
}

impl LongRows {
    /// Is it what a query failed with?
    pub(crate) fn of(error: &DataFusionError) -> Option<usize> {
        match error.find_root() {
            DataFusionError::External(inner) => inner.downcast_ref::<Self>().map(|long| long.rows),
            _ => None,
        }
    }
}

/// Measures the rows of its input, which go through as they are.
pub(crate) type LongRowsExec = PassThroughExec<Measuring>;

/// Measures rows.
#[derive(Clone, Debug)]
pub(crate) struct Measuring {
    /// May the operator above make many rows of one?
    multiplied: bool,
}

impl LongRowsExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, multiplied: bool) -> Self {
        Self::over(input, Measuring { multiplied })
    }
}

impl Passing for Measuring {
    const NAME: &'static str = "LongRowsExec";

    fn pass(&self, input: SendableRecordBatchStream, tasks: &TaskContext) -> SendableRecordBatchStream {
        let (schema, mut measure) = (input.schema(), Measure::new(tasks, self.multiplied));
        let measured = input.map(move |batch| batch.and_then(|batch| measure.pass(batch)));
        Box::pin(RecordBatchStreamAdapter::new(schema, measured))
    }
}

struct Measure {
    /// Rows of the batches that are made above.
    rows: usize,
    /// What such a batch may take.
    most: usize,
    /// What it may take where all rows are as long as the longest.
    most_of_longest: usize,
    /// `None`: nobody can begin the query again.
    begun: Option<Arc<Begun>>,
    /// For batches that take more.
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

    /// Reserves what a batch of rows of that length takes beyond what any may.
    fn reserve(&self, mean: usize) -> Result<()> {
        let made = mean.saturating_mul(self.rows);
        // What makes no more of its rows has no more than came.
        let made = if self.multiplied { made } else { made.min(self.passed) };
        let beyond = made.saturating_sub(self.most);
        if beyond > self.memory.size() { self.memory.try_resize(beyond) } else { Ok(()) }
    }
}

/// May values of the type be long?
pub(crate) fn is_long(ty: &ArrowType) -> bool {
    !ty.is_primitive() && !matches!(ty, ArrowType::Null | ArrowType::Boolean | ArrowType::FixedSizeBinary(_))
}

/// Bytes of all values of a column, and of its longest.
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
