//! A scan in the hands of the layers above: each batch takes a place in the queue of scans, and what it holds between
//! two batches can be taken from it.

use super::handed::{handed, reading};
use crate::inner::Inner;
use crate::read::scan::{self, RangeScan};
use crate::seam::Mutex;
use async_trait::async_trait;
use bytes::Bytes;
use std::sync::Arc;
use store::{RowBatch, Scan, ScanCounters, ScanRequest, Snapshot, StoreResult, TableId};

/// See the head of this file.
pub(crate) struct QueuedScan {
    inner: Arc<Inner>,
    snapshot: Snapshot,
    /// Whose regions count what is read; without keys the one does where the scan begins.
    table: TableId,
    begins: Bytes,
    slot: Arc<Slot>,
    /// Was it put on the snapshot's list? Most scans are at their end after one batch.
    listed: bool,
    counters: ScanCounters,
}

/// Where a scan is between two batches. A short mutex.
pub(super) struct Slot(Mutex<Stage>);

enum Stage {
    /// Nothing is held until the first batch is asked for.
    Requested(ScanRequest),
    /// Between two batches.
    Waiting(Box<RangeScan>),
    /// A batch is being read.
    Running,
    /// At its end.
    Over,
    /// The snapshot has ended.
    Ended,
}

impl Slot {
    /// The snapshot has ended: lets go of what the scan holds, after the batch that is being read.
    pub(super) fn end(&self) {
        let ended = std::mem::replace(&mut *self.0.lock(), Stage::Ended);
        // Outside of the lock: memtables and files may go with it.
        drop(ended);
    }
}

impl QueuedScan {
    /// Checks that there is such a table.
    ///
    /// # Errors
    /// As [`store::Store::scan`].
    pub(crate) fn new(inner: Arc<Inner>, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Self> {
        reading(snapshot)?.source(request.table, request.one_family()?)?;
        let begins = request.ranges.first().map(|range| range.start.clone()).unwrap_or_default();
        let (snapshot, table) = (snapshot.clone(), request.table);
        let slot = Arc::new(Slot(Mutex::new(Stage::Requested(request))));
        Ok(Self { inner, snapshot, table, begins, slot, listed: false, counters: ScanCounters::default() })
    }

    fn count(&self, batch: &RowBatch) {
        // The snapshot may have ended meanwhile: then nobody is asked for the last batch.
        if let Ok(reading) = reading(&self.snapshot)
            && let Ok(table) = reading.tables().table(self.table)
        {
            table.count_scanned(batch, &self.begins);
        }
    }

    /// The scan, out of its slot; `None` at its end.
    fn begin(&self) -> StoreResult<Option<Running<'_>>> {
        let stage = std::mem::replace(&mut *self.slot.0.lock(), Stage::Running);
        let mut running = Running { slot: &self.slot, scan: None };
        match stage {
            Stage::Requested(request) => {
                let source = reading(&self.snapshot)?.source(request.table, request.one_family()?)?;
                running.scan = Some(scan::open(source, request)?);
            }
            Stage::Waiting(scan) => running.scan = Some(scan),
            Stage::Over => {
                *self.slot.0.lock() = Stage::Over;
                return Ok(None);
            }
            Stage::Running | Stage::Ended => {
                *self.slot.0.lock() = Stage::Ended;
                return Err(handed(&self.snapshot)?.too_old());
            }
        }
        Ok(Some(running))
    }

    /// Lets the snapshot know of a scan that goes on.
    fn list(&self) -> StoreResult<()> {
        if !handed(&self.snapshot)?.add_scan(&self.slot) {
            self.slot.end();
        }
        Ok(())
    }
}

#[async_trait]
impl Scan for QueuedScan {
    async fn next(&mut self) -> StoreResult<Option<RowBatch>> {
        self.inner.check_open()?;
        let _place = self.inner.admission.scan().await?;
        let (batch, counters, goes_on) = {
            let Some(mut running) = self.begin()? else { return Ok(None) };
            let Some(scan) = &mut running.scan else { return Ok(None) };
            let batch = scan.next().await?;
            (batch, scan.counters(), !scan.is_over())
        };
        self.counters = counters;
        batch.iter().for_each(|batch| self.count(batch));
        if goes_on && !std::mem::replace(&mut self.listed, true) {
            self.list()?;
        }
        Ok(batch)
    }

    fn counters(&self) -> ScanCounters {
        self.counters
    }
}

/// A scan that reads a batch. Back into its slot it goes however that ends.
struct Running<'a> {
    slot: &'a Slot,
    scan: Option<Box<RangeScan>>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut stage = self.slot.0.lock();
        if matches!(*stage, Stage::Running) {
            *stage = match self.scan.take() {
                Some(scan) if scan.is_over() => Stage::Over,
                Some(scan) => Stage::Waiting(scan),
                None => Stage::Ended,
            };
        }
    }
}
