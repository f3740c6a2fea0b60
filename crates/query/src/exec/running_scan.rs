//! A running scan: turns row batches of the store into Arrow batches.

use crate::convert::RowDecoder;
use crate::error::QueryResult;
use crate::exec::intersection::{Intersection, Walk};
use crate::exec::row_checks::RowChecks;
use crate::exec::row_fetch::{RowFetch, push_if_passing};
use crate::exec::skipping::Skipping;
use arrow::record_batch::RecordBatch;
use datafusion::common::DataFusionError;
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder};
use futures::Stream;
use rowkey::KeySchema;
use store::{Bytes, FamilyId, KeyRange, RowBatch, RowBatchBuilder, Scan, ScanCounters, ScanRequest, TableId};
use txn::ReadView;

/// The largest number of rows of one point read.
const POINTS_AT_ONCE: usize = 1024;

/// The work of one partition.
#[derive(Clone, Debug)]
pub(crate) struct ScanWork {
    pub(crate) reader: ReadView,
    pub(crate) table: TableId,
    pub(crate) family: FamilyId,
    pub(crate) ranges: Vec<KeyRange>,
    pub(crate) reverse: bool,
    pub(crate) fetch: Option<usize>,
    pub(crate) filter: Option<store::Filter>,
    /// For an intersection of two indexes.
    pub(crate) both: Option<Intersection>,
    /// For entries whose rows are fetched.
    pub(crate) rows: Option<RowFetch>,
    /// Of the output columns.
    pub(crate) decoder: RowDecoder,
    pub(crate) checks: RowChecks,
    pub(crate) batch_rows: usize,
    /// One row is enough per group of rows equal in this many leading parts of keys of this schema.
    pub(crate) skips: Option<(KeySchema, usize)>,
}

impl ScanWork {
    /// The batches. Dropping the stream ends the scan.
    pub(crate) fn run(self, metrics: ScanMetrics) -> impl Stream<Item = Result<RecordBatch, DataFusionError>> {
        let running = RunningScan { left: self.fetch, work: self, source: Source::NotBegun, walk: None, metrics };
        futures::stream::try_unfold(running, |mut running| async move {
            match running.next().await {
                Ok(Some(batch)) => Ok(Some((batch, running))),
                Ok(None) => Ok(None),
                Err(error) => Err(DataFusionError::from(error)),
            }
        })
    }

    fn request(&self) -> ScanRequest {
        // The limit counts rows after the checks, so the store may apply it only if there are none.
        let exact = self.takes_all();
        // With checks, many rows may have to be read to find the few wanted ones.
        let fewest = match (exact, self.rows.is_some() && self.both.is_none()) {
            (true, _) => 64,
            (false, true) => 128,
            (false, false) => 1024,
        };
        let rows = self.fetch.map_or(self.batch_rows, |fetch| self.batch_rows.min(fetch.max(fewest)));
        // Building a rowkey needs the whole entry.
        let whole = self.rows.is_some() || self.both.is_some();
        ScanRequest {
            reverse: self.reverse,
            limit: self.fetch.filter(|_| exact).map(|fetch| fetch as u64),
            filter: self.filter.clone(),
            keys: whole || self.decoder.needs_keys() || self.checks.need(RowDecoder::needs_keys),
            values: whole
                || self.decoder.needs_values()
                || self.checks.need(RowDecoder::needs_values)
                || self.filter.is_some(),
            batch_rows: rows,
            ..ScanRequest::new(self.table, self.family, self.ranges.clone())
        }
    }

    /// Is every row in the ranges returned?
    fn takes_all(&self) -> bool {
        let fetched = self.rows.as_ref().is_none_or(RowFetch::takes_all);
        self.filter.is_none() && self.checks.are_none() && self.both.is_none() && fetched
    }

    /// The keys, if all ranges are single keys.
    fn points(&self) -> Option<Vec<Bytes>> {
        let mut keys = Vec::with_capacity(self.ranges.len());
        for range in &self.ranges {
            range.as_point()?;
            keys.push(range.start.clone());
        }
        if self.reverse {
            keys.reverse();
        }
        Some(keys)
    }
}

struct RunningScan {
    work: ScanWork,
    source: Source,
    /// The position in the other index, for an intersection.
    walk: Option<Walk>,
    /// Rows still to return, if there is a limit.
    left: Option<usize>,
    metrics: ScanMetrics,
}

enum Source {
    NotBegun,
    /// Keys still to read, the next one last.
    Points(Vec<Bytes>),
    Scan {
        scan: Box<dyn Scan>,
        seen: ScanCounters,
    },
    Skipping(Skipping),
    Done,
}

impl RunningScan {
    async fn next(&mut self) -> QueryResult<Option<RecordBatch>> {
        loop {
            if self.left == Some(0) {
                self.source = Source::Done;
            }
            let Some(mut rows) = self.next_rows().await? else { return Ok(None) };
            if let Some(both) = &mut self.work.both {
                let (found, met) = both.of(&mut self.walk, &self.work.reader, &rows).await?;
                self.metrics.add(met.cost);
                self.metrics.meet(met.others, found.len());
                rows = found;
            }
            if let Some(fetch) = &mut self.work.rows {
                let (found, cost) = fetch.rows(&self.work.reader, self.work.family, rows).await?;
                self.metrics.add(cost);
                rows = found;
            }
            let timer = self.metrics.baseline.elapsed_compute().clone();
            let _timer = timer.timer();
            let batch = self.decode(&rows)?;
            if batch.num_rows() > 0 {
                return Ok(Some(self.limited(batch)));
            }
        }
    }

