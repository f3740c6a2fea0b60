//! Reading ranges of rows.

use crate::{FamilyId, Filter, KeyRange, RowBatch, StoreError, StoreResult, TableId, Timestamp};
use async_trait::async_trait;
use std::ops::Range;

/// What a scan reads. A plain value: it can be kept, shown and sent.
#[derive(Clone, Debug)]
pub struct ScanRequest {
    /// Its table.
    pub table: TableId,
    /// The families wanted. So far stores hand out the rows of one: see [`Self::one_family`].
    pub families: Vec<FamilyId>,
    /// The cells wanted; `None` is all of them. A hint: a store that keeps a row's cells in one fragment hands out
    /// the whole of it.
    pub qualifiers: Option<Vec<u16>>,
    /// Only cells written in this time. Needs [`crate::Capabilities::history`].
    pub times: Option<Range<Timestamp>>,
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

    /// The family to be read, for backends that read one and its newest cells only.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`]: another number of families, or a range of time.
    pub fn one_family(&self) -> StoreResult<FamilyId> {
        match (self.families.as_slice(), &self.times) {
            ([family], None) => Ok(*family),
            (_, Some(_)) => Err(StoreError::Unsupported { what: "a scan of a range of time" }),
            _ => Err(StoreError::Unsupported { what: "a scan of several families" }),
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
