//! Chooses the access path of a scan, and decodes what it reads.

use super::Run;
use super::scan::{FAMILY, failed, key_ranges};
use crate::access::{AccessPath, Direction, ScanPath, Scanned, bound};
use crate::expr::{Frame, Row};
use crate::{RowsError, RowsResult};
use catalog::{Cell, RowReader, TableStatistics};
use index::{Cost, EstimatorPath, Expected, IndexChoice, TableEstimator, choose};
use rowkey::range::{Access, Condition, KeyRanges};
use std::sync::Arc;
use store::{KeyList, KeyRange, TableId, TableSize};
use txn::ReadView;
use types::Datum;

/// A scan with its chosen access path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'p> {
    pub(super) path: &'p ScanPath,
    pub(super) access: &'p AccessPath,
}

/// The chosen access path, and its key ranges.
pub(super) struct Chosen<'p> {
    pub(super) reading: Reading<'p>,
    pub(super) ranges: KeyRanges,
    /// Another index of an intersection, with its key ranges: only entries whose rowkeys it has, too, are read.
    pub(super) beside: Option<(Reading<'p>, KeyRanges)>,
}

impl<'p> Reading<'p> {
    /// Chooses the best access path for the operands' values; `wanted` rows may be enough.
    pub(super) async fn choose(
        path: &'p ScanPath,
        frame: &Frame<'_>,
        run: &Run<'_>,
        wanted: Option<usize>,
    ) -> RowsResult<Chosen<'p>> {
        if let [candidate] = path.candidates.as_slice() {
            let ranges = candidate.ranges(frame).map_err(failed)?;
            return Ok(Chosen { reading: Self { path, access: candidate }, ranges, beside: None });
        }
        let choice = run.program.index_choice;
        let mut found = described(path, frame, run.view, choice).await?;
        let Choice { taken, beside, .. } = found.best(choice, wanted);
        let beside = beside.and_then(|at| path.candidates.get(at).zip(found.candidates.get(at)));
        let beside = beside.map(|(candidate, (_, ranges))| (Self { path, access: candidate }, ranges.clone()));
        match path.candidates.get(taken).filter(|_| taken < found.candidates.len()) {
            Some(access) => {
                Ok(Chosen { reading: Self { path, access }, ranges: found.candidates.swap_remove(taken).1, beside })
            }
            None => Err(RowsError::internal("a scan without an access path")),
        }
    }

    /// The only access path of a lookup.
    pub(super) fn only(path: &'p ScanPath) -> RowsResult<Self> {
        let candidate =
            path.candidates.first().ok_or_else(|| RowsError::internal("a look-up without an access path"))?;
        Ok(Self { path, access: candidate })
    }

    /// The scanned table or index.
    pub(super) fn storage(&self) -> TableId {
        self.access.scanned.codec().table().storage_id()
    }

    pub(super) fn direction(&self) -> Direction {
        self.access.direction
    }

    /// Decodes the rows of what was read, in the same order.
    pub(super) async fn rows<'a>(
        &self,
        stored: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        run: &mut Run<'_>,
    ) -> RowsResult<Vec<Row>> {
        Ok(self.rows_or_none(stored, run).await?.into_iter().flatten().collect())
    }

    /// Like [`Self::rows`]; `None` for an entry whose row has changed since it was read.
    pub(super) async fn rows_or_none<'a>(
        &self,
        stored: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        run: &mut Run<'_>,
    ) -> RowsResult<Vec<Option<Row>>> {
        let reader = match &self.access.scanned {
            Scanned::Rows(_) => &self.path.reader,
            Scanned::Covering(_, reader) => reader,
            Scanned::Fetching(..) => return self.fetched(stored, run).await,
        };
        let mut rows = Vec::new();
        for (key, fragment) in stored {
            run.budget.make(fragment.len())?;
            rows.push(Some(decode(reader, key, fragment)?));
        }
        Ok(rows)
    }

    /// Fetches the rows of index entries.
    async fn fetched<'a>(
        &self,
        entries: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        run: &mut Run<'_>,
    ) -> RowsResult<Vec<Option<Row>>> {
        let Scanned::Fetching(index, table) = &self.access.scanned else {
            return Err(RowsError::internal("a look-up of rows that are there"));
        };
        let (mut keys, mut rowkeys, mut rowkey) = (Vec::new(), KeyList::default(), Vec::new());
        for (key, fragment) in entries {
            index.rowkey_into(table, key, fragment, &mut rowkey)?;
            keys.push(key);
            rowkeys.push(&rowkey);
        }
        run.budget.read(keys.len())?;
        let storage = index.index().storage_id();
        let may_change = run.view.may_change(storage);
        let rowkeys: Vec<&[u8]> = rowkeys.iter().collect();
        let found = run.view.rows_of((storage, self.path.table.storage_id()), FAMILY, &keys, &rowkeys).await?;
        let mut rows = Vec::with_capacity(keys.len());
        for (key, fragment) in rowkeys.into_iter().zip(found) {
            let Some(fragment) = fragment else {
                if may_change {
                    rows.push(None);
                    continue;
                }
                let detail = format!("index \"{}\" has an entry without a row", index.index().name);
                return Err(table.corrupted(&detail).into());
            };
            run.budget.make(fragment.len())?;
            rows.push(Some(decode(&self.path.reader, key, &fragment)?));
        }
        Ok(rows)
    }
}

