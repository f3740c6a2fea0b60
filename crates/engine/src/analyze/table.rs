//! The statistics of one table: columns, indexes, guideposts.

use super::sample::{MayGoOn, Sample, sample};
use super::values::{Scale, statistics};
use crate::Engine;
use crate::dml::FAMILY;
use crate::error::EngineResult;
use catalog::{
    Column, ColumnId, ColumnStatistics, Guidepost, Index, IndexStatistics, RowCodec, Size, Table, TableStatistics,
};
use std::sync::Arc;
use store::{CommitNo, KeyRange, Store};
use txn::ReadView;

/// Default distance between guideposts in bytes, as Phoenix's `phoenix.stats.guidepost.width`.
const GUIDEPOST_WIDTH: u64 = 100 << 20;
/// Maximum number of guideposts in a region.
const MOST_GUIDEPOSTS: u64 = 1_000;

/// The statistics to collect for a table.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The columns; `None` for all.
    pub(super) columns: Option<Vec<ColumnId>>,
    /// Whether to sample the table's rows.
    pub(super) rows: bool,
    /// Whether to sample the entries of its indexes.
    pub(super) indexes: bool,
    /// Maximum number of common values and histogram bounds.
    pub(super) target: usize,
    /// Bytes between guideposts, 0 for none; `None` for the table's setting.
    pub(super) width: Option<u64>,
    /// Whether the analysis is automatic.
    pub(super) automatic: bool,
}

impl Wanted {
    /// All statistics of a table.
    pub(super) fn all(target: usize) -> Self {
        Self { columns: None, rows: true, indexes: true, target, width: None, automatic: false }
    }

    fn guidepost_width(&self, table: &Table) -> u64 {
        let own = || table.property(catalog::GUIDE_POSTS_WIDTH, |value| value.parse().ok());
        self.width.or_else(own).unwrap_or(GUIDEPOST_WIDTH)
    }
}

/// Numbers that VERBOSE prints.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) rows: f64,
    pub(super) sampled: u64,
}

/// Analyzes the table in a snapshot that includes commit `seen`, and stores the statistics. `None`: the table was
/// dropped.
pub(super) async fn analyze(
    engine: &Engine,
    table: &Arc<Table>,
    wanted: &Wanted,
    seen: CommitNo,
    may_go_on: MayGoOn<'_>,
) -> EngineResult<Option<Found>> {
    let changed = table.live.changed();
    let store = Arc::clone(engine.store());
    let snapshot = store.snapshot(seen).await?;
    let view = ReadView::plain(store, snapshot);
    let before = table.statistics().map(|found| found.as_ref().clone()).unwrap_or_default();
    let mut next = before.clone();
    if wanted.rows {
        rows(&view, table, wanted, may_go_on, &mut next).await?;
        next.guideposts = guideposts(view.store().as_ref(), table, wanted.guidepost_width(table)).await?;
    }
    if wanted.indexes {
        next.indexes = indexes(&view, table, wanted, may_go_on).await?;
    } else {
        next.indexes.retain(|it| table.indexes.iter().any(|index| index.oid == it.oid));
    }
    let now = Some(engine.now());
    match wanted.automatic {
        true => (next.auto_analyzed, next.auto_analyzes) = (now, next.auto_analyzes + 1),
        false => (next.analyzed, next.analyzes) = (now, next.analyzes + 1),
    }
    let found = Found { rows: next.rows, sampled: next.sampled };
    let kept = engine.catalog().write_statistics(table.oid, next, changed).await?;
    Ok(kept.then_some(found))
}

