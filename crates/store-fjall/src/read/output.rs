//! The output of a scan: one batch under construction, the filter, the limit and the counters.

use super::blocks::{Change, DataBlock, Entry};
use super::filter::CompiledFilter;
use bytes::Bytes;
use fragment::Verdict;
use store::{RowBatch, RowBatchBuilder, ScanCounters, ScanRequest};

/// Keeps the keys of a batch far below 4 GiB, the limit of its 32-bit offsets.
const MAX_KEY_BYTES: usize = 1 << 28;

/// A batch is returned early once its fragments exceed this size.
const MAX_FRAGMENT_BYTES: usize = 2 << 20;

/// Fragments are copied out of a block if fewer than `1 / COPY_BELOW` of its entries are taken.
const COPY_BELOW: usize = 8;
/// Up to this many fragments are copied, because that is cheaper than another segment of the batch.
const COPY_UP_TO: usize = 24;

/// Capacity is reserved for all rows of a scan with a limit up to this.
const FEW_ROWS: u64 = 1024;

/// Capacity that is reserved otherwise.
const UNKNOWN_ROWS: u64 = 64;

/// Collects rows into batches. All scans push rows here.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) keys: bool,
    pub(crate) values: bool,
    pub(crate) filter: Option<CompiledFilter>,
    pub(crate) counters: ScanCounters,
    batch_rows: usize,
    /// Remaining rows until the limit.
    left: u64,
    batch: RowBatchBuilder,
    /// Total length of the batch's fragments.
    held: usize,
    /// Fragments taken from the current block.
    spans: Vec<(u32, u32)>,
}

/// The rows of one block that are being pushed.
pub(crate) struct BlockWalk<'a> {
    output: &'a mut Output,
    data: &'a DataBlock,
    prefix_len: usize,
    /// The block as shared with the batch, once it is.
    lent: Option<Bytes>,
    rows: u64,
    bytes: u64,
}

impl BlockWalk<'_> {
    /// Filters one row of the block and takes it if it passes.
    #[inline]
    pub(crate) fn push(&mut self, entry: &Entry<'_>) {
        let output = &mut *self.output;
        self.rows += 1;
        self.bytes += (entry.head.len() + entry.rest.len() + entry.value.len()) as u64;
        if !output.admits(entry.value) {
            return;
        }
        if output.values {
            output.spans.push(entry.span());
        } else {
            output.batch.push_rows(1);
        }
        if output.keys {
            let (head, rest) = entry.key_behind(self.prefix_len);
            output.batch.push_key(head, rest);
        }
    }

    /// Pushes a row that is not in the block and follows the rows pushed so far.
    pub(crate) fn push_change(&mut self, change: &Change) {
        if change.fragment.is_some() {
            self.hand_over();
            self.output.push_change(change, self.prefix_len);
        }
    }

    /// Returns true if the scan's limit is reached.
    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.output.is_exhausted()
    }

    /// Ends the block and updates the counters.
    pub(crate) fn finish(mut self) {
        self.hand_over();
        let counters = &mut self.output.counters;
        counters.rows_read += self.rows;
        counters.block_rows += self.rows;
        counters.bytes_read += self.bytes;
    }

    /// Adds the fragments taken since the last call to the batch.
    fn hand_over(&mut self) {
        let Output { batch, spans, held, .. } = &mut *self.output;
        *held += spans.iter().map(|(start, end)| (end - start) as usize).sum::<usize>();
        // A batch with few rows from each of many blocks would keep all of these blocks in memory.
        let few = self.lent.is_none() && spans.len() * COPY_BELOW < self.data.trailer.items as usize;
        if few || spans.len() <= COPY_UP_TO {
            batch.reserve_fragments(spans.iter().map(|(start, end)| (end - start) as usize).sum());
            for &(start, end) in spans.iter() {
                batch.push_fragment(self.data.bytes.get(start as usize..end as usize).unwrap_or_default());
            }
        } else {
            let lent = self.lent.get_or_insert_with(|| Bytes::from_owner(self.data.bytes.clone()));
            // The spans come from slices of this block, so none is refused.
            let accepted = batch.push_block(lent.clone(), spans);
            debug_assert!(accepted, "a span outside its block");
        }
        spans.clear();
    }
}

