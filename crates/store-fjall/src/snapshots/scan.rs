//! Scans handed out: each batch needs an admission permit, and the state held between batches is released when the
//! snapshot ends.

use super::handed::{handed, reading};
use crate::inner::Inner;
use crate::read::scan::{self, RangeScan};
use crate::seam::Mutex;
use async_trait::async_trait;
use bytes::Bytes;
use std::sync::Arc;
use store::{RowBatch, Scan, ScanCounters, ScanRequest, Snapshot, StoreResult, TableId};

/// A scan that needs a permit for each batch.
pub(crate) struct QueuedScan {
    inner: Arc<Inner>,
    snapshot: Snapshot,
    /// The table whose regions count the rows. Without keys the region of the scan's start counts them.
    table: TableId,
    begins: Bytes,
    slot: Arc<Slot>,
    /// Whether the scan is registered with its snapshot. Most scans end after one batch.
    listed: bool,
    counters: ScanCounters,
}

/// The state of a scan between two batches. The mutex is held briefly.
pub(super) struct Slot(Mutex<Stage>);

enum Stage {
    /// Before the first batch; nothing is held.
    Requested(ScanRequest),
    /// Between two batches.
    Waiting(Box<RangeScan>),
    /// A batch is being read.
    Running,
    /// The scan is finished.
    Over,
    /// The snapshot has ended.
    Ended,
}

impl Slot {
    /// Ends the scan with its snapshot; a batch that is being read is completed.
    pub(super) fn end(&self) {
        let ended = std::mem::replace(&mut *self.0.lock(), Stage::Ended);
        // Dropped outside of the lock, because that may free memtables and files.
        drop(ended);
    }
}

impl QueuedScan {
    /// Checks that the table exists.
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
        // If the snapshot has ended meanwhile, the last batch is not counted.
        if let Ok(reading) = reading(&self.snapshot)
            && let Ok(table) = reading.tables().table(self.table)
        {
            table.count_scanned(batch, &self.begins);
        }
    }

    /// Takes the scan out of its slot; `None` if it is finished.
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

    /// Registers an unfinished scan with the snapshot.
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

/// A scan that reads a batch. Dropping it puts the scan back into its slot.
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
