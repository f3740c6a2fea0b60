//! Limits on what a program reads, computes and holds, and yielding to other tasks.

use crate::expr::Row;
use crate::program::Limits;
use crate::{RowsError, RowsResult};
use types::{Datum, interrupt};

/// The usage of a program, and its limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limits: Limits,
    pub(crate) rows_read: u64,
    /// Rows that operators returned, and pairs of rows that they compared.
    rows_made: u64,
    /// Bytes of values that were read or computed, whether they are still held or not.
    bytes_made: usize,
    bytes_held: usize,
}

/// The number of rows that may be processed for each row that may be read: some milliseconds.
const MADE_PER_ROW: u64 = 32;
/// The number of bytes that may be processed for each byte that may be held: likewise.
const MADE_PER_BYTE: usize = 16;

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, rows_read: 0, rows_made: 0, bytes_made: 0, bytes_held: 0 }
    }

    /// Counts rows that are read.
    ///
    /// # Errors
    /// [`RowsError::OverBudget`].
    pub(crate) fn read(&mut self, rows: usize) -> RowsResult<()> {
        self.rows_read += rows as u64;
        within(self.rows_read <= self.limits.rows)
    }

    /// Counts rows that an operator returns or compares.
    ///
    /// # Errors
    /// [`RowsError::OverBudget`].
    pub(crate) fn work(&mut self, rows: usize) -> RowsResult<()> {
        self.rows_made = self.rows_made.saturating_add(rows as u64);
        within(self.rows_made <= self.limits.rows.saturating_add(1).saturating_mul(MADE_PER_ROW))
    }

    /// Counts bytes that are read, copied or computed.
    ///
    /// # Errors
    /// [`RowsError::OverBudget`].
    pub(crate) fn make(&mut self, bytes: usize) -> RowsResult<()> {
        self.bytes_made = self.bytes_made.saturating_add(bytes);
        within(self.bytes_made <= self.limits.bytes.saturating_mul(MADE_PER_BYTE))
    }

    /// The number of rows that may still be read.
    pub(crate) fn rows_left(&self) -> u64 {
        self.limits.rows.saturating_sub(self.rows_read)
    }

    /// Counts rows that are held until the program ends.
    ///
    /// # Errors
    /// [`RowsError::OverBudget`].
    pub(crate) fn hold(&mut self, rows: &[Row]) -> RowsResult<()> {
        self.hold_bytes(rows.iter().map(|row| Datum::row_memory_size(row)).sum())
    }

    /// Like [`Self::hold`], for bytes.
    ///
    /// # Errors
    /// [`RowsError::OverBudget`].
    pub(crate) fn hold_bytes(&mut self, bytes: usize) -> RowsResult<()> {
        self.bytes_held = self.bytes_held.saturating_add(bytes);
        within(self.bytes_held <= self.limits.bytes)
    }

    /// Yields to other tasks if the interrupt state asks for it.
    ///
    /// # Errors
    /// If the statement is cancelled.
    pub(crate) async fn give_way(&self) -> RowsResult<()> {
        if interrupt::pause()? {
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

fn within(fits: bool) -> RowsResult<()> {
    if fits { Ok(()) } else { Err(RowsError::OverBudget) }
}
