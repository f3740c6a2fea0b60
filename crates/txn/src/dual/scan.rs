//! A scan that returns only valid rows and entries.
//!
//! Marks are in fragments, so fragments are read even if only keys or row counts are requested. Filters could reject a
//! valid row by an invalid fragment, so the caller evaluates them.

use super::FAMILY;
use super::layer::Shared;
use async_trait::async_trait;
use fragment::header;
use std::sync::Arc;
use store::{
    Bytes, ReadAt, RowBatch, RowBatchBuilder, Scan, ScanCounters, ScanRequest, Snapshot, StoreResult, TableId,
};

pub(super) struct DualScan {
    shared: Arc<Shared>,
    inner: Box<dyn Scan>,
    snapshot: Snapshot,
    table: TableId,
    /// Whether keys are requested.
    keys: bool,
    values: bool,
    undecided: bool,
    /// Rows still to return, if the store could have applied the limit.
    left: Option<u64>,
    returned: u64,
    /// The number of entries that the scan may still repair.
    repairs_left: usize,
}

impl DualScan {
    pub(super) async fn begin(
        shared: Arc<Shared>,
        mut request: ScanRequest,
        snapshot: &Snapshot,
        repairs_left: usize,
    ) -> StoreResult<Box<dyn Scan>> {
        let undecided = request.filter.take().is_some_and(|filter| !filter.is_empty());
        let left = request.limit.take().filter(|_| !undecided);
        if let Some(left) = left {
            request.batch_rows = request.batch_rows.min(usize::try_from(left).unwrap_or(usize::MAX)).max(1);
        }
        let (keys, values, table) = (request.keys, request.values, request.table);
        (request.keys, request.values) = (true, true);
        let inner = shared.raw.scan(request, snapshot).await?;
        let snapshot = snapshot.clone();
        Ok(Box::new(Self { shared, inner, snapshot, table, keys, values, undecided, left, returned: 0, repairs_left }))
    }

    /// Replaces marked fragments by what a reader should see, and drops invalid rows.
    async fn believed(&mut self, batch: RowBatch) -> StoreResult<RowBatch> {
        let mut marked: Vec<(Bytes, Bytes)> = Vec::new();
        for (key, fragment) in batch.keys().zip(batch.fragments()) {
            if header::marks_of(fragment) != 0 {
                marked.push((Bytes::copy_from_slice(key), Bytes::copy_from_slice(fragment)));
            }
        }
        if marked.is_empty() {
            return Ok(batch);
        }
        let seen = self.shared.believed(self.table, &marked, ReadAt::Snapshot(&self.snapshot)).await?;
        let mut seen = seen.into_iter();
        let mut rows = RowBatchBuilder::with_capacity(batch.len(), true, true);
        for (key, fragment) in batch.keys().zip(batch.fragments()) {
            let believed;
            let fragment = match header::marks_of(fragment) {
                0 => fragment,
                _ => {
                    let Some(of_row) = seen.next().flatten() else { continue };
                    believed = of_row;
                    believed.as_ref()
                }
            };
            rows.push_fragment(fragment);
            rows.push_key(key, &[]);
        }
        self.shared.repair_old(self.table, &marked, &mut self.repairs_left).await;
        Ok(rows.finish())
    }
}

#[async_trait]
impl Scan for DualScan {
    async fn next(&mut self) -> StoreResult<Option<RowBatch>> {
        while self.left != Some(0) {
            let Some(batch) = self.inner.next().await? else { return Ok(None) };
            let mut rows = self.believed(batch).await?;
            if let Some(left) = &mut self.left {
                let wanted = usize::try_from(*left).unwrap_or(usize::MAX);
                if rows.len() > wanted {
                    rows = rows.select(0..wanted);
                }
                *left = left.saturating_sub(rows.len() as u64);
            }
            if rows.is_empty() {
                continue;
            }
            self.returned += rows.len() as u64;
            let rows = rows.reduced_to(self.keys, self.values);
            return Ok(Some(if self.undecided { rows.as_undecided() } else { rows }));
        }
        Ok(None)
    }

    fn counters(&self) -> ScanCounters {
        ScanCounters { rows_returned: self.returned, ..self.inner.counters() }
    }
}

impl Shared {
    /// All marked rows of a table in the store.
    pub(super) async fn marked(&self, table: TableId) -> StoreResult<Vec<(Bytes, Bytes)>> {
        let last = self.raw.apply(store::WriteBatch::default(), store::Durability::Buffered).await?;
        let snapshot = self.raw.snapshot(last).await?;
        let request = ScanRequest::new(table, FAMILY, vec![store::KeyRange::all()]);
        let mut scan = self.raw.scan(request, &snapshot).await?;
        let mut marked = Vec::new();
        while let Some(batch) = scan.next().await? {
            for (key, fragment) in batch.keys().zip(batch.fragments()) {
                let fragment = Bytes::copy_from_slice(fragment);
                if header::marks_of(&fragment) != 0 {
                    marked.push((Bytes::copy_from_slice(key), fragment));
                }
            }
        }
        Ok(marked)
    }
}
