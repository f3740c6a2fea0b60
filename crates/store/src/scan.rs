//! Reading ranges of rows.

use crate::{FamilyId, Filter, KeyRange, RowBatch, StoreResult, TableId};
use async_trait::async_trait;

/// What a scan reads. A plain value: it can be kept, shown and sent.
#[derive(Clone, Debug)]
pub struct ScanRequest {
    /// Its table.
    pub table: TableId,
    /// Its family.
    pub family: FamilyId,
    /// Sorted, disjoint, none empty.
    pub ranges: Vec<KeyRange>,
    /// From the last key to the first.
    pub reverse: bool,
    /// Stop after this many rows that passed the filter.
    pub limit: Option<u64>,
    /// Rows that certainly fail it are left out.
    pub filter: Option<Filter>,
    /// Are rowkeys wanted?
    pub keys: bool,
    /// Are fragments wanted? Without keys and fragments only the rows are counted.
    pub values: bool,
    /// About how many rows a batch should hold.
    pub batch_rows: usize,
}

impl ScanRequest {
    /// Everything in `ranges`, keys and fragments, forward.
    pub fn new(table: TableId, family: FamilyId, ranges: Vec<KeyRange>) -> Self {
        Self {
            table,
            family,
            ranges,
            reverse: false,
            limit: None,
            filter: None,
            keys: true,
            values: true,
            batch_rows: 8192,
        }
    }
}

/// A scan under way. Dropping it ends it.
#[async_trait]
pub trait Scan: Send {
    /// The next rows in key order (or reverse); `None` at the end. Batches are never empty.
    /// Returns to the runtime between batches, so that a cancelled statement stops there.
    ///
    /// # Errors
    /// [`crate::StoreError::Corrupted`] rather than a wrong row; [`crate::StoreError::NoSuchTable`]
    /// when the table was dropped meanwhile and its bytes are gone.
    async fn next(&mut self) -> StoreResult<Option<RowBatch>>;

    /// What it has cost so far.
    fn counters(&self) -> ScanCounters;
}

/// What a scan has cost: these are the figures of EXPLAIN ANALYZE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanCounters {
    /// Positionings at a key: one per range and source of rows, at least.
    pub seeks: u64,
    /// Rows looked at, before the filter.
    pub rows_read: u64,
    /// Rows handed out.
    pub rows_returned: u64,
    /// Bytes of keys and fragments looked at.
    pub bytes_read: u64,
    /// Rows that came straight from data blocks rather than through a merging iterator.
    pub block_rows: u64,
}

impl std::ops::AddAssign for ScanCounters {
    fn add_assign(&mut self, other: Self) {
        self.seeks += other.seeks;
        self.rows_read += other.rows_read;
        self.rows_returned += other.rows_returned;
        self.bytes_read += other.bytes_read;
        self.block_rows += other.block_rows;
    }
}
