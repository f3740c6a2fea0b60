//! Rows of a range program in their stored encoding. Consumers read values directly from it.

use super::range_select::RangeSelect;
use crate::EngineError;
use query::Cell;
use std::sync::Arc;
use store::RowBatch;
use types::Datum;

/// Rows in order, with the columns of their statement.
#[derive(Debug)]
pub struct StoredRows {
    program: Arc<RangeSelect>,
    batches: Vec<Arc<RowBatch>>,
    /// For each row its batch, and its position in the batch.
    rows: Vec<(u32, u32)>,
}

impl StoredRows {
    pub(super) fn new(program: Arc<RangeSelect>) -> Self {
        Self { program, batches: Vec::new(), rows: Vec::new() }
    }

    /// Adds a batch and returns the number by which rows refer to it.
    pub(super) fn add_batch(&mut self, batch: &Arc<RowBatch>) -> u32 {
        self.batches.push(Arc::clone(batch));
        (self.batches.len() - 1) as u32
    }

    /// Approximate memory of its rows.
    pub(crate) fn bytes(&self) -> usize {
        let batches = self.batches.iter();
        batches.map(|batch| batch.key_bytes().len() + batch.fragments().map(<[u8]>::len).sum::<usize>()).sum()
    }

    pub(super) fn push(&mut self, batch: u32, row: usize) {
        self.rows.push((batch, row as u32));
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        let first = self.batches.len() as u32;
        self.batches.append(&mut other.batches);
        self.rows.extend(other.rows.into_iter().map(|(batch, row)| (batch + first, row)));
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Passes each value of one row, with its column number, to `each`. `buffer` is the caller's, so that it can be
    /// reused.
    ///
    /// # Errors
    /// XX001 for bytes that do not decode to a row of the table.
    pub fn read(&self, row: usize, buffer: &mut Vec<u8>, each: impl FnMut(usize, Cell<'_>)) -> Result<(), EngineError> {
        let Some((batch, row)) = self.rows.get(row) else { return Ok(()) };
        let Some(batch) = self.batches.get(*batch as usize) else { return Ok(()) };
        let row = *row as usize;
        Ok(self.program.reader.read(batch.key(row), batch.fragment(row), buffer, each)?)
    }

    /// All rows as values.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn to_rows(&self) -> Result<Vec<Vec<Datum>>, EngineError> {
        let mut buffer = Vec::new();
        (0..self.len()).map(|row| self.values(row, &mut buffer)).collect()
    }

    /// One row as values.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn row(&self, row: usize) -> Result<Vec<Datum>, EngineError> {
        self.values(row, &mut Vec::new())
    }

    fn values(&self, row: usize, buffer: &mut Vec<u8>) -> Result<Vec<Datum>, EngineError> {
        let mut values = Vec::new();
        self.read(row, buffer, |_, cell| {
            values.push(match cell {
                Cell::Value(value) => value,
                Cell::Text(text) => Datum::Text(text.to_string()),
            });
        })?;
        Ok(values)
    }
}
