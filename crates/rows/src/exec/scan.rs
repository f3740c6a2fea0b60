//! Scans a table or an index: by single keys, or by key ranges.

use super::intersection::Rowkeys;
use super::merge::Merge;
use super::reading::{Chosen, Reading};
use super::{BATCH_ROWS, Operator, Run};
use crate::access::{Direction, ScanPath};
use crate::expr::{Frame, Row, Stop};
use crate::{RowsError, RowsResult};
use async_trait::async_trait;
use rowkey::range::{Access, ByteRange, KeyRanges};
use store::{Bytes, FamilyId, KeyRange, ScanRequest};
use types::Datum;

/// The column family of all tables.
pub(super) const FAMILY: FamilyId = FamilyId(0);

pub(super) struct Scan<'p> {
    path: &'p ScanPath,
    /// The access path, once it is chosen.
    reading: Option<Reading<'p>>,
    state: State,
    /// The rowkeys of another index: entries with other rowkeys are dropped.
    beside: Option<Rowkeys>,
    /// The indexes of conditions that the key ranges do not decide.
    unsure: Vec<usize>,
    /// Ranges whose size is not estimated yet.
    unestimated: Vec<KeyRange>,
}

enum State {
    Closed,
    Points(std::vec::IntoIter<Bytes>),
    Range(Box<dyn store::Scan>),
    Merge(Merge),
    Done,
}

impl<'p> Scan<'p> {
    pub(super) fn new(path: &'p ScanPath) -> Self {
        Self { path, reading: None, state: State::Closed, beside: None, unsure: Vec::new(), unestimated: Vec::new() }
    }

    async fn begin(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<State> {
        let few = (wanted < BATCH_ROWS).then_some(wanted);
        let frame = Frame { row: &[], values: &run.values };
        let Chosen { reading, ranges, beside } = Reading::choose(self.path, &frame, run, few).await?;
        self.reading = Some(reading);
        if let Some((other, of_other)) = beside {
            self.beside = Some(Rowkeys::read(other, of_other, run).await?);
        }
        self.unsure = unsure(&ranges, self.path.conditions.len()).collect();
        match ranges.access {
            Access::Empty => Ok(State::Done),
            Access::Points(_) => Ok(State::Points(points(reading.direction(), &ranges).into_iter())),
            Access::Range | Access::SkipScan | Access::Full => {
                let lists = lists(reading, ranges);
                if wanted >= BATCH_ROWS {
                    self.unestimated = lists.concat();
                }
                begin_ranges(reading, lists, run, wanted).await
            }
        }
    }

    /// The next rows before the check of the conditions; `None` at the end.
    async fn fetch(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let Some(reading) = self.reading else { return Ok(None) };
        let rows = match &mut self.state {
            State::Closed | State::Done => return Ok(None),
            State::Points(keys) => {
                let chunk: Vec<Bytes> = keys.by_ref().take(wanted.clamp(1, BATCH_ROWS)).collect();
                if chunk.is_empty() {
                    return Ok(None);
                }
                let found = get(reading, chunk, run).await?;
                reading.rows(found.iter().map(|(key, fragment)| (key.as_ref(), fragment.as_ref())), run).await?
            }
            State::Range(scan) => {
                let Some(batch) = scan.next().await? else { return Ok(None) };
                check_size(&mut self.unestimated, reading, batch.len(), run).await?;
                run.budget.read(batch.len())?;
                let stored = batch.keys().zip(batch.fragments());
                match &self.beside {
                    Some(beside) => reading.rows(beside.of(reading, stored)?.into_iter(), run).await?,
                    None => reading.rows(stored, run).await?,
                }
            }
            State::Merge(merge) => {
                let Some(batch) = merge.next(wanted.clamp(1, BATCH_ROWS)).await? else { return Ok(None) };
                check_size(&mut self.unestimated, reading, batch.len(), run).await?;
                run.budget.read(batch.len())?;
                let stored = batch.iter().map(|(key, fragment)| (key.as_slice(), fragment.as_slice()));
                match &self.beside {
                    Some(beside) => reading.rows(beside.of(reading, stored)?.into_iter(), run).await?,
                    None => reading.rows(stored, run).await?,
                }
            }
        };
        Ok(Some(rows))
    }
}

#[async_trait]
impl Operator for Scan<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        if matches!(self.state, State::Closed) {
            self.state = self.begin(run, wanted).await?;
        }
        let Some(mut rows) = self.fetch(run, wanted).await? else {
            self.state = State::Done;
            return Ok(None);
        };
        if !self.unsure.is_empty() {
            let mut kept = Vec::with_capacity(rows.len());
            for row in rows {
                if passes(self.path, &self.unsure, &row, run)? {
                    kept.push(row);
                }
            }
            rows = kept;
        }
        run.budget.give_way().await?;
        Ok(Some(rows))
    }
}

/// The keys, in the required order.
fn points(direction: Direction, ranges: &KeyRanges) -> Vec<Bytes> {
    let key = |range: &ByteRange| range.as_point().map(Bytes::copy_from_slice);
    let mut keys: Vec<Bytes> = ranges.ranges.iter().filter_map(key).collect();
    if ranges.buckets.is_some() && direction != Direction::Any {
        keys.sort_by(|a, b| a.get(1..).cmp(&b.get(1..)));
    }
    if direction == Direction::Reverse {
        keys.reverse();
    }
    keys
}

