//! A scan: reads its ranges one after the other, each in the fastest possible way.

use super::ReadSource;
use super::block_scan::BlockScan;
use super::blocks::{Points, View};
use super::iterate::RangeIterator;
use super::output::Output;
use super::range::StoredRange;
use super::reverse_scan::ReverseScan;
use async_trait::async_trait;
use std::sync::Arc;
use std::vec;
use store::{KeyRange, RowBatch, Scan, ScanCounters, ScanRequest, StoreResult};

/// Rows read before the scan yields to the runtime, if few of them pass the filter.
const ROWS_PER_TURN: usize = 16_384;
/// The cost in rows of a point read or an empty range, for the length of a turn.
const ROWS_PER_SEEK: usize = 16;

/// Begins a scan of `source`.
///
/// # Errors
/// I/O failures and damaged bytes.
pub(crate) fn open(source: ReadSource, request: ScanRequest) -> StoreResult<Box<RangeScan>> {
    let output = Output::new(&request);
    let source = source.detached();
    let view = source.view();
    let mut ranges = request.ranges;
    if request.reverse {
        ranges.reverse();
    }
    let (ranges, reverse) = (ranges.into_iter(), request.reverse);
    let points = Points::default();
    Ok(Box::new(RangeScan { source, ranges, reverse, view, points, open: None, output, begun: false, over: false }))
}

/// A scan of this store.
pub(crate) struct RangeScan {
    source: ReadSource,
    /// Remaining ranges.
    ranges: vec::IntoIter<KeyRange>,
    reverse: bool,
    /// The block view for ranges and points; `None` if fjall reads them.
    view: Option<Arc<View>>,
    points: Points,
    open: Option<OpenRange>,
    output: Output,
    /// Whether a batch was requested before.
    begun: bool,
    /// Whether the scan is finished.
    over: bool,
}

/// The current range.
enum OpenRange {
    Iterator(RangeIterator),
    Blocks(Box<BlockScan>),
    Reverse(Box<ReverseScan>),
}

#[async_trait]
impl Scan for RangeScan {
    async fn next(&mut self) -> StoreResult<Option<RowBatch>> {
        // The first batch is read without yielding, because most scans are short and have only one.
        if std::mem::replace(&mut self.begun, true) {
            tokio::task::yield_now().await;
        }
        loop {
            if !self.read_for_a_turn()? {
                self.over = true;
                break;
            }
            if self.output.is_full() {
                break;
            }
            tokio::task::yield_now().await;
        }
        Ok(self.output.take())
    }

    fn counters(&self) -> ScanCounters {
        self.output.counters
    }
}

impl RangeScan {
    /// Returns true if the scan is finished.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Reads until the batch is full or the turn ends. Returns false at the end of the scan.
    fn read_for_a_turn(&mut self) -> StoreResult<bool> {
        let mut credit = ROWS_PER_TURN;
        while credit > 0 {
            if self.output.is_full() {
                return Ok(!self.output.is_exhausted());
            }
            let before = self.output.counters.rows_read;
            if let Some(open) = &mut self.open {
                if !open.read(credit, self.source.prefix.len(), &mut self.output)? {
                    self.open = None;
                }
            } else if let Some(range) = self.ranges.next() {
                self.begin(&range)?;
            } else {
                return Ok(false);
            }
            let rows = usize::try_from(self.output.counters.rows_read - before).unwrap_or(usize::MAX);
            credit = credit.saturating_sub(rows.max(ROWS_PER_SEEK));
        }
        Ok(true)
    }

    fn begin(&mut self, range: &KeyRange) -> StoreResult<()> {
        self.output.counters.seeks += 1;
        if let Some(key) = range.as_point() {
            if let Some(fragment) = self.source.get(key, self.view.as_deref(), &mut self.points)? {
                self.output.push(key, &[], fragment.bytes());
            }
            return Ok(());
        }
        let Some(range) = StoredRange::new(&self.source.prefix, range) else { return Ok(()) };
        self.open = Some(match &self.view {
            Some(view) if self.reverse => match ReverseScan::open(&self.source, view, &range)? {
                Some(scan) => OpenRange::Reverse(Box::new(scan)),
                None => OpenRange::Iterator(RangeIterator::open(&self.source, &range, true)),
            },
            Some(view) => {
                let scan = BlockScan::open(&self.source, view, range)?;
                self.output.counters.seeks += scan.overlay_sources() as u64;
                OpenRange::Blocks(Box::new(scan))
            }
            None => OpenRange::Iterator(RangeIterator::open(&self.source, &range, self.reverse)),
        });
        Ok(())
    }
}

impl OpenRange {
    fn read(&mut self, rows: usize, prefix_len: usize, output: &mut Output) -> StoreResult<bool> {
        match self {
            Self::Iterator(iterator) => iterator.read(rows, prefix_len, output),
            Self::Blocks(scan) => scan.read(rows, output),
            Self::Reverse(scan) => scan.read(rows, output),
        }
    }
}
