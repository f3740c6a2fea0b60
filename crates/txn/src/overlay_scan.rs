//! A scan of the store merged with the transaction's own writes, in key order.
//!
//! ```text
//!   store     a   c   d       g        batches of rows
//!   overlay     b   d'  e  (g deleted)
//!   out       a b c d' e
//! ```
//! Most batches have no own write between their first and last key, and are returned unchanged.

use crate::writes::{OwnRows, WriteSet, Written};
use async_trait::async_trait;
use std::cmp::Ordering;
use std::sync::Arc;
use store::{Bytes, RowBatch, RowBatchBuilder, Scan, ScanCounters, ScanRequest, Snapshot, Store, StoreResult};

/// Maximum number of own writes that are counted before a scan with a limit begins.
const MOST_COUNTED: usize = 256;

/// Whether `a` precedes `b` in scan order.
fn is_before(reverse: bool, a: &[u8], b: &[u8]) -> bool {
    if reverse { a > b } else { a < b }
}

/// See the module documentation.
pub(crate) struct OverlayScan {
    inner: Box<dyn Scan>,
    /// A batch of the store that waits for own rows before it.
    waiting: Option<RowBatch>,
    /// The remaining own writes, in scan order.
    own: OwnRows,
    reverse: bool,
    values: bool,
    keys: bool,
    /// Whether there is a filter. Own rows are not filtered, and rows of undecided batches may fail the filter: neither
    /// count against the limit.
    filtered: bool,
    remaining: Option<u64>,
    batch_rows: usize,
    own_read: u64,
    returned: u64,
}

impl OverlayScan {
    /// Begins a scan. Without own writes in the ranges, it is the store's scan.
    pub(crate) async fn begin(
        store: &dyn Store,
        snapshot: &Snapshot,
        overlay: &Arc<WriteSet>,
        request: ScanRequest,
    ) -> StoreResult<Box<dyn Scan>> {
        let family = (request.table, request.one_family()?);
        let mut own = OwnRows::new(Arc::clone(overlay), family, &request.ranges, request.reverse);
        let found = own.ahead(MOST_COUNTED)?.len();
        if found == 0 {
            return store.scan(request, snapshot).await;
        }
        let mut below = request.clone();
        below.keys = true;
        // Own writes hide at most `found` rows of the store.
        below.limit = request.limit.filter(|_| found < MOST_COUNTED).map(|limit| limit.saturating_add(found as u64));
        Ok(Box::new(Self {
            inner: store.scan(below, snapshot).await?,
            waiting: None,
            own,
            reverse: request.reverse,
            values: request.values,
            keys: request.keys,
            filtered: request.filter.is_some_and(|filter| !filter.is_empty()),
            remaining: request.limit,
            batch_rows: request.batch_rows.max(1),
            own_read: 0,
            returned: 0,
        }))
    }

    /// Number of own writes before `key` (all if `None`), at most one batch.
    fn own_before(&mut self, key: Option<&[u8]>) -> StoreResult<usize> {
        let (reverse, most) = (self.reverse, self.batch_rows);
        let before = |(own, _): &&(Bytes, Written)| key.is_none_or(|key| is_before(reverse, own, key));
        Ok(self.own.ahead(most)?.iter().take(most).take_while(before).count())
    }

    /// Compares the next own write with `key` in scan order; `None` if there is none.
    fn next_own(&mut self, key: &[u8]) -> StoreResult<Option<Ordering>> {
        let reverse = self.reverse;
        let next = self.own.ahead(1)?.front();
        Ok(next.map(|(own, _)| if reverse { key.cmp(own.as_ref()) } else { own.as_ref().cmp(key) }))
    }

    fn builder(&self, rows: usize) -> RowBatchBuilder {
        RowBatchBuilder::with_capacity(rows, self.values, self.keys)
    }

    /// Appends the next own write; a deleted row appends nothing.
    fn push_own(&mut self, out: &mut RowBatchBuilder) -> StoreResult<()> {
        let Some((key, written)) = self.own.take()? else { return Ok(()) };
        self.own_read += 1;
        let Some(fragment) = written else { return Ok(()) };
        self.push(out, &key, &fragment);
        if self.filtered {
            out.mark_undecided();
        } else {
            self.count(1);
        }
        Ok(())
    }

    fn push(&self, out: &mut RowBatchBuilder, key: &[u8], fragment: &[u8]) {
        if self.values {
            out.push_fragment(fragment);
        } else {
            out.push_rows(1);
        }
        if self.keys {
            out.push_key(key, &[]);
        }
    }

    fn count(&mut self, rows: u64) {
        if let Some(remaining) = &mut self.remaining {
            *remaining = remaining.saturating_sub(rows);
        }
    }

    fn is_full(&self) -> bool {
        self.remaining == Some(0)
    }

    /// Returns own rows only, before the waiting batch or at the end.
    fn own_rows(&mut self, count: usize) -> StoreResult<RowBatch> {
        let mut out = self.builder(count);
        for _ in 0..count {
            if self.is_full() {
                break;
            }
            self.push_own(&mut out)?;
        }
        Ok(out.finish())
    }

    /// Merges a batch with the own writes in its key range.
    fn merge(&mut self, batch: &RowBatch) -> StoreResult<RowBatch> {
        let mut out = self.builder(batch.len());
        // Only rows that certainly pass the filter count.
        let counts = u64::from(!(self.filtered && batch.undecided()));
        if batch.undecided() {
            out.mark_undecided();
        }
        let mut fragments = batch.fragments();
        for key in batch.keys() {
            let fragment = fragments.next().unwrap_or_default();
            while !self.is_full() && self.next_own(key)? == Some(Ordering::Less) {
                self.push_own(&mut out)?;
            }
            if self.is_full() {
                break;
            }
            if self.next_own(key)? == Some(Ordering::Equal) {
                self.push_own(&mut out)?;
            } else {
                self.push(&mut out, key, fragment);
                self.count(counts);
            }
        }
        Ok(out.finish())
    }

    /// Returns the next rows; the batch may be empty before the end.
    async fn step(&mut self) -> StoreResult<Option<RowBatch>> {
        let Some(batch) = self.next_below().await? else {
            let count = self.own_before(None)?;
            return if count > 0 { self.own_rows(count).map(Some) } else { Ok(None) };
        };
        let (first, last) = (batch.keys().next().unwrap_or_default(), batch.keys().last().unwrap_or_default());
        let before = self.own_before(Some(first))?;
        if before > 0 {
            let rows = self.own_rows(before)?;
            self.waiting = Some(batch);
            return Ok(Some(rows));
        }
        let meets_own = self.next_own(last)?.is_some_and(Ordering::is_le);
        let fits = self.remaining.is_none_or(|remaining| remaining >= batch.len() as u64);
        if meets_own || !fits || !self.keys {
            return self.merge(&batch).map(Some);
        }
        if !(self.filtered && batch.undecided()) {
            self.count(batch.len() as u64);
        }
        Ok(Some(batch))
    }

    async fn next_below(&mut self) -> StoreResult<Option<RowBatch>> {
        match self.waiting.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.inner.next().await,
        }
    }
}

#[async_trait]
impl Scan for OverlayScan {
    async fn next(&mut self) -> StoreResult<Option<RowBatch>> {
        while !self.is_full() {
            let Some(batch) = self.step().await? else { return Ok(None) };
            if !batch.is_empty() {
                self.returned += batch.len() as u64;
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn counters(&self) -> ScanCounters {
        let mut counters = self.inner.counters();
        counters.rows_read += self.own_read;
        counters.rows_returned = self.returned;
        counters
    }
}
