//! A way to the rows, chosen: from bytes of what is scanned to rows.

use super::Run;
use super::scan::{FAMILY, failed, key_ranges};
use crate::access::{Direction, ScanPath, Scanned, Way};
use crate::expr::{Frame, Row};
use crate::{RowsError, RowsResult};
use catalog::{Cell, RowReader};
use index::choose;
use rowkey::range::{Access, KeyRanges};
use store::{Bytes, TableId, TableSize};
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
        let mut found = Vec::with_capacity(path.ways.len());
        let mut described = Vec::with_capacity(path.ways.len());
        for way in &path.ways {
            let ranges = way.ranges(frame).map_err(failed)?;
            if path.ways.len() > 1 {
                let size = size_of(way, &ranges, run).await?;
                described.push(way.described(&ranges, size));
            }
            found.push((Self { path, way }, ranges));
        }
        let best = choose(run.program.index_choice, &described, wanted);
        match best < found.len() {
            true => Ok(found.swap_remove(best)),
            false => Err(RowsError::internal("a scan without a way")),
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
        let reader = match &self.way.scanned {
            Scanned::Rows(_) => &self.path.reader,
            Scanned::Covering(_, reader) => reader,
            Scanned::Fetching(..) => return self.fetched(stored, run).await,
        };
        let mut rows = Vec::new();
        for (key, fragment) in stored {
            run.budget.make(fragment.len())?;
            rows.push(decode(reader, key, fragment)?);
        }
        Ok(rows)
    }

    /// The rows of entries.
    async fn fetched<'a>(
        &self,
        entries: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        run: &mut Run<'_>,
    ) -> RowsResult<Vec<Row>> {
        let Scanned::Fetching(index, table) = &self.way.scanned else {
            return Err(RowsError::internal("a look-up of rows that are there"));
        };
        let mut keys: Vec<Bytes> = Vec::new();
        let mut rowkey = Vec::new();
        for (key, fragment) in entries {
            index.rowkey_into(table, key, fragment, &mut rowkey)?;
            keys.push(Bytes::copy_from_slice(&rowkey));
        }
        run.budget.read(keys.len())?;
        let found = run.view.get_many(self.path.table.storage_id(), FAMILY, &keys).await?;
        let mut rows = Vec::with_capacity(keys.len());
        for (key, fragment) in keys.iter().zip(found) {
            let Some(fragment) = fragment else {
                let detail = format!("index \"{}\" has an entry without a row", index.index().name);
                return Err(table.corrupted(&detail).into());
            };
            run.budget.make(fragment.len())?;
            rows.push(decode(&self.path.reader, key, &fragment)?);
        }
        Ok(rows)
    }
}

/// About how much the ranges hold.
async fn size_of(way: &Way, ranges: &KeyRanges, run: &Run<'_>) -> RowsResult<TableSize> {
    match ranges.access {
        Access::Empty => Ok(TableSize::default()),
        Access::Points(points) => Ok(TableSize { rows: points as u64, bytes: 0 }),
        _ => {
            let table = way.scanned.codec().table().storage_id();
            Ok(run.view.estimate(table, FAMILY, &key_ranges(ranges.ranges.clone())).await?)
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