    async fn next_rows(&mut self) -> QueryResult<Option<RowBatch>> {
        if matches!(self.source, Source::NotBegun) {
            self.begin().await?;
        }
        match &mut self.source {
            Source::NotBegun | Source::Done => Ok(None),
            Source::Points(_) => self.next_points().await,
            Source::Skipping(skipping) => {
                let (rows, cost) = skipping.next(&self.work, self.work.request()).await?;
                self.metrics.add(cost);
                Ok(rows)
            }
            Source::Scan { scan, seen } => {
                let rows = scan.next().await?;
                let now = scan.counters();
                self.metrics.add(difference(now, *seen));
                *seen = now;
                if rows.is_none() {
                    self.source = Source::Done;
                }
                Ok(rows)
            }
        }
    }

    async fn begin(&mut self) -> QueryResult<()> {
        self.source = if self.work.ranges.is_empty() {
            Source::Done
        } else if let Some(mut keys) = self.work.points() {
            keys.reverse();
            Source::Points(keys)
        } else if let Some((schema, parts)) = &self.work.skips {
            Source::Skipping(Skipping::new(schema, *parts, self.work.ranges.clone(), self.work.reverse))
        } else {
            let scan = self.work.reader.scan(self.work.request()).await?;
            Source::Scan { scan, seen: ScanCounters::default() }
        };
        Ok(())
    }

    /// Reads the next keys of a list of points; returns the rows that exist.
    async fn next_points(&mut self) -> QueryResult<Option<RowBatch>> {
        let Source::Points(keys) = &mut self.source else { return Ok(None) };
        let checked = !self.work.takes_all();
        let most = self.left.filter(|_| !checked).map_or(POINTS_AT_ONCE, |left| left.clamp(16, POINTS_AT_ONCE));
        let asked: Vec<Bytes> = (0..most).map_while(|_| keys.pop()).collect();
        if asked.is_empty() {
            self.source = Source::Done;
            return Ok(None);
        }
        let found = self.work.reader.get_many(self.work.table, self.work.family, &asked).await?;
        let mut rows = RowBatchBuilder::with_capacity(asked.len(), true, true);
        let mut cost = ScanCounters { seeks: asked.len() as u64, ..ScanCounters::default() };
        for (key, fragment) in asked.iter().zip(found) {
            let Some(fragment) = fragment else { continue };
            cost.rows_read += 1;
            cost.bytes_read += (key.len() + fragment.len()) as u64;
            cost.rows_returned += u64::from(push_if_passing(self.work.filter.as_ref(), key, &fragment, &mut rows));
        }
        self.metrics.add(cost);
        Ok(Some(rows.finish()))
    }

    /// Decodes the output columns of the rows that pass all checks.
    fn decode(&mut self, rows: &RowBatch) -> QueryResult<RecordBatch> {
        match self.work.checks.apply(rows)? {
            Some(chosen) => self.work.decoder.decode(&chosen),
            None => self.work.decoder.decode(rows),
        }
    }

    fn limited(&mut self, batch: RecordBatch) -> RecordBatch {
        let batch = match self.left {
            Some(left) if batch.num_rows() > left => batch.slice(0, left),
            _ => batch,
        };
        if let Some(left) = &mut self.left {
            *left -= batch.num_rows();
        }
        self.metrics.baseline.record_output(batch.num_rows());
        batch
    }
}

pub(super) fn difference(now: ScanCounters, before: ScanCounters) -> ScanCounters {
    ScanCounters {
        seeks: now.seeks - before.seeks,
        rows_read: now.rows_read - before.rows_read,
        rows_returned: now.rows_returned - before.rows_returned,
        bytes_read: now.bytes_read - before.bytes_read,
        block_rows: now.block_rows - before.block_rows,
    }
}

/// The cost of a scan, as EXPLAIN ANALYZE shows it.
#[derive(Clone, Debug)]
pub(crate) struct ScanMetrics {
    pub(crate) baseline: BaselineMetrics,
    seeks: Count,
    rows_read: Count,
    rows_returned: Count,
    bytes_read: Count,
    block_rows: Count,
    /// Of an intersection of two indexes: entries read of the second one, and entries that both have.
    other_entries: Count,
    in_both: Count,
}

impl ScanMetrics {
    pub(crate) fn new(set: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let counter = |name: &'static str| MetricBuilder::new(set).counter(name, partition);
        Self {
            baseline: BaselineMetrics::new(set, partition),
            seeks: counter("seeks"),
            rows_read: counter("rows_read"),
            rows_returned: counter("rows_returned"),
            bytes_read: counter("bytes_read"),
            block_rows: counter("block_rows"),
            other_entries: counter("other_entries"),
            in_both: counter("in_both"),
        }
    }

    /// Counts costs but no rows, for a scan whose rows another operator counts.
    pub(crate) fn without_rows(&self) -> Self {
        Self { baseline: self.baseline.intermediate(), ..self.clone() }
    }

    fn meet(&self, others: u64, both: usize) {
        self.other_entries.add(others as usize);
        self.in_both.add(both);
    }

    fn add(&self, cost: ScanCounters) {
        self.seeks.add(cost.seeks as usize);
        self.rows_read.add(cost.rows_read as usize);
        self.rows_returned.add(cost.rows_returned as usize);
        self.bytes_read.add(cost.bytes_read as usize);
        self.block_rows.add(cost.block_rows as usize);
    }
}