/// Reads the keys; returns those that exist, with their fragments.
async fn get(reading: Reading<'_>, keys: Vec<Bytes>, run: &mut Run<'_>) -> RowsResult<Vec<(Bytes, Bytes)>> {
    run.budget.read(keys.len())?;
    let found = run.view.get_many(reading.storage(), FAMILY, &keys).await?;
    Ok(keys.into_iter().zip(found).filter_map(|(key, fragment)| Some((key, fragment?))).collect())
}

/// The key ranges of each scan: one scan, or one per salt bucket if the order matters.
fn lists(reading: Reading<'_>, ranges: KeyRanges) -> Vec<Vec<KeyRange>> {
    match &ranges.buckets {
        Some(buckets) if buckets.len() > 1 && reading.direction() != Direction::Any => {
            buckets.iter().map(|bucket| key_ranges(ranges.in_bucket(*bucket))).collect()
        }
        _ => vec![key_ranges(ranges.ranges)],
    }
}

/// Fails if the ranges contain more rows than the budget allows. The size is estimated after the first full batch, so
/// that small ranges need no estimate.
async fn check_size(
    unestimated: &mut Vec<KeyRange>,
    reading: Reading<'_>,
    rows: usize,
    run: &Run<'_>,
) -> RowsResult<()> {
    if unestimated.is_empty() || rows < BATCH_ROWS {
        return Ok(());
    }
    let rows = run.view.estimate(reading.storage(), FAMILY, &std::mem::take(unestimated)).await?.rows;
    // An estimate includes overwritten rows and whole blocks.
    let is_too_much = rows > run.budget.rows_left().saturating_mul(2);
    if is_too_much { Err(RowsError::OverBudget) } else { Ok(()) }
}

async fn begin_ranges(
    reading: Reading<'_>,
    lists: Vec<Vec<KeyRange>>,
    run: &mut Run<'_>,
    wanted: usize,
) -> RowsResult<State> {
    let share = wanted.div_ceil(lists.len().max(1)).clamp(1, BATCH_ROWS);
    let mut scans = Vec::with_capacity(lists.len());
    for list in lists {
        let request = ScanRequest {
            reverse: reading.direction() == Direction::Reverse,
            batch_rows: share,
            ..ScanRequest::new(reading.storage(), FAMILY, list)
        };
        scans.push(run.view.scan(request).await?);
    }
    match (scans.pop(), scans.is_empty()) {
        (None, _) => Ok(State::Done),
        (Some(only), true) => Ok(State::Range(only)),
        (Some(last), false) => {
            scans.push(last);
            Ok(State::Merge(Merge::new(scans, reading.direction() == Direction::Reverse)))
        }
    }
}

/// Do the conditions hold that the ranges do not decide?
pub(super) fn passes(path: &ScanPath, unsure: &[usize], row: &[Datum], run: &Run<'_>) -> RowsResult<bool> {
    for condition in unsure.iter().filter_map(|at| path.conditions.get(*at)) {
        if condition.truth(&Frame { row, values: &run.values }).map_err(failed)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The indexes of conditions that must be checked row by row.
pub(super) fn unsure(ranges: &KeyRanges, conditions: usize) -> impl Iterator<Item = usize> {
    (0..conditions).filter(|at| !ranges.exact.get(*at).copied().unwrap_or(false))
}

/// Converts an error of an expression without subqueries.
pub(super) fn failed(stop: Stop) -> RowsError {
    match stop {
        Stop::Error(error) => error.into(),
        Stop::Subquery(_) => RowsError::internal("a subquery within a scan"),
    }
}

pub(super) fn key_ranges(ranges: Vec<ByteRange>) -> Vec<KeyRange> {
    let range = |range: ByteRange| KeyRange { start: range.start.into(), end: range.end.map(Into::into) };
    ranges.into_iter().map(range).collect()
}

/// All rows of some keys or ranges, in key order.
pub(super) async fn fetch_all(
    reading: Reading<'_>,
    points: bool,
    ranges: Vec<ByteRange>,
    run: &mut Run<'_>,
) -> RowsResult<Vec<(Bytes, Row)>> {
    if points {
        let keys = ranges.iter().filter_map(ByteRange::as_point).map(Bytes::copy_from_slice).collect();
        let found = get(reading, keys, run).await?;
        let stored = found.iter().map(|(key, fragment)| (key.as_ref(), fragment.as_ref()));
        let rows = reading.rows_or_none(stored, run).await?;
        let with_keys = found.into_iter().zip(rows).filter_map(|((key, _), row)| Some((key, row?)));
        return Ok(with_keys.collect());
    }
    let mut all = Vec::new();
    let request =
        ScanRequest { batch_rows: BATCH_ROWS, ..ScanRequest::new(reading.storage(), FAMILY, key_ranges(ranges)) };
    let mut scan = run.view.scan(request).await?;
    while let Some(batch) = scan.next().await? {
        run.budget.read(batch.len())?;
        let rows = reading.rows_or_none(batch.keys().zip(batch.fragments()), run).await?;
        let with_keys = batch.keys().zip(rows).filter_map(|(key, row)| Some((Bytes::copy_from_slice(key), row?)));
        all.extend(with_keys);
        run.budget.give_way().await?;
    }
    Ok(all)
}
