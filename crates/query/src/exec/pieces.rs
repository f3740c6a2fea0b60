//! Batches cut so that what is computed of them fits in the memory of a batch.
//!
//! An input batch has so many rows, whatever a function makes of them. Expressions are computed of as many rows as go:
//! fewer when that takes too much, more again when it takes little. The pieces are handed on one by one.

use crate::error::QueryError;
use crate::functions::allowance::{batch_bytes, splitting};
use arrow::array::{ArrayRef, RecordBatch};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryReservation};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use std::sync::Arc;

/// By what the rows of a piece are divided when they were too many.
const CUT: usize = 8;

/// Computes expressions of batches piece by piece.
pub(super) struct Pieces {
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    /// Bytes of what is computed of a piece.
    most: usize,
    /// Rows that the next piece may have, and that any may have.
    rows: usize,
    most_rows: usize,
    /// The batch being computed and its next row.
    batch: Option<(RecordBatch, usize)>,
    /// What the last piece holds, as long as it is the last.
    memory: MemoryReservation,
}

/// Rows of the input and what was computed of them.
pub(super) struct Piece {
    pub(super) rows: RecordBatch,
    pub(super) computed: Vec<ArrayRef>,
}

impl Pieces {
    pub(super) fn new(exprs: Vec<Arc<dyn PhysicalExpr>>, tasks: &TaskContext) -> Self {
        let pool = tasks.memory_pool();
        let most = match pool.memory_limit() {
            MemoryLimit::Finite(bytes) => bytes,
            _ => usize::MAX,
        };
        let memory = MemoryConsumer::new("computed columns").register(pool);
        let rows = tasks.session_config().batch_size().max(1);
        Self { exprs, most: batch_bytes(most), rows, most_rows: rows, batch: None, memory }
    }

    /// Begins a batch; the one before is at its end.
    pub(super) fn begin(&mut self, batch: RecordBatch) {
        self.batch = Some((batch, 0));
    }

    /// The next piece of the batch.
    ///
    /// # Errors
    /// Those of the expressions; [`QueryError::Resources`] when there is no memory for a single row.
    pub(super) fn next(&mut self) -> Result<Option<Piece>> {
        let Some((batch, start)) = self.batch.take() else { return Ok(None) };
        self.memory.free();
        let left = batch.num_rows() - start;
        if left == 0 && start > 0 {
            return Ok(None);
        }
        loop {
            let rows = batch.slice(start, left.min(self.rows));
            let computed = match splitting(|| self.compute(&rows)) {
                Ok(computed) => computed,
                Err(error) if rows.num_rows() > 1 && is_too_much(&error) => {
                    self.rows = rows.num_rows().div_ceil(CUT);
                    continue;
                }
                Err(error) => return Err(error),
            };
            self.hold(&computed, rows.num_rows())?;
            if rows.num_rows() < left {
                let next = start + rows.num_rows();
                self.batch = Some((batch, next));
            }
            return Ok(Some(Piece { rows, computed }));
        }
    }

    /// Accounts for a piece, and lets the next be as large as this one tells.
    fn hold(&mut self, computed: &[ArrayRef], rows: usize) -> Result<()> {
        let made = self.exprs.iter().zip(computed).filter(|(expr, _)| !expr.is::<Column>());
        let bytes: usize = made.map(|(_, array)| array.get_array_memory_size()).sum();
        if bytes > self.most {
            // Functions of the planner's own are not counted before they are done.
            let fitting = rows as u128 * self.most as u128 / bytes as u128;
            self.rows = usize::try_from(fitting).unwrap_or(1).max(1);
        } else if bytes < self.most / 2 {
            self.rows = self.rows.saturating_mul(2).min(self.most_rows);
        }
        self.memory.try_grow(bytes)
    }

    fn compute(&self, rows: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let count = rows.num_rows();
        let mut left = self.most;
        let computed = self.exprs.iter().map(|expr| {
            let value = expr.evaluate(rows)?;
            if let ColumnarValue::Scalar(value) = &value {
                // As an array it is there for each row.
                let all = value.size().saturating_sub(size_of_val(value)).saturating_mul(count);
                if count > 1 {
                    left = left.checked_sub(all).ok_or_else(too_much)?;
                }
            }
            value.into_array(count)
        });
        computed.collect()
    }
}

fn too_much() -> DataFusionError {
    QueryError::Resources { detail: "a constant for each of many rows (query_memory_mib)".to_owned() }.into()
}

fn is_too_much(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => true,
        DataFusionError::External(inner) => {
            matches!(inner.downcast_ref::<QueryError>(), Some(QueryError::Resources { .. }))
        }
        _ => false,
    }
}
