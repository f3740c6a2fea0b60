//! Dynamic filters of joins narrow what a scan reads.
//!
//! ```text
//!   join: b IN (3, 8)      on the key       fewer key ranges
//!                          on an index      entries ──rowkeys──> point ranges, in the order of the scan's ranges
//! ```
//! Both only leave out rows that the join would drop. The rows keep the order that the scan declares: the keys found by
//! an index are sorted, and each partition takes those within its own ranges.

use super::dynamic_filter;
use super::range_lists::intersect;
use super::scan::{FAMILY, RegionScanExec};
use crate::choose_path::Knowledge;
use crate::convert::expr_to_ranges::{ranges_of_join_keys, to_store_ranges};
use crate::error::QueryResult;
use crate::scan_source::TableIndex;
use crate::value_selectivity;
use ::index::{CandidatePath, EstimatorPath, Expected, Reach, Source, TableEstimator};
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use rowkey::range::{Access, Condition, KeyRanges};
use std::sync::Arc;
use store::{KeyRange, ScanRequest, TableSize};

/// Up to this many ranges are read without a cost comparison.
const FEW_RANGES: usize = 64;
/// The largest number of keys that an index may find for one partition.
const MOST_KEYS: usize = 200_000;

/// An index that dynamic filters may find rows by, and the statement's own conditions on its key.
#[derive(Clone, Debug)]
pub(crate) struct Finder {
    pub(crate) index: Arc<TableIndex>,
    pub(crate) conditions: Vec<Condition>,
}