/// The estimates of the access paths for the operands' values.
pub(crate) struct Described {
    /// The estimates of each access path, and its key ranges.
    pub(crate) candidates: Vec<(index::CandidatePath, KeyRanges)>,
    /// The intersections of two indexes: their candidate indexes, and the estimates.
    pairs: Vec<(usize, usize, index::CandidatePath)>,
}

/// The index of the chosen candidate, and of the one it is intersected with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) taken: usize,
    pub(crate) beside: Option<usize>,
    pub(crate) cost: Cost,
}

impl Described {
    /// Chooses the best access path; `wanted` rows may be enough.
    pub(crate) fn best(&self, choice: IndexChoice, wanted: Option<usize>) -> Choice {
        let own = self.candidates.iter().map(|(candidate, _)| *candidate);
        let all: Vec<index::CandidatePath> = own.chain(self.pairs.iter().map(|(_, _, candidate)| *candidate)).collect();
        let best = choose(choice, &all, wanted);
        let cost = all.get(best).map_or(Cost { cost: 0.0, rows: 0.0 }, |candidate| candidate.estimate(wanted));
        let pair = best.checked_sub(self.candidates.len()).and_then(|at| self.pairs.get(at));
        let (taken, beside) = pair.map_or((best, None), |(first, second, _)| (*first, Some(*second)));
        Choice { taken, beside, cost }
    }
}

/// Estimates each access path, and each pair of indexes of which the second one decides a condition that the first one
/// cannot.
pub(crate) async fn described(
    path: &ScanPath,
    frame: &Frame<'_>,
    view: &ReadView,
    choice: IndexChoice,
) -> RowsResult<Described> {
    let knowledge = Knowledge::of(path, frame, view).await?;
    let (mut candidates, mut said) =
        (Vec::with_capacity(path.candidates.len()), Vec::with_capacity(path.candidates.len()));
    for candidate in &path.candidates {
        let conditions = bound(&candidate.tests, frame).map_err(failed)?;
        let ranges = candidate.ranges_of(&conditions);
        let size = size_of(candidate, &ranges, view).await?;
        let expected =
            knowledge.as_ref().map(|known| known.expect(path, candidate, &conditions, ranges.parts_used, &|_| false));
        candidates.push((candidate.described(&ranges, size, expected), ranges));
        said.push(conditions);
    }
    let mut pairs = Vec::new();
    let can_be_intersected =
        |(_, (candidate, _)): &(usize, &(index::CandidatePath, KeyRanges))| can_be_intersected(candidate, choice);
    for (first, (known, ranges)) in candidates.iter().enumerate().filter(can_be_intersected) {
        for (second, (other, of_other)) in candidates.iter().enumerate().filter(can_be_intersected) {
            let decides = |at: usize| of_other.exact.get(at) == Some(&true);
            let says = |at: usize| decides(at) || ranges.exact.get(at) == Some(&true);
            let helps = (0..path.conditions.len()).any(|at| decides(at) && ranges.exact.get(at) == Some(&false));
            let (Some(candidate), Some(conditions), true) = (path.candidates.get(first), said.get(first), helps) else {
                continue;
            };
            let expected =
                knowledge.as_ref().map(|known| known.expect(path, candidate, conditions, ranges.parts_used, &says));
            let both = index::CandidatePath { expected, preferred: None, ..*known };
            pairs.push((first, second, both.intersected(other, false)));
        }
    }
    Ok(Described { candidates, pairs })
}

