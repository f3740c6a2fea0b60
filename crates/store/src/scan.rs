//! Range scans.

use crate::{FamilyId, Filter, KeyRange, RowBatch, StoreError, StoreResult, TableId, Timestamp};
use async_trait::async_trait;
use std::ops::Range;

/// What a scan reads: a plain value.
#[derive(Clone, Debug)]
pub struct ScanRequest {
    /// The table.
    pub table: TableId,
    /// The families to read. Stores so far read one: see [`Self::one_family`].
    pub families: Vec<FamilyId>,
    /// The columns to read; `None` reads all. A hint: a store that keeps a row's cells in one fragment returns the
    /// whole fragment.
    pub qualifiers: Option<Vec<u16>>,
    /// Reads only cells with a timestamp in this range. Needs [`crate::Capabilities::history`].
    pub times: Option<Range<Timestamp>>,
    /// Sorted, disjoint and non-empty.
    pub ranges: Vec<KeyRange>,
    /// Scans from the last key to the first.
    pub reverse: bool,
    /// Stop after this many rows that passed the filter.
    pub limit: Option<u64>,
    /// Excludes rows that are known to fail it.
    pub filter: Option<Filter>,
    /// Whether to return rowkeys.
    pub keys: bool,
    /// Whether to return fragments. Without keys and fragments the rows are only counted.
    pub values: bool,
    /// Approximate number of rows in a batch.
    pub batch_rows: usize,
}

impl ScanRequest {
    /// A forward scan of `ranges` that returns keys and fragments.
    pub fn new(table: TableId, family: FamilyId, ranges: Vec<KeyRange>) -> Self {
        Self {
            table,
            families: vec![family],
            qualifiers: None,
            times: None,
            ranges,
            reverse: false,
            limit: None,
            filter: None,
            keys: true,
            values: true,
            batch_rows: 8192,
        }
    }

    /// Returns the only family, for backends that read one family and the newest cells only.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] for zero or several families, or a time range.
    pub fn one_family(&self) -> StoreResult<FamilyId> {
        match (self.families.as_slice(), &self.times) {
            ([family], None) => Ok(*family),
            (_, Some(_)) => Err(StoreError::Unsupported { what: "a scan of a range of time" }),
            _ => Err(StoreError::Unsupported { what: "a scan of several families" }),
        }
    }
}

/// A running scan. Dropping it ends it.
#[async_trait]
pub trait Scan: Send {
    /// Returns the next rows in key order (or reverse); `None` at the end. Batches are never empty. Yields to the
    /// runtime between batches, so that a cancelled statement stops there.
    ///
    /// # Errors
    /// [`crate::StoreError::Corrupted`] rather than a wrong row; [`crate::StoreError::NoSuchTable`]
    /// when the table was dropped meanwhile and its bytes are reclaimed.
    async fn next(&mut self) -> StoreResult<Option<RowBatch>>;

    /// The cost so far.
    fn counters(&self) -> ScanCounters;
}

/// The cost of a scan, shown by EXPLAIN ANALYZE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanCounters {
    /// Seeks to a key: at least one per range and source of rows.
    pub seeks: u64,
    /// Rows read, before the filter.
    pub rows_read: u64,
    /// Rows returned.
    pub rows_returned: u64,
    /// Bytes of keys and fragments read.
    pub bytes_read: u64,
    /// Rows read directly from data blocks rather than through a merging iterator.
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