impl Output {
    /// The output of one scan.
    pub(crate) fn new(request: &ScanRequest) -> Self {
        let filter = request.filter.as_ref().filter(|filter| !filter.is_empty());
        let few = request.limit.filter(|limit| *limit <= FEW_ROWS).unwrap_or(UNKNOWN_ROWS) as usize;
        Self {
            keys: request.keys,
            values: request.values,
            filter: filter.map(CompiledFilter::new),
            counters: ScanCounters::default(),
            batch_rows: request.batch_rows.max(1),
            left: request.limit.unwrap_or(u64::MAX),
            batch: RowBatchBuilder::with_capacity(few, request.values, request.keys),
            held: 0,
            spans: Vec::with_capacity(few),
        }
    }

    /// Returns true if the limit is reached.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Returns true if the batch should be returned now.
    pub(crate) fn is_full(&self) -> bool {
        self.left == 0
            || self.batch.len() >= self.batch_rows
            || self.batch.key_len() > MAX_KEY_BYTES
            || self.held > MAX_FRAGMENT_BYTES
    }

    /// Returns true if the rows are only counted.
    pub(crate) fn only_counts(&self) -> bool {
        !self.keys && !self.values && self.filter.is_none()
    }

    /// Counts `rows` rows that are not read.
    pub(crate) fn push_count(&mut self, rows: u64) {
        self.counters.rows_read += rows;
        self.counters.block_rows += rows;
        let taken = rows.min(self.left);
        self.left -= taken;
        self.batch.push_rows(usize::try_from(taken).unwrap_or(usize::MAX));
    }

    /// Begins a block whose fragments the batch may share.
    pub(crate) fn begin_block<'a>(&'a mut self, data: &'a DataBlock, prefix_len: usize) -> BlockWalk<'a> {
        self.spans.clear();
        BlockWalk { output: self, data, prefix_len, lent: None, rows: 0, bytes: 0 }
    }

    /// Filters one row and takes it if it passes. Its key without the prefix is `head` and `rest`.
    pub(crate) fn push(&mut self, head: &[u8], rest: &[u8], fragment: &[u8]) {
        self.counters.rows_read += 1;
        self.counters.bytes_read += (head.len() + rest.len() + fragment.len()) as u64;
        if !self.admits(fragment) {
            return;
        }
        if self.values {
            self.held += fragment.len();
            self.batch.push_fragment(fragment);
        } else {
            self.batch.push_rows(1);
        }
        if self.keys {
            self.batch.push_key(head, rest);
        }
    }

    /// Filters a row of the overlay and takes it if it passes.
    pub(crate) fn push_change(&mut self, change: &Change, prefix_len: usize) {
        if let Some(fragment) = &change.fragment {
            self.push(change.key.get(prefix_len..).unwrap_or_default(), &[], fragment.bytes());
        }
    }

    /// Returns the batch, `None` if it is empty, and begins the next one.
    pub(crate) fn take(&mut self) -> Option<RowBatch> {
        self.held = 0;
        let batch = std::mem::take(&mut self.batch);
        self.counters.rows_returned += batch.len() as u64;
        (!batch.is_empty()).then(|| batch.finish())
    }

    /// Returns true if the row is returned. Undecided rows do not count towards the limit, because they may all fail
    /// the filter.
    #[inline]
    fn admits(&mut self, fragment: &[u8]) -> bool {
        if self.left == 0 {
            return false;
        }
        match self.filter.as_ref().map_or(Verdict::Pass, |filter| filter.judge(fragment)) {
            Verdict::Pass => {
                self.left -= 1;
                true
            }
            Verdict::Fail => false,
            Verdict::Undecided => {
                self.batch.mark_undecided();
                true
            }
        }
    }
}
