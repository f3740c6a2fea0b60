//! A scan without a consistent snapshot: each batch is read from the state published at that time.

use async_trait::async_trait;
use std::sync::Arc;
use store::{
    Bytes, CommitNo, KeyRange, RowBatch, RowBatchBuilder, Scan, ScanCounters, ScanRequest, Store, StoreResult,
};

pub(super) struct RowScan {
    store: Arc<dyn Store>,
    /// The remaining part of the request.
    request: ScanRequest,
    /// Whether the caller requested keys. They are always read, because the scan continues after the last key.
    keys: bool,
    at_least: CommitNo,
    counters: ScanCounters,
    done: bool,
}

impl RowScan {
    pub(super) async fn begin(
        store: Arc<dyn Store>,
        mut request: ScanRequest,
        at_least: CommitNo,
    ) -> StoreResult<Box<dyn Scan>> {
        // Returns the store's errors for an invalid request immediately.
        drop(store.scan(request.clone(), &store.snapshot(at_least).await?).await?);
        let keys = std::mem::replace(&mut request.keys, true);
        let done = request.limit == Some(0);
        Ok(Box::new(Self { store, request, keys, at_least, counters: ScanCounters::default(), done }))
    }

    /// Continues after the last row of `batch`.
    fn advance(&mut self, batch: &RowBatch) {
        let last = Bytes::copy_from_slice(batch.key(batch.len().saturating_sub(1)));
        let left = if self.request.reverse {
            KeyRange { start: Bytes::new(), end: Some(last) }
        } else {
            KeyRange { start: KeyRange::point(last).end.unwrap_or_default(), end: None }
        };
        self.request.ranges = self.request.ranges.iter().filter_map(|range| range.intersect(&left)).collect();
        // Rows of an undecided batch are counted by the caller, because some may fail the filter.
        if let Some(limit) = self.request.limit.as_mut().filter(|_| !batch.undecided()) {
            *limit = limit.saturating_sub(batch.len() as u64);
        }
        self.done = self.request.ranges.is_empty() || self.request.limit == Some(0);
    }
}

#[async_trait]
impl Scan for RowScan {
    async fn next(&mut self) -> StoreResult<Option<RowBatch>> {
        if self.done {
            return Ok(None);
        }
        let snapshot = self.store.snapshot(self.at_least).await?;
        let mut scan = self.store.scan(self.request.clone(), &snapshot).await?;
        let batch = scan.next().await?;
        let returned = self.counters.rows_returned + batch.as_ref().map_or(0, RowBatch::len) as u64;
        self.counters += scan.counters();
        self.counters.rows_returned = returned;
        match batch {
            Some(batch) => {
                self.advance(&batch);
                Ok(Some(if self.keys { batch } else { without_keys(&batch) }))
            }
            None => {
                self.done = true;
                Ok(None)
            }
        }
    }

    fn counters(&self) -> ScanCounters {
        self.counters
    }
}

fn without_keys(batch: &RowBatch) -> RowBatch {
    let mut bare = RowBatchBuilder::default();
    batch.fragments().for_each(|fragment| bare.push_fragment(fragment));
    if bare.is_empty() {
        bare.push_rows(batch.len());
    }
    if batch.undecided() {
        bare.mark_undecided();
    }
    bare.finish()
}
