//! Bounds on what a program may read and hold, and turns of others.

use crate::expr::Row;
use crate::{RowsError, RowsResult};
use types::{Datum, interrupt};

/// What is left to a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) rows_read: u64,
    most_rows: u64,
    pairs: u64,
    held_bytes: usize,
    most_bytes: usize,
}

/// So many pairs of rows are compared for each row that may be read: some milliseconds.
const PAIRS_PER_ROW: u64 = 32;

impl Budget {
    pub(crate) fn new(most_rows: u64, most_bytes: usize) -> Self {
        Self { rows_read: 0, most_rows, pairs: 0, held_bytes: 0, most_bytes }
    }

    /// Counts rows that were read.
    ///
    /// # Errors
    /// [`RowsError::OverBudget`].
    pub(crate) fn read(&mut self, rows: usize) -> RowsResult<()> {
        self.rows_read += rows as u64;
        if self.rows_read > self.most_rows { Err(RowsError::OverBudget) } else { Ok(()) }
    }

    /// Counts pairs of rows that are compared.
    ///
    /// # Errors
    /// [`RowsError::OverBudget`].
    pub(crate) fn pair(&mut self, pairs: usize) -> RowsResult<()> {
        self.pairs = self.pairs.saturating_add(pairs as u64);
        let most = self.most_rows.saturating_mul(PAIRS_PER_ROW);
        if self.pairs > most { Err(RowsError::OverBudget) } else { Ok(()) }
    }

    /// How many rows may still be read.
    pub(crate) fn rows_left(&self) -> u64 {
        self.most_rows.saturating_sub(self.rows_read)
    }

    /// Counts rows that are kept to the end.
    ///
    /// # Errors
    /// [`RowsError::OverBudget`].
    pub(crate) fn hold(&mut self, rows: &[Row]) -> RowsResult<()> {
        self.hold_bytes(rows.iter().map(|row| size_of::<Row>() + row.iter().map(bytes_of).sum::<usize>()).sum())
    }

    /// As [`Self::hold`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn hold_bytes(&mut self, bytes: usize) -> RowsResult<()> {
        self.held_bytes = self.held_bytes.saturating_add(bytes);
        if self.held_bytes > self.most_bytes { Err(RowsError::OverBudget) } else { Ok(()) }
    }

    /// Lets others have their turn where the host says that this one was long.
    ///
    /// # Errors
    /// When the statement is to end.
    pub(crate) async fn give_way(&self) -> RowsResult<()> {
        if interrupt::pause()? {
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

/// About how much memory a value takes.
pub(crate) fn bytes_of(value: &Datum) -> usize {
    let beyond = match value {
        Datum::Text(text) => text.len(),
        Datum::Bytes(bytes) => bytes.len(),
        Datum::Array(items) => items.iter().map(bytes_of).sum(),
        _ => 0,
    };
    size_of::<Datum>() + beyond
}
