//! What a scan hands out: one batch under construction, its filter, its limit and its counters.

use super::filter::{CompiledFilter, Verdict};
use store::{RowBatch, RowBatchBuilder, ScanCounters, ScanRequest, StoreResult};

/// Keys of one batch stay far below the 4 GiB that its 32-bit offsets reach.
const MAX_KEY_BYTES: usize = 1 << 28;

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
}

impl Output {
    /// For one scan.
    ///
    /// # Errors
    /// A filter that cannot be compiled.
    pub(crate) fn new(request: &ScanRequest) -> StoreResult<Self> {
        let filter = request.filter.as_ref().filter(|filter| !filter.is_empty());
        Ok(Self {
            keys: request.keys,
            values: request.values,
            filter: filter.map(CompiledFilter::new).transpose()?,
            counters: ScanCounters::default(),
            batch_rows: request.batch_rows.max(1),
            left: request.limit.unwrap_or(u64::MAX),
            batch: RowBatchBuilder::default(),
        })
    }

    /// May no row be added to this scan any more?
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Is it time to hand the batch out?
    pub(crate) fn is_full(&self) -> bool {
        self.left == 0 || self.batch.len() >= self.batch_rows || self.batch.key_len() > MAX_KEY_BYTES
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
