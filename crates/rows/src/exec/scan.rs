//! Reading a table: keys one by one, or ranges of them.

use super::merge::Merge;
use super::{BATCH_ROWS, Operator, Run};
use crate::access::{Direction, ScanPath};
use crate::expr::{Frame, Row, Stop};
use crate::{RowsError, RowsResult};
use async_trait::async_trait;
use catalog::Cell;
use rowkey::range::{Access, ByteRange, KeyRanges};
use store::{Bytes, FamilyId, KeyRange, RowBatch, ScanRequest};
use types::Datum;

/// The family that tables are kept in.
const FAMILY: FamilyId = FamilyId(0);

pub(super) struct Scan<'p> {
    path: &'p ScanPath,
    state: State,
    /// Conditions that the key ranges do not cover, by number.
    unsure: Vec<usize>,
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
        Self { path, state: State::Closed, unsure: Vec::new() }
    }

    async fn begin(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<State> {
        let ranges = self.path.ranges(&Frame { row: &[], values: &run.values }).map_err(failed)?;
        self.unsure = unsure(&ranges, self.path.conditions.len()).collect();
        match ranges.access {
            Access::Empty => Ok(State::Done),
            Access::Points(_) => Ok(State::Points(self.points(&ranges).into_iter())),
            Access::Range | Access::SkipScan | Access::Full => begin_ranges(self.path, ranges, run, wanted).await,
        }
    }

    /// The keys, in the order that is wanted.
    fn points(&self, ranges: &KeyRanges) -> Vec<Bytes> {
        let key = |range: &ByteRange| range.as_point().map(Bytes::copy_from_slice);
        let mut keys: Vec<Bytes> = ranges.ranges.iter().filter_map(key).collect();
        if ranges.buckets.is_some() && self.path.direction != Direction::Any {
            keys.sort_by(|a, b| a.get(1..).cmp(&b.get(1..)));
        }
        if self.path.direction == Direction::Reverse {
            keys.reverse();
        }
        keys
    }

    /// The next stored rows; `None` at the end.
    async fn fetch(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let mut rows = Vec::new();
        match &mut self.state {
            State::Closed | State::Done => return Ok(None),
            State::Points(keys) => {
                let chunk: Vec<Bytes> = keys.by_ref().take(wanted.clamp(1, BATCH_ROWS)).collect();
                if chunk.is_empty() {
                    return Ok(None);
                }
                let found = run.view.get_many(self.path.table.storage_id(), FAMILY, &chunk).await?;
                run.budget.read(chunk.len())?;
                for (key, fragment) in chunk.iter().zip(found) {
                    if let Some(fragment) = fragment {
                        rows.push(decode(self.path, key, &fragment, Vec::new())?);
                    }
                }
            }
            State::Range(scan) => {
                let Some(batch) = scan.next().await? else { return Ok(None) };
                decode_all(self.path, &batch, run, &mut rows)?;
            }
            State::Merge(merge) => {
                let Some(batch) = merge.next(wanted.clamp(1, BATCH_ROWS)).await? else { return Ok(None) };
                run.budget.read(batch.len())?;
                for (key, fragment) in &batch {
                    rows.push(decode(self.path, key, fragment, Vec::new())?);
                }
            }
        }
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

/// Opens the scans of some ranges: one, or one for each salt bucket if the order matters.
async fn begin_ranges(path: &ScanPath, ranges: KeyRanges, run: &mut Run<'_>, wanted: usize) -> RowsResult<State> {
    let lists: Vec<Vec<KeyRange>> = match &ranges.buckets {
        Some(buckets) if buckets.len() > 1 && path.direction != Direction::Any => {
            buckets.iter().map(|bucket| key_ranges(ranges.in_bucket(*bucket))).collect()
        }
        _ => vec![key_ranges(ranges.ranges)],
    };
    if wanted >= BATCH_ROWS {
        estimate(path, &lists, run).await?;
    }
    let share = wanted.div_ceil(lists.len().max(1)).clamp(1, BATCH_ROWS);
    let mut scans = Vec::with_capacity(lists.len());
    for list in lists {
        let request = ScanRequest {
            reverse: path.direction == Direction::Reverse,
            batch_rows: share,
            ..ScanRequest::new(path.table.storage_id(), FAMILY, list)
        };
        scans.push(run.view.scan(request).await?);
    }
    match (scans.pop(), scans.is_empty()) {
        (None, _) => Ok(State::Done),
        (Some(only), true) => Ok(State::Range(only)),
        (Some(last), false) => {
            scans.push(last);
            Ok(State::Merge(Merge::new(scans, path.direction == Direction::Reverse)))
        }
    }
}

/// Gives up before reading what would be too much.
async fn estimate(path: &ScanPath, lists: &[Vec<KeyRange>], run: &Run<'_>) -> RowsResult<()> {
    let mut rows = 0_u64;
    for list in lists {
        rows = rows.saturating_add(run.view.estimate(path.table.storage_id(), FAMILY, list).await?.rows);
    }
    // An estimate counts rows that were overwritten, and whole blocks.
    let is_too_much = rows > run.budget.rows_left().saturating_mul(2);
    if is_too_much { Err(RowsError::OverBudget) } else { Ok(()) }
}

/// Do the conditions hold that the ranges leave open?
pub(super) fn passes(path: &ScanPath, unsure: &[usize], row: &[Datum], run: &Run<'_>) -> RowsResult<bool> {
    for condition in unsure.iter().filter_map(|at| path.conditions.get(*at)) {
        if condition.truth(&Frame { row, values: &run.values }).map_err(failed)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Conditions that must be judged row by row, by number.
pub(super) fn unsure(ranges: &KeyRanges, conditions: usize) -> impl Iterator<Item = usize> {
    (0..conditions).filter(|at| !ranges.exact.get(*at).copied().unwrap_or(false))
}

/// Expressions of scans have no subqueries.
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

/// Appends a row's columns to `row`.
pub(super) fn decode(path: &ScanPath, key: &[u8], fragment: &[u8], mut row: Row) -> RowsResult<Row> {
    let mut buffer = Vec::new();
    path.reader.read(key, fragment, &mut buffer, |_, cell| {
        row.push(match cell {
            Cell::Value(value) => value,
            Cell::Text(text) => Datum::Text(text.to_owned()),
        });
    })?;
    Ok(row)
}

fn decode_all(path: &ScanPath, batch: &RowBatch, run: &mut Run<'_>, into: &mut Vec<Row>) -> RowsResult<()> {
    run.budget.read(batch.len())?;
    into.reserve(batch.len());
    for (key, fragment) in batch.keys().zip(batch.fragments()) {
        into.push(decode(path, key, fragment, Vec::new())?);
    }
    Ok(())
}

/// All rows of some keys or ranges, by key, ascending.
pub(super) async fn fetch_all(
    path: &ScanPath,
    points: bool,
    ranges: Vec<ByteRange>,
    run: &mut Run<'_>,
) -> RowsResult<Vec<(Bytes, Row)>> {
    let table = path.table.storage_id();
    let mut rows = Vec::new();
    if points {
        let keys: Vec<Bytes> = ranges.iter().filter_map(ByteRange::as_point).map(Bytes::copy_from_slice).collect();
        run.budget.read(keys.len())?;
        let found = run.view.get_many(table, FAMILY, &keys).await?;
        for (key, fragment) in keys.into_iter().zip(found) {
            if let Some(fragment) = fragment {
                let row = decode(path, &key, &fragment, Vec::new())?;
                rows.push((key, row));
            }
        }
        return Ok(rows);
    }
    let request = ScanRequest { batch_rows: BATCH_ROWS, ..ScanRequest::new(table, FAMILY, key_ranges(ranges)) };
    let mut scan = run.view.scan(request).await?;
    while let Some(batch) = scan.next().await? {
        run.budget.read(batch.len())?;
        for (key, fragment) in batch.keys().zip(batch.fragments()) {
            rows.push((Bytes::copy_from_slice(key), decode(path, key, fragment, Vec::new())?));
        }
        run.budget.give_way().await?;
    }
    Ok(rows)
}