impl RegionScanExec {
    /// Narrows the ranges of a partition by the current dynamic filters. Where that gives so many point reads that a
    /// scan costs less, returns the ranges only from the first to the last of them.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn narrowed(&self, ranges: &[KeyRange]) -> QueryResult<Vec<KeyRange>> {
        let narrowed = self.narrowed_by_key(ranges);
        if narrowed.len() <= FEW_RANGES.max(ranges.len()) {
            return Ok(narrowed);
        }
        let table = self.source.scanned().table().storage_id();
        let size = self.reader.estimate(table, FAMILY, ranges).await?;
        let all = CandidatePath::new(Source::Table, Reach::Ranges(ranges.len() as u64), 1, size);
        let count = narrowed.len() as u64;
        let some = CandidatePath::new(Source::Table, Reach::Ranges(count), 1, TableSize { rows: count, bytes: 0 });
        if some.cost(None) < all.cost(None) {
            return Ok(narrowed);
        }
        let ends = narrowed.first().zip(narrowed.last());
        let around = ends.map(|(first, last)| KeyRange { start: first.start.clone(), end: last.end.clone() });
        Ok(intersect(ranges, around.as_slice()))
    }

    /// Narrows the ranges by the conditions of the dynamic filters on the key.
    pub(super) fn narrowed_by_key(&self, ranges: &[KeyRange]) -> Vec<KeyRange> {
        if self.dynamic.is_empty() {
            return ranges.to_vec();
        }
        let part_of = |output: usize| self.source.part_of(*self.projection.get(output)?);
        let found = dynamic_filter::conditions(&self.dynamic, &part_of);
        if found.is_empty() {
            return ranges.to_vec();
        }
        let mut all = self.path.conditions.clone();
        all.extend(found);
        intersect(ranges, &to_store_ranges(&ranges_of_join_keys(self.source.scanned(), &all).ranges))
    }

    /// The selectivity of a predicate over the output, if statistics tell.
    pub(crate) fn share_passing(&self, predicate: &Arc<dyn PhysicalExpr>) -> Option<f64> {
        let known = self.knowledge.as_ref()?;
        let column_of = |output: usize| self.projection.get(output).copied();
        let conditions = dynamic_filter::conditions(std::slice::from_ref(predicate), &column_of);
        let judged = TableEstimator::new(self.source.table_codec().table(), &known.statistics, known.rows);
        let judged_share = (!conditions.is_empty()).then(|| judged.share(&conditions));
        let others = split_conjunction(predicate)
            .into_iter()
            .filter(|part| dynamic_filter::conditions(std::slice::from_ref(*part), &column_of).is_empty());
        let tried = others.filter_map(|part| self.share_of_tried(part, &judged));
        judged_share.into_iter().chain(tried).reduce(|all, share| all * share)
    }

    /// The selectivity of a predicate over one column, evaluated on the column's values in the statistics.
    fn share_of_tried(&self, predicate: &Arc<dyn PhysicalExpr>, judged: &TableEstimator<'_>) -> Option<f64> {
        let predicate = dynamic_filter::predicate(std::slice::from_ref(predicate)).ok()??;
        let [output] = *predicate.columns else { return None };
        let column = *self.projection.get(output)?;
        let ty = self.source.table_codec().table().columns.get(column)?.ty;
        value_selectivity::share(&predicate.expr, ty, judged.column(column)?)
    }

    /// Returns the ranges, or point ranges within them if an index finds these at a lower cost.
    ///
    /// # Errors
    /// Errors of reading index entries.
    pub(super) async fn found_by_index(&self, ranges: Vec<KeyRange>) -> QueryResult<Vec<KeyRange>> {
        if self.dynamic.is_empty() || self.finders.is_empty() || ranges.iter().all(|range| range.as_point().is_some()) {
            return Ok(ranges);
        }
        let table = self.source.table_codec().table().storage_id();
        let size = self.reader.estimate(table, FAMILY, &ranges).await?;
        let whole = Reach::Ranges(ranges.len() as u64);
        let mut best = (CandidatePath::new(Source::Table, whole, 1, size).cost(None), None);
        for finder in &self.finders {
            let Some((conditions, found)) = self.entry_ranges(finder) else { continue };
            let entries = to_store_ranges(&found.ranges);
            let expected = self.knowledge.as_ref().map(|known| self.expected(finder, known, &conditions, &found));
            let size = match expected.filter(|expected| expected.from_statistics) {
                Some(expected) => TableSize { rows: expected.in_ranges.ceil() as u64, bytes: 0 },
                // The store counts whole blocks.
                None => self.reader.estimate(finder.index.entries.table().storage_id(), FAMILY, &entries).await?,
            };
            let reach = Reach::Ranges(entries.len() as u64);
            let unique = is_unique(finder, &found);
            let by_index = CandidatePath {
                unique,
                expected,
                ..CandidatePath::new(Source::Fetching, reach, found.parts_used, size)
            };
            let cost = by_index.cost(None);
            if cost < best.0 && size.rows <= MOST_KEYS as u64 {
                best = (cost, Some((finder, entries)));
            }
        }
        match best.1 {
            Some((finder, entries)) => Ok(self.rowkeys(finder, entries, &ranges).await?.unwrap_or(ranges)),
            None => Ok(ranges),
        }
    }

    /// The entry ranges of rows that pass the dynamic filters, and the conditions they come from; `None` if no
    /// condition restricts the index key.
    fn entry_ranges(&self, finder: &Finder) -> Option<(Vec<Condition>, KeyRanges)> {
        let key = finder.index.key_columns();
        let part_of = |output: usize| {
            let column = *self.projection.get(output)?;
            key.iter().position(|source| *source == Some(column))
        };
        let found = dynamic_filter::conditions(&self.dynamic, &part_of);
        if found.is_empty() {
            return None;
        }
        let all: Vec<Condition> = finder.conditions.iter().cloned().chain(found).collect();
        let ranges = ranges_of_join_keys(&finder.index.entries, &all);
        (ranges.parts_used > 0 && ranges.access != Access::Full).then_some((all, ranges))
    }

    /// The estimated number of entries in the ranges, by statistics.
    fn expected(&self, finder: &Finder, known: &Knowledge, conditions: &[Condition], found: &KeyRanges) -> Expected {
        let candidate = EstimatorPath {
            index: Some((finder.index.codec.index(), finder.index.entries.table().as_ref())),
            key: finder.index.key_columns(),
            conditions,
            parts_used: found.parts_used,
            columns: &[],
            on_entries: &|_| true,
        };
        TableEstimator::new(self.source.table_codec().table(), &known.statistics, known.rows).expect(&candidate)
    }

    /// The rowkeys of the entries that lie in `within`; `None` if they are too many.
    async fn rowkeys(
        &self,
        finder: &Finder,
        entries: Vec<KeyRange>,
        within: &[KeyRange],
    ) -> QueryResult<Option<Vec<KeyRange>>> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        if !entries.is_empty() {
            let storage = finder.index.entries.table().storage_id();
            let mut scan = self.reader.scan(ScanRequest::new(storage, FAMILY, entries)).await?;
            while let Some(batch) = scan.next().await? {
                for (key, fragment) in batch.keys().zip(batch.fragments()) {
                    let mut rowkey = Vec::new();
                    finder.index.codec.rowkey_into(self.source.table_codec(), key, fragment, &mut rowkey)?;
                    keys.push(rowkey);
                }
                if keys.len() > MOST_KEYS {
                    return Ok(None);
                }
            }
        }
        keys.sort_unstable();
        let points: Vec<KeyRange> = keys.into_iter().map(KeyRange::point).collect();
        Ok(Some(intersect(&points, within)))
    }
}

fn is_unique(finder: &Finder, found: &KeyRanges) -> bool {
    finder.index.codec.index().unique && found.parts_used >= finder.index.own_parts()
}
