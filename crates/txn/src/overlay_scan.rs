//! A scan of the store with own writes merged in, in key order.
//!
//! ```text
//!   store     a   c   d       g        batches of rows
//!   overlay     b   d'  e  (g deleted)
//!   out       a b c d' e
//! ```
//! Most batches meet no own write between their first and last key: they are handed on untouched.

use crate::Overlay;
use crate::overlay::Written;
use async_trait::async_trait;
use std::collections::VecDeque;
use std::sync::Arc;
use store::{Bytes, RowBatch, RowBatchBuilder, Scan, ScanCounters, ScanRequest, Snapshot, Store, StoreResult};

/// See the file's head.
pub(crate) struct OverlayScan {
    inner: Box<dyn Scan>,
    /// A batch of the store that own rows stand before.
    waiting: Option<RowBatch>,
    /// Own writes that are still to come, in scan order.
    own: VecDeque<(Bytes, Written)>,
    reverse: bool,
    values: bool,
    keys: bool,
    /// Own rows are not judged, and rows of undecided batches may fail: neither counts against a limit.
    filtered: bool,
    remaining: Option<u64>,
    batch_rows: usize,
    own_read: u64,
    returned: u64,
}

impl OverlayScan {
    /// Begins a scan; the store's own, when no own write lies within the ranges.
    pub(crate) async fn begin(
        store: &dyn Store,
        snapshot: &Snapshot,
        overlay: &Arc<Overlay>,
        request: ScanRequest,
    ) -> StoreResult<Box<dyn Scan>> {
        let rows = overlay.range(request.table, request.one_family()?, &request.ranges);
        let mut own: VecDeque<_> = rows.map(|(key, written)| (key.clone(), written.clone())).collect();
        if own.is_empty() {
            return store.scan(request, snapshot).await;
        }
        if request.reverse {
            own.make_contiguous().reverse();
        }
        let mut below = request.clone();
        below.keys = true;
        // Own writes hide at most so many rows of the store.
        below.limit = request.limit.map(|limit| limit.saturating_add(own.len() as u64));
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

    /// Does `a` come before `b` in this scan?
    fn is_before(&self, a: &[u8], b: &[u8]) -> bool {
        if self.reverse { a > b } else { a < b }
    }

    /// Own writes before `key` (all of them without one), at most a batch full.
    fn own_before(&self, key: Option<&[u8]>) -> usize {
        let before = |(own, _): &&(Bytes, Written)| key.is_none_or(|key| self.is_before(own, key));
        self.own.iter().take(self.batch_rows).take_while(before).count()
    }

    fn builder(&self, rows: usize) -> RowBatchBuilder {
        RowBatchBuilder::with_capacity(rows, self.values, self.keys)
    }

    /// Takes the next own write; a deleted row adds nothing.
    fn push_own(&mut self, out: &mut RowBatchBuilder) {
        let Some((key, written)) = self.own.pop_front() else { return };
        self.own_read += 1;
        let Some(fragment) = written else { return };
        self.push(out, &key, &fragment);
        if self.filtered {
            out.mark_undecided();
        } else {
            self.count(1);
        }
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

    /// Own rows alone, before the batch that waits or at the end.
    fn own_rows(&mut self, count: usize) -> RowBatch {
        let mut out = self.builder(count);
        for _ in 0..count {
            if self.is_full() {
                break;
            }
            self.push_own(&mut out);
        }
        out.finish()
    }

    /// A batch that own writes fall into.
    fn merge(&mut self, batch: &RowBatch) -> RowBatch {
        let mut out = self.builder(batch.len());
        // Only rows that certainly passed count.
        let counts = u64::from(!(self.filtered && batch.undecided()));
        if batch.undecided() {
            out.mark_undecided();
        }
        let mut fragments = batch.fragments();
        for key in batch.keys() {
            let fragment = fragments.next().unwrap_or_default();
            while !self.is_full() && self.own.front().is_some_and(|(own, _)| self.is_before(own, key)) {
                self.push_own(&mut out);
            }
            if self.is_full() {
                break;
            }
            if self.own.front().is_some_and(|(own, _)| own.as_ref() == key) {
                self.push_own(&mut out);
            } else {
                self.push(&mut out, key, fragment);
                self.count(counts);
            }
        }
        out.finish()
    }

    /// The next rows; may be none although there are more.
    async fn step(&mut self) -> StoreResult<Option<RowBatch>> {
        let Some(batch) = self.next_below().await? else {
            let count = self.own_before(None);
            return Ok((count > 0).then(|| self.own_rows(count)));
        };
        let (first, last) = (batch.keys().next().unwrap_or_default(), batch.keys().last().unwrap_or_default());
        let before = self.own_before(Some(first));
        if before > 0 {
            let rows = self.own_rows(before);
            self.waiting = Some(batch);
            return Ok(Some(rows));
        }
        let meets_own = self.own.front().is_some_and(|(own, _)| !self.is_before(last, own));
        let fits = self.remaining.is_none_or(|remaining| remaining >= batch.len() as u64);
        if meets_own || !fits || !self.keys {
            return Ok(Some(self.merge(&batch)));
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
