//! Access paths by the intersection of two indexes: entries of one whose rowkeys the other has, too.
//!
//! ```text
//!   a = 1   index on a   rowkeys 3 4 7 9 12 …  ┐
//!                                              ├─ both: 4 12 ──> rows 4 12, or no rows if the entries cover the scan
//!   b = 2   index on b   rowkeys 1 4 8 12 …    ┘
//! ```
//! Such a path is a path by the first index in which conditions that the second one decides count as checked. If all
//! parts in front of the rowkey have one value in both indexes, both return rowkeys in order and are merged; else the
//! rowkeys of the second one are stored in a set (`exec/intersection.rs`).

use crate::access_path::{AccessPath, Checked};
use crate::choose_path::{Asked, Chosen, Knowledge, columns_of};
use crate::convert::expr_to_ranges::range_limits;
use crate::scan_source::{ScanSource, TableIndex};
use catalog::row_codec::RowCodec;
use datafusion::logical_expr::Expr;
use index::{CandidatePath, IndexChoice};
use rowkey::KeyPart;
use rowkey::range::Access;
use std::sync::Arc;
use store::KeyRange;

/// The second index of an access path.
#[derive(Clone, Debug)]
pub(crate) struct Partner {
    pub(crate) index: Arc<TableIndex>,
    pub(crate) path: AccessPath,
    pub(crate) ranges: Vec<KeyRange>,
    /// Do both indexes return their rowkeys in order?
    pub(crate) merges: bool,
}

/// The number of indexes that are considered: those with the fewest entries.
const TRIED: usize = 4;
/// A set of more rowkeys than this is not chosen automatically.
const MOST_KEPT: f64 = 1_000_000.0;

impl Asked<'_> {
    /// The paths by two of the indexes in `found`, each with its estimates.
    pub(crate) fn intersections(
        &self,
        found: &[Chosen],
        knowledge: Option<&Knowledge>,
    ) -> Vec<(Chosen, CandidatePath)> {
        // Without statistics, nothing tells whether the intersection is smaller than either index.
        let is_judged = |candidate: &CandidatePath| candidate.expected.is_some_and(|expected| expected.from_statistics);
        let is_asked_for = self.rules.choice == IndexChoice::Intersect;
        let mut narrow: Vec<(&Chosen, CandidatePath)> = found
            .iter()
            .filter(|found| is_narrow(found))
            .map(|found| (found, self.candidate(found, knowledge)))
            .filter(|(_, candidate)| !candidate.unique && (is_asked_for || is_judged(candidate)))
            .collect();
        narrow.sort_by(|(_, one), (_, other)| entries(one).total_cmp(&entries(other)));
        narrow.truncate(TRIED);
        let mut all = Vec::new();
        for (at, first) in narrow.iter().enumerate() {
            let others = narrow.iter().enumerate().filter(|(other, _)| *other != at);
            all.extend(others.filter_map(|(_, second)| self.intersection(first, second, knowledge)));
        }
        all
    }

    /// The path by both indexes, if the second one decides a filter that the first one cannot.
    fn intersection(
        &self,
        (first, _): &(&Chosen, CandidatePath),
        (second, second_candidate): &(&Chosen, CandidatePath),
        knowledge: Option<&Knowledge>,
    ) -> Option<(Chosen, CandidatePath)> {
        let (index, other) = (first.source.used_index()?, second.source.used_index()?);
        if !first.left.iter().any(|filter| first.path.leaves(filter) && !second.path.leaves(filter)) {
            return None;
        }
        let merges =
            is_in_rowkey_order(self.table, index, &first.path) && is_in_rowkey_order(self.table, other, &second.path);
        if !merges && entries(second_candidate) > MOST_KEPT && self.rules.choice != IndexChoice::Intersect {
            return None;
        }
        // If rows may change between reading the entries and the rows, all conditions are checked on the rows.
        let changes = self.may_change(index) || self.may_change(other);
        let checked = |filter: &Expr| match index.has_all(&columns_of(self.table, filter)) {
            true => Checked::OnScanned,
            false if changes || second.path.leaves(filter) => Checked::OnRows,
            false => Checked::Elsewhere,
        };
        let fetching = ScanSource::index(self.table, index, false);
        let limits = range_limits(&index.entries, self.rules.one_range);
        let path = AccessPath::of(&fetching, &first.left, &checked, &limits);
        let covers = !changes && index.has_all(self.projection) && !first.left.iter().any(|filter| path.leaves(filter));
        let source = ScanSource::index(self.table, index, covers);
        let (path_of_other, ranges) = (second.path.clone(), second.ranges.clone());
        let partner = Partner { index: Arc::clone(other), path: path_of_other, ranges, merges };
        let chosen = Chosen { source, path, partner: Some(partner), skips: None, ..(*first).clone() };
        // A hint names a single index to read.
        let candidate = CandidatePath { preferred: None, ..self.candidate(&chosen, knowledge) }
            .intersected(second_candidate, merges);
        Some((chosen, candidate))
    }

    fn may_change(&self, index: &TableIndex) -> bool {
        self.reader.may_change(index.codec.index().storage_id())
    }
}

/// Is it an index path by ranges that conditions narrow?
fn is_narrow(found: &Chosen) -> bool {
    let ranges = &found.path.ranges;
    let is_range = matches!(ranges.access, Access::Range | Access::SkipScan);
    found.source.used_index().is_some() && ranges.parts_used > 0 && is_range
}

/// The estimated number of entries in the ranges.
fn entries(candidate: &CandidatePath) -> f64 {
    candidate.expected.map_or(candidate.rows as f64, |expected| expected.in_ranges)
}

/// Are the entries in rowkey order? That is one range with one value in each of the index's own parts, followed by the
/// complete rowkey in the order of the table.
fn is_in_rowkey_order(table: &RowCodec, index: &TableIndex, path: &AccessPath) -> bool {
    let (own, schema) = (index.own_parts(), index.entries.key_schema());
    let in_entries = index.entries.table().key.iter().zip(&schema.parts).skip(own);
    let in_table = table.table().key.iter().zip(&table.key_schema().parts);
    let ty = |part: &KeyPart| (part.ty, part.descending, part.nulls_first);
    let is_rowkey =
        in_entries.map(|(key, part)| (key.column, ty(part))).eq(in_table.map(|(key, part)| (key.column, ty(part))));
    path.ranges.ranges.len() == 1 && path.ranges.equal_parts >= own && schema.salt_buckets.is_none() && is_rowkey
}
