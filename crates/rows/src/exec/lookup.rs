//! Lookup joins: the inner rows for a batch of outer rows are read at once.
//!
//! ```text
//!   outer rows ──> key ranges of each ──sorted, merged──> one multi-get, or one scan ──> rows by key
//!       └─────────────── each outer row finds its own ranges among them ─────────────────────────┘
//! ```

use super::looped::Found;
use super::reading::Reading;
use super::scan::{failed, fetch_all, passes, unsure};
use super::{BATCH_ROWS, Operator, Run, Source, open};
use crate::RowsResult;
use crate::expr::{Frame, Row};
use crate::plan::Lookup;
use async_trait::async_trait;
use rowkey::range::{Access, ByteRange, KeyRanges};
use store::Bytes;
use types::Datum;

pub(super) struct LookupJoin<'p> {
    node: &'p Lookup,
    outer: Source<'p>,
}

impl<'p> LookupJoin<'p> {
    pub(super) fn new(node: &'p Lookup) -> Self {
        Self { node, outer: open(&node.outer) }
    }

    /// Joins one outer row with the rows of `by_key` that lie in its ranges.
    fn join(
        &self,
        run: &mut Run<'_>,
        row: Row,
        ranges: &KeyRanges,
        by_key: &[(Bytes, Row)],
        into: &mut Vec<Row>,
    ) -> RowsResult<()> {
        let matching = self.node.matching;
        let open_conditions: Vec<usize> = unsure(ranges, self.node.path.conditions.len()).collect();
        let mut found = Found::default();
        for (_, other) in ranges.ranges.iter().flat_map(|range| within(by_key, range)) {
            let mut both = Vec::with_capacity(row.len() + other.len() + self.node.exprs.len());
            both.extend(row.iter().chain(other).cloned());
            run.budget.work(1)?;
            run.budget.make(Datum::row_memory_size(&both))?;
            if !passes(&self.node.path, &open_conditions, &both, run)? || !self.finish_pair(run, &mut both)? {
                continue;
            }
            found.add(Some(true));
            match matching.has_inner() {
                true => into.push(both),
                false => break,
            }
        }
        let width = self.node.path_width() + self.node.exprs.len();
        found.finish(matching, row, width, into);
        Ok(())
    }

    /// Evaluates the expressions over both sides, and the conditions that read them; false if a condition does not
    /// hold.
    fn finish_pair(&self, run: &Run<'_>, both: &mut Row) -> RowsResult<bool> {
        for expr in &self.node.exprs {
            let value: Datum = expr.eval(&Frame { row: both, values: &run.values }).map_err(failed)?.into_owned();
            both.push(value);
        }
        for condition in &self.node.late {
            if condition.truth(&Frame { row: both, values: &run.values }).map_err(failed)? != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[async_trait]
impl Operator for LookupJoin<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let Some(batch) = self.outer.next(run, wanted.min(BATCH_ROWS)).await? else { return Ok(None) };
        let mut joined = Vec::with_capacity(batch.len());
        let reading = Reading::only(&self.node.path)?;
        for chunk in batch.chunks(BATCH_ROWS) {
            let ranges = ranges_of(reading, run, chunk).await?;
            let points = ranges.iter().all(|one| matches!(one.access, Access::Points(_) | Access::Empty));
            let wanted = union(ranges.iter().flat_map(|one| one.ranges.iter().cloned()).collect());
            let by_key = match wanted.is_empty() {
                true => Vec::new(),
                false => fetch_all(reading, points, wanted, run).await?,
            };
            for (row, ranges) in chunk.iter().zip(&ranges) {
                self.join(run, row.clone(), ranges, &by_key, &mut joined)?;
            }
            run.budget.give_way().await?;
        }
        Ok(Some(joined))
    }
}

/// The key ranges of each outer row. A list beside the key of the join gives each row as many ranges as it has
/// elements, so their bytes count.
async fn ranges_of(reading: Reading<'_>, run: &mut Run<'_>, rows: &[Row]) -> RowsResult<Vec<KeyRanges>> {
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        let ranges = reading.access.ranges(&Frame { row, values: &run.values }).map_err(failed)?;
        if ranges.ranges.len() > 1 {
            let bytes = |range: &ByteRange| size_of::<ByteRange>() + 2 * range.start.len();
            run.budget.make(ranges.ranges.iter().map(bytes).sum())?;
            run.budget.give_way().await?;
        }
        all.push(ranges);
    }
    Ok(all)
}

/// The rows whose keys lie in the range.
fn within<'r>(by_key: &'r [(Bytes, Row)], range: &ByteRange) -> &'r [(Bytes, Row)] {
    let start = by_key.partition_point(|(key, _)| key.as_ref() < range.start.as_slice());
    let end = match &range.end {
        Some(end) => by_key.partition_point(|(key, _)| key.as_ref() < end.as_slice()),
        None => by_key.len(),
    };
    by_key.get(start..end.max(start)).unwrap_or_default()
}

/// Merges overlapping ranges. Adjacent ranges stay separate, so that points stay points.
fn union(mut ranges: Vec<ByteRange>) -> Vec<ByteRange> {
    ranges.sort();
    let mut joined: Vec<ByteRange> = Vec::with_capacity(ranges.len());
    for next in ranges {
        match joined.last_mut() {
            Some(last) if last.end.as_ref().is_none_or(|end| next.start < *end) => {
                let is_longer = last.end.is_some() && (next.end.is_none() || next.end > last.end);
                if is_longer {
                    last.end = next.end;
                }
            }
            _ => joined.push(next),
        }
    }
    joined
}
