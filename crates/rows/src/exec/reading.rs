//! A way to the rows, chosen: from bytes of what is scanned to rows.

use super::Run;
use super::scan::{FAMILY, failed, key_ranges};
use crate::access::{Direction, ScanPath, Scanned, Way, bound};
use crate::expr::{Frame, Row};
use crate::{RowsError, RowsResult};
use catalog::{Cell, RowReader, TableStatistics};
use index::{Expected, Judged, JudgedWay, choose};
use rowkey::range::{Access, Condition, KeyRanges};
use std::sync::Arc;
use store::{Bytes, KeyRange, TableId, TableSize};
use txn::ReadView;
use types::Datum;

/// A scan's path and the way that is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'p> {
    pub(super) path: &'p ScanPath,
    pub(super) way: &'p Way,
}

impl<'p> Reading<'p> {
    /// The best way for the operands' values, and its ranges; `wanted` rows may be enough.
    pub(super) async fn choose(
        path: &'p ScanPath,
        frame: &Frame<'_>,
        run: &Run<'_>,
        wanted: Option<usize>,
    ) -> RowsResult<(Self, KeyRanges)> {
        if let [way] = path.ways.as_slice() {
            let ranges = way.ranges(frame).map_err(failed)?;
            return Ok((Self { path, way }, ranges));
        }
        let mut found = described(path, frame, run.view).await?;
        let ways: Vec<index::Way> = found.iter().map(|(way, _)| *way).collect();
        let best = choose(run.program.index_choice, &ways, wanted);
        match path.ways.get(best).filter(|_| best < found.len()) {
            Some(way) => Ok((Self { path, way }, found.swap_remove(best).1)),
            None => Err(RowsError::internal("a scan without a way")),
        }
    }

    /// The one way of a look-up.
    pub(super) fn only(path: &'p ScanPath) -> RowsResult<Self> {
        let way = path.ways.first().ok_or_else(|| RowsError::internal("a look-up without a way"))?;
        Ok(Self { path, way })
    }

    /// What is scanned.
    pub(super) fn storage(&self) -> TableId {
        self.way.scanned.codec().table().storage_id()
    }

    pub(super) fn direction(&self) -> Direction {
        self.way.direction
    }

    /// Rows of what was read, in its order.
    pub(super) async fn rows<'a>(
        &self,
        stored: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        run: &mut Run<'_>,
    ) -> RowsResult<Vec<Row>> {
        Ok(self.rows_or_none(stored, run).await?.into_iter().flatten().collect())
    }

    /// As [`Self::rows`]; `None` for an entry whose row has changed since it was read.
    pub(super) async fn rows_or_none<'a>(
        &self,
        stored: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        run: &mut Run<'_>,
    ) -> RowsResult<Vec<Option<Row>>> {
        let reader = match &self.way.scanned {
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

    /// The rows of entries.
    async fn fetched<'a>(
        &self,
        entries: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        run: &mut Run<'_>,
    ) -> RowsResult<Vec<Option<Row>>> {
        let Scanned::Fetching(index, table) = &self.way.scanned else {
            return Err(RowsError::internal("a look-up of rows that are there"));
        };
        let mut keys: Vec<(Bytes, Bytes)> = Vec::new();
        let mut rowkey = Vec::new();
        let storage = index.index().storage_id();
        let may_change = run.view.may_change(storage);
        for (key, fragment) in entries {
            index.rowkey_into(table, key, fragment, &mut rowkey)?;
            // Where rows and entries are read as of one moment, nothing is asked of the entry.
            let entry = if may_change { Bytes::copy_from_slice(key) } else { Bytes::new() };
            keys.push((entry, Bytes::copy_from_slice(&rowkey)));
        }
        run.budget.read(keys.len())?;
        let found = run.view.rows_of((storage, self.path.table.storage_id()), FAMILY, &keys).await?;
        let mut rows = Vec::with_capacity(keys.len());
        for ((_, key), fragment) in keys.iter().zip(found) {
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

/// What is known of each way for the operands' values, and its ranges.
pub(crate) async fn described(
    path: &ScanPath,
    frame: &Frame<'_>,
    view: &ReadView,
) -> RowsResult<Vec<(index::Way, KeyRanges)>> {
    let knowledge = Knowledge::of(path, frame, view).await?;
    let mut found = Vec::with_capacity(path.ways.len());
    for way in &path.ways {
        let conditions = bound(&way.tests, frame).map_err(failed)?;
        let ranges = way.ranges_of(&conditions);
        let size = size_of(way, &ranges, view).await?;
        let expected = knowledge.as_ref().map(|known| known.expect(path, way, &conditions, ranges.parts_used));
        found.push((way.described(&ranges, size, expected), ranges));
    }
    Ok(found)
}

/// What statistics say of a table.
struct Knowledge {
    statistics: Arc<TableStatistics>,
    /// Rows, as the store says.
    rows: u64,
    /// The conditions, on columns.
    columns: Vec<Condition>,
}

impl Knowledge {
    async fn of(path: &ScanPath, frame: &Frame<'_>, view: &ReadView) -> RowsResult<Option<Self>> {
        let Some(statistics) = path.table.statistics() else { return Ok(None) };
        let rows = view.estimate(path.table.storage_id(), FAMILY, &[KeyRange::all()]).await?.rows;
        let columns = bound(&path.column_tests, frame).map_err(failed)?;
        Ok(Some(Self { statistics, rows, columns }))
    }

    fn expect(&self, path: &ScanPath, way: &Way, conditions: &[Condition], parts_used: usize) -> Expected {
        // Conditions are judged on rows here, after they were fetched.
        let on_entries = |_: usize| way.index.is_none();
        let way = JudgedWay {
            index: way.index.as_ref().map(|(index, entries)| (index, entries.as_ref())),
            key: &way.key,
            conditions,
            parts_used,
            columns: &self.columns,
            on_entries: &on_entries,
        };
        Judged::new(&path.table, &self.statistics, self.rows).expect(&way)
    }
}

/// About how much the ranges hold.
async fn size_of(way: &Way, ranges: &KeyRanges, view: &ReadView) -> RowsResult<TableSize> {
    match ranges.access {
        Access::Empty => Ok(TableSize::default()),
        Access::Points(points) => Ok(TableSize { rows: points as u64, bytes: 0 }),
        _ => {
            let table = way.scanned.codec().table().storage_id();
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
