//! Cuts batches so that the values computed of a piece fit into the memory of a batch.
//!
//! An input batch has a fixed number of rows, whatever size the results of functions have. Expressions are evaluated
//! over as many rows as fit: fewer after a piece that was too large, more after a small one.

use crate::error::QueryError;
use crate::functions::allowance::{batch_bytes, with_batch_splitting};
use arrow::array::{ArrayRef, RecordBatch};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryReservation};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use std::sync::Arc;

/// The divisor of the number of rows after a piece that was too large.
const CUT: usize = 8;

/// Evaluates expressions over batches piece by piece.
pub(super) struct Pieces {
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    /// The limit in bytes for the values computed of a piece.
    most: usize,
    /// The row limit of the next piece, and of any piece.
    rows: usize,
    most_rows: usize,
    /// The batch being computed and its next row.
    batch: Option<(RecordBatch, usize)>,
    /// The reservation for the last piece that was returned.
    memory: MemoryReservation,
}

/// Rows of the input and the values computed of them.
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

    pub(super) fn begin(&mut self, batch: RecordBatch) {
        self.batch = Some((batch, 0));
    }

    /// Computes the next piece of the batch.
    ///
    /// # Errors
    /// Errors of the expressions; [`QueryError::Resources`] if a single row does not fit.
    pub(super) fn next(&mut self) -> Result<Option<Piece>> {
        let Some((batch, start)) = self.batch.take() else { return Ok(None) };
        self.memory.free();
        let left = batch.num_rows() - start;
        if left == 0 && start > 0 {
            return Ok(None);
        }
        loop {
            let rows = batch.slice(start, left.min(self.rows));
            let computed = match with_batch_splitting(|| self.compute(&rows)) {
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

    /// Reserves memory for a piece and adapts the number of rows of the next one.
    fn hold(&mut self, computed: &[ArrayRef], rows: usize) -> Result<()> {
        let made = self.exprs.iter().zip(computed).filter(|(expr, _)| !expr.is::<Column>());
        let bytes: usize = made.map(|(_, array)| array.get_array_memory_size()).sum();
        if bytes > self.most {
            // DataFusion's own functions are counted only after they are evaluated.
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
                // `into_array` copies a scalar for each row.
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