async fn rows(
    view: &ReadView,
    table: &Arc<Table>,
    wanted: &Wanted,
    may_go_on: MayGoOn<'_>,
    next: &mut TableStatistics,
) -> EngineResult<()> {
    let is_wanted = |column: &Column| match &wanted.columns {
        Some(columns) => columns.contains(&column.id),
        None => !column.hidden,
    };
    let places: Vec<usize> =
        table.columns.iter().enumerate().filter(|(_, column)| is_wanted(column)).map(|(at, _)| at).collect();
    let codec = RowCodec::new(table)?;
    let sample = sample(view, &codec, &places, wanted.target, may_go_on).await?;
    next.columns.retain(|old| table.column(old.column).is_some_and(|column| column.ty == old.ty));
    for (at, column) in places.iter().filter_map(|at| table.columns.get(*at)).enumerate() {
        may_go_on()?;
        next.columns.retain(|old| old.column != column.id);
        next.columns.push(described(column, at, &sample, wanted.target));
    }
    next.columns.sort_by_key(|column| column.column);
    next.storage = table.storage;
    (next.rows, next.sampled, next.estimate) = (sample.rows, sample.kept, sample.estimate);
    Ok(())
}

/// The statistics of a column from the sample's column `at`.
fn described(column: &Column, at: usize, sample: &Sample, target: usize) -> ColumnStatistics {
    let items = sample.columns.get(at).map(Vec::as_slice).unwrap_or_default();
    let distinct = sample.leading.filter(|(leading, _)| *leading == at).map(|(_, values)| values);
    let scale = Scale { rows: sample.rows, complete: sample.complete, distinct, target };
    // Takes so long that other tasks of the thread should continue elsewhere.
    let values = crate::threads::turn::apart(|| statistics(items, scale));
    ColumnStatistics { column: column.id, ty: column.ty, values }
}

/// Samples the entries of complete indexes. Plain columns have the statistics of the table.
async fn indexes(
    view: &ReadView,
    table: &Arc<Table>,
    wanted: &Wanted,
    may_go_on: MayGoOn<'_>,
) -> EngineResult<Vec<IndexStatistics>> {
    let mut found = Vec::new();
    for index in table.public_indexes() {
        let entries = Arc::new(index.entries(table));
        let places: Vec<usize> = expression_places(index, &entries);
        let sample = sample(view, &RowCodec::new(&entries)?, &places, wanted.target, may_go_on).await?;
        let columns = places.iter().filter_map(|at| entries.columns.get(*at)).enumerate();
        found.push(IndexStatistics {
            oid: index.oid,
            storage: index.storage,
            rows: sample.rows,
            estimate: sample.estimate,
            expressions: columns.map(|(at, column)| described(column, at, &sample, wanted.target)).collect(),
        });
    }
    found.sort_by_key(|index| index.oid);
    Ok(found)
}

/// Positions of the entry columns that are expressions.
fn expression_places(index: &Index, entries: &Table) -> Vec<usize> {
    let is_computed =
        |column: &Column| index.parts.iter().any(|part| part.entry == column.id && part.expression().is_some());
    entries.columns.iter().enumerate().filter(|(_, column)| is_computed(column)).map(|(at, _)| at).collect()
}

/// Keys that split the regions into pieces of about `width` bytes.
async fn guideposts(store: &dyn Store, table: &Table, width: u64) -> EngineResult<Vec<Guidepost>> {
    let storage = table.storage_id();
    let mut found = Vec::new();
    if width == 0 {
        return Ok(found);
    }
    for (number, region) in store.regions(storage).await?.into_iter().enumerate() {
        let pieces = region.size.bytes.div_ceil(width).clamp(1, MOST_GUIDEPOSTS) as usize;
        let pieces = store.split(storage, FAMILY, std::slice::from_ref(&region.range), pieces).await?;
        let last = pieces.len().saturating_sub(1);
        for (at, ranges) in pieces.into_iter().enumerate() {
            let size = store.estimate(storage, FAMILY, &ranges).await?;
            let end = |ranges: &[KeyRange]| ranges.last().and_then(|range| range.end.as_ref().map(|end| end.to_vec()));
            let key = if at == last { region.range.end.as_ref().map(|end| end.to_vec()) } else { end(&ranges) };
            let region = u32::try_from(number).unwrap_or(u32::MAX);
            found.push(Guidepost { region, key, size: Size { rows: size.rows, bytes: size.bytes } });
        }
    }
    Ok(found)
}
