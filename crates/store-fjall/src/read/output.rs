//! What a scan hands out: one batch under construction, its filter, its limit and its counters.

use super::blocks::{DataBlock, Entry};
use super::filter::CompiledFilter;
use bytes::Bytes;
use fragment::Verdict;
use store::{RowBatch, RowBatchBuilder, ScanCounters, ScanRequest};

/// Keys of one batch stay far below the 4 GiB that its 32-bit offsets reach.
const MAX_KEY_BYTES: usize = 1 << 28;

/// Fragments are copied out of a block when less than one in so many of its entries is taken.
const COPY_BELOW: usize = 8;

/// Collects rows into batches. Every way of reading pushes here.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) keys: bool,
    pub(crate) values: bool,
    pub(crate) filter: Option<CompiledFilter>,
    pub(crate) counters: ScanCounters,
    batch_rows: usize,
    /// Rows that may still be handed out.
    left: u64,
    batch: RowBatchBuilder,
    /// Fragments taken from the block under way.
    spans: Vec<(u32, u32)>,
}

/// The rows of one block on their way into the batch.
pub(crate) struct BlockWalk<'a> {
    output: &'a mut Output,
    prefix_len: usize,
    rows: u64,
    bytes: u64,
}

/// What a block had.
pub(crate) struct BlockRows {
    looked_at: u64,
    bytes: u64,
}

impl BlockWalk<'_> {
    /// Looks at one row and takes it if it passes.
    #[inline]
    pub(crate) fn push(&mut self, entry: &Entry<'_>) {
        let output = &mut *self.output;
        self.rows += 1;
        self.bytes += (entry.head.len() + entry.rest.len() + entry.value.len()) as u64;
        if output.left == 0 || !output.passes(entry.value) {
            return;
        }
        output.left -= 1;
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

    /// No more rows in this block.
    pub(crate) fn finish(self) -> BlockRows {
        BlockRows { looked_at: self.rows, bytes: self.bytes }
    }
}

impl Output {
    /// For one scan.
    pub(crate) fn new(request: &ScanRequest) -> Self {
        let filter = request.filter.as_ref().filter(|filter| !filter.is_empty());
        Self {
            keys: request.keys,
            values: request.values,
            filter: filter.map(CompiledFilter::new),
            counters: ScanCounters::default(),
            batch_rows: request.batch_rows.max(1),
            left: request.limit.unwrap_or(u64::MAX),
            batch: RowBatchBuilder::default(),
            spans: Vec::new(),
        }
    }

    /// May no row be added to this scan any more?
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Is it time to hand the batch out?
    pub(crate) fn is_full(&self) -> bool {
        self.left == 0 || self.batch.len() >= self.batch_rows || self.batch.key_len() > MAX_KEY_BYTES
    }

    /// Is nothing wanted of a row but that it is there?
    pub(crate) fn only_counts(&self) -> bool {
        !self.keys && !self.values && self.filter.is_none()
    }

    /// Takes `rows` rows that are only counted.
    pub(crate) fn push_count(&mut self, rows: u64) {
        self.counters.rows_read += rows;
        self.counters.block_rows += rows;
        let taken = rows.min(self.left);
        self.left -= taken;
        self.batch.push_rows(usize::try_from(taken).unwrap_or(usize::MAX));
    }

    /// Begins a block whose fragments the batch may borrow.
    pub(crate) fn begin_block(&mut self, prefix_len: usize) -> BlockWalk<'_> {
        self.spans.clear();
        BlockWalk { output: self, prefix_len, rows: 0, bytes: 0 }
    }

    /// Ends the block: the rows pushed since [`Output::begin_block`] have their fragments in `data`.
    pub(crate) fn end_block(&mut self, data: &DataBlock, rows: BlockRows) {
        self.counters.rows_read += rows.looked_at;
        self.counters.block_rows += rows.looked_at;
        self.counters.bytes_read += rows.bytes;
        if !self.values {
            return;
        }
        // A batch of few rows from each of many blocks would hold all of these in memory.
        let few = self.spans.len() * COPY_BELOW < data.trailer.items as usize;
        let owned = || Bytes::from_owner(data.bytes.clone());
        if few || !self.batch.push_block(owned(), &self.spans) {
            for &(start, end) in &self.spans {
                self.batch.push_fragment(data.bytes.get(start as usize..end as usize).unwrap_or_default());
            }
        }
    }

    /// Looks at one row, whose key is `head` and `rest` without the prefix, and takes it if it passes.
    pub(crate) fn push(&mut self, head: &[u8], rest: &[u8], fragment: &[u8]) {
        self.counters.rows_read += 1;
        self.counters.bytes_read += (head.len() + rest.len() + fragment.len()) as u64;
        if self.left == 0 || !self.passes(fragment) {
            return;
        }
        self.left -= 1;
        if self.values {
            self.batch.push_fragment(fragment);
        } else {
            self.batch.push_rows(1);
        }
        if self.keys {
            self.batch.push_key(head, rest);
        }
    }

    /// The batch so far, `None` when it is empty; the next one begins.
    pub(crate) fn take(&mut self) -> Option<RowBatch> {
        let batch = std::mem::take(&mut self.batch);
        self.counters.rows_returned += batch.len() as u64;
        (!batch.is_empty()).then(|| batch.finish())
    }

    #[inline]
    fn passes(&mut self, fragment: &[u8]) -> bool {
        match self.filter.as_ref().map_or(Verdict::Pass, |filter| filter.judge(fragment)) {
            Verdict::Pass => true,
            Verdict::Fail => false,
            Verdict::Undecided => {
                self.batch.mark_undecided();
                true
            }
        }
    }
}
