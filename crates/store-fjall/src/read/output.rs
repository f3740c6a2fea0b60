//! What a scan hands out: one batch under construction, its filter, its limit and its counters.

use super::blocks::{Change, DataBlock, Entry};
use super::filter::CompiledFilter;
use bytes::Bytes;
use fragment::Verdict;
use store::{RowBatch, RowBatchBuilder, ScanCounters, ScanRequest};

/// Keys of one batch stay far below the 4 GiB that its 32-bit offsets reach.
const MAX_KEY_BYTES: usize = 1 << 28;

/// A batch of long rows is handed out when its fragments are longer than this together.
const MAX_FRAGMENT_BYTES: usize = 2 << 20;

/// Fragments are copied out of a block when less than one in so many of its entries is taken.
const COPY_BELOW: usize = 8;
/// So few fragments are copied, too: that is cheaper than another segment of the batch.
const COPY_UP_TO: usize = 24;

/// Room is made at once for the rows of a scan that asks for no more than these.
const FEW_ROWS: u64 = 1024;

/// And for so many where that is not known.
const UNKNOWN_ROWS: u64 = 64;

/// Collects rows into batches. Every way of reading pushes here.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) keys: bool,
    pub(crate) values: bool,
    pub(crate) filter: Option<CompiledFilter>,
    pub(crate) counters: ScanCounters,
    batch_rows: usize,
    /// Rows that pass the filter and may still be handed out.
    left: u64,
    batch: RowBatchBuilder,
    /// Bytes of the batch's fragments.
    held: usize,
    /// Fragments taken from the block under way.
    spans: Vec<(u32, u32)>,
}

/// The rows of one block on their way into the batch.
pub(crate) struct BlockWalk<'a> {
    output: &'a mut Output,
    data: &'a DataBlock,
    prefix_len: usize,
    /// The block as the batch holds it, once it does.
    lent: Option<Bytes>,
    rows: u64,
    bytes: u64,
}

impl BlockWalk<'_> {
    /// Looks at one row of the block and takes it if it passes.
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

    /// Looks at a row that is not in the block, but has its place behind those pushed so far.
    pub(crate) fn push_change(&mut self, change: &Change) {
        if change.fragment.is_some() {
            self.hand_over();
            self.output.push_change(change, self.prefix_len);
        }
    }

    /// Does the scan want no more rows?
    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.output.is_exhausted()
    }

    /// No more rows in this block.
    pub(crate) fn finish(mut self) {
        self.hand_over();
        let counters = &mut self.output.counters;
        counters.rows_read += self.rows;
        counters.block_rows += self.rows;
        counters.bytes_read += self.bytes;
    }

    /// Gives the batch the fragments of the rows taken since the last time.
    fn hand_over(&mut self) {
        let Output { batch, spans, held, .. } = &mut *self.output;
        *held += spans.iter().map(|(start, end)| (end - start) as usize).sum::<usize>();
        // A batch of few rows from each of many blocks would hold all of these in memory.
        let few = self.lent.is_none() && spans.len() * COPY_BELOW < self.data.trailer.items as usize;
        if few || spans.len() <= COPY_UP_TO {
            batch.reserve_fragments(spans.iter().map(|(start, end)| (end - start) as usize).sum());
            for &(start, end) in spans.iter() {
                batch.push_fragment(self.data.bytes.get(start as usize..end as usize).unwrap_or_default());
            }
        } else {
            let lent = self.lent.get_or_insert_with(|| Bytes::from_owner(self.data.bytes.clone()));
            // Spans come from slices of this very block, so none is refused.
            let accepted = batch.push_block(lent.clone(), spans);
            debug_assert!(accepted, "a span outside its block");
        }
        spans.clear();
    }
}

impl Output {
    /// For one scan.
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

    /// May no row be added to this scan any more?
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Is it time to hand the batch out?
    pub(crate) fn is_full(&self) -> bool {
        self.left == 0
            || self.batch.len() >= self.batch_rows
            || self.batch.key_len() > MAX_KEY_BYTES
            || self.held > MAX_FRAGMENT_BYTES
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
    pub(crate) fn begin_block<'a>(&'a mut self, data: &'a DataBlock, prefix_len: usize) -> BlockWalk<'a> {
        self.spans.clear();
        BlockWalk { output: self, data, prefix_len, lent: None, rows: 0, bytes: 0 }
    }

    /// Looks at one row, whose key is `head` and `rest` without the prefix, and takes it if it passes.
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

    /// Looks at a row from the overlay.
    pub(crate) fn push_change(&mut self, change: &Change, prefix_len: usize) {
        if let Some(fragment) = &change.fragment {
            self.push(change.key.get(prefix_len..).unwrap_or_default(), &[], fragment.bytes());
        }
    }

    /// The batch so far, `None` when it is empty; the next one begins.
    pub(crate) fn take(&mut self) -> Option<RowBatch> {
        self.held = 0;
        let batch = std::mem::take(&mut self.batch);
        self.counters.rows_returned += batch.len() as u64;
        (!batch.is_empty()).then(|| batch.finish())
    }

    /// Is the row to be handed out? Rows that cannot be judged do not use up the limit: they may all fail.
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