/// Is it a range of index entries with a reliable estimate, or is an intersection forced?
fn can_be_intersected(candidate: &index::CandidatePath, choice: IndexChoice) -> bool {
    let is_range = matches!(candidate.reach, index::Reach::Ranges(_)) && candidate.parts_used > 0;
    let is_judged = choice == IndexChoice::Intersect || candidate.expected.is_some_and(|known| known.from_statistics);
    candidate.source == index::Source::Fetching && is_range && !candidate.unique && is_judged
}

/// The statistics of a table, and the conditions of the scan.
struct Knowledge {
    statistics: Arc<TableStatistics>,
    /// The store's current estimate of the rows.
    rows: u64,
    /// The conditions on the table's columns.
    columns: Vec<Condition>,
}

impl Knowledge {
    async fn of(path: &ScanPath, frame: &Frame<'_>, view: &ReadView) -> RowsResult<Option<Self>> {
        let Some(statistics) = path.table.statistics() else { return Ok(None) };
        let rows = view.estimate(path.table.storage_id(), FAMILY, &[KeyRange::all()]).await?.rows;
        let columns = bound(&path.column_tests, frame).map_err(failed)?;
        Ok(Some(Self { statistics, rows, columns }))
    }

    /// `decided` tells whether the entry of another index decides a condition.
    fn expect(
        &self,
        path: &ScanPath,
        candidate: &AccessPath,
        conditions: &[Condition],
        parts_used: usize,
        decided: &dyn Fn(usize) -> bool,
    ) -> Expected {
        // Row programs check conditions on the fetched rows, not on the entries.
        let on_entries = |at: usize| candidate.index.is_none() || decided(at);
        let judged = EstimatorPath {
            index: candidate.index.as_ref().map(|(index, entries)| (index, entries.as_ref())),
            key: &candidate.key,
            conditions,
            parts_used,
            columns: &self.columns,
            on_entries: &on_entries,
        };
        TableEstimator::new(&path.table, &self.statistics, self.rows).expect(&judged)
    }
}

/// The estimated size of the ranges.
async fn size_of(candidate: &AccessPath, ranges: &KeyRanges, view: &ReadView) -> RowsResult<TableSize> {
    match ranges.access {
        Access::Empty => Ok(TableSize::default()),
        Access::Points(points) => Ok(TableSize { rows: points as u64, bytes: 0 }),
        _ => {
            let table = candidate.scanned.codec().table().storage_id();
            Ok(view.estimate(table, FAMILY, &key_ranges(ranges.ranges.clone())).await?)
        }
    }
}

fn decode(reader: &RowReader, key: &[u8], fragment: &[u8]) -> RowsResult<Row> {
    let mut row = Vec::with_capacity(reader.width());
    let mut buffer = Vec::new();
    reader.read(key, fragment, &mut buffer, |_, cell| {
        row.push(match cell {
            Cell::Value(value) => value,
            Cell::Text(text) => Datum::Text(text.to_owned()),
        });
    })?;
    Ok(row)
}
