//! The partitions of a scan: their number, and boundaries aligned so that no two partitions have rows with the same
//! leading key column.
//!
//! ```text
//!   split by the store    .. (7, 2) | (7, 3) ..      a group of l_orderkey = 7 in two partitions
//!   aligned               .. (6, 4) | (7, 1) ..      declared to DataFusion: Range(l_orderkey, split points 7, ..)
//! ```
//! An aggregate by that column, or by it and others, then needs no repartitioning. If a few values have most of the
//! rows, aligning would unbalance the partitions, and the boundaries are kept.

use crate::access_path::AccessPath;
use crate::error::QueryResult;
use crate::exec::range_lists::intersect;
use crate::exec::scan::FAMILY;
use crate::scan_source::ScanSource;
use datafusion::common::{ScalarValue, SplitPoint};
use rowkey::range::Access;
use store::{Bytes, KeyRange, RowBatchBuilder, TableSize};
use txn::ReadView;
use types::DataType;

/// A scan of fewer rows is not split.
const ROWS_WORTH_SPLITTING: u64 = 20_000;
/// Likewise if each row is fetched by an index entry.
const FETCHES_WORTH_SPLITTING: u64 = 2_000;
/// A limit below this is read by one task.
const SMALL_LIMIT: usize = 1_000;

/// The number of partitions of a scan, at most `target`.
pub(crate) fn partition_count(
    target: usize,
    source: &ScanSource,
    path: &AccessPath,
    size: TableSize,
    fetch: Option<usize>,
) -> usize {
    let worth = if source.fetched_by().is_some() { FETCHES_WORTH_SPLITTING } else { ROWS_WORTH_SPLITTING };
    let small = matches!(path.ranges.access, Access::Points(_) | Access::Empty)
        || size.rows < worth
        || (path.checks_nothing() && fetch.is_some_and(|fetch| fetch < SMALL_LIMIT));
    if small { 1 } else { target.max(1) }
}

/// The key ranges of each partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partitions {
    pub(crate) ranges: Vec<Vec<KeyRange>>,
    /// Set if each partition has its own values of one key part.
    pub(crate) aligned: Option<Aligned>,
}

/// Each partition has a range of a key part's values, in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct Aligned {
    /// The key part. The parts before it have one value in all rows.
    pub(crate) part: usize,
    /// The first value of each partition except the first.
    pub(crate) points: Vec<SplitPoint>,
}

/// The largest share of a partition's rows that may move to another partition.
const MOST_MOVED: f64 = 0.125;

impl Partitions {
    /// A single partition.
    pub(crate) fn one(ranges: Vec<KeyRange>) -> Self {
        Self { ranges: vec![ranges], aligned: None }
    }

    /// The store's split of `rows` rows, aligned unless that unbalances the partitions.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn of_split(
        split: Vec<Vec<KeyRange>>,
        (source, path): (&ScanSource, &AccessPath),
        reader: &ReadView,
        rows: u64,
    ) -> QueryResult<Self> {
        let Some(borders) = Borders::of(&split, source, path) else { return Ok(Self { ranges: split, aligned: None }) };
        let most = rows as f64 / split.len() as f64 * MOST_MOVED;
        for moved in borders.moved() {
            let table = source.scanned().table().storage_id();
            if reader.estimate(table, FAMILY, &[moved]).await?.rows as f64 > most {
                return Ok(Self { ranges: split, aligned: None });
            }
        }
        let aligned = borders.points(source)?.map(|points| Aligned { part: borders.part, points });
        let ranges = if aligned.is_some() { borders.cut(&split) } else { split };
        Ok(Self { ranges, aligned })
    }
}

/// Aligned boundaries between partitions.
struct Borders {
    part: usize,
    /// The store's boundary, and the aligned one: the first key with the same leading parts.
    cuts: Vec<(Bytes, Bytes)>,
}

impl Borders {
    /// `None` if there is nothing to align, or if equal values may have different bytes.
    fn of(split: &[Vec<KeyRange>], source: &ScanSource, path: &AccessPath) -> Option<Self> {
        let (schema, part) = (source.scanned().key_schema(), path.ranges.equal_parts);
        let (start, width) = schema.fixed_slot(part)?;
        if !path.is_in_key_order() || schema.salt_width() > 0 || !is_equal_by_bytes(source, part) {
            return None;
        }
        let aligned = |key: &Bytes| {
            let mut first = key.to_vec();
            // A shorter boundary is padded, which keeps the same set of keys.
            first.resize(start + width, 0);
            Bytes::from(first)
        };
        let starts: Option<Vec<&Bytes>> = split.iter().map(|ranges| Some(&ranges.first()?.start)).collect();
        let starts = starts?;
        let (first, others) = starts.split_first()?;
        let cuts: Vec<(Bytes, Bytes)> = others.iter().map(|key| ((*key).clone(), aligned(key))).collect();
        let ascends = cuts.first().is_some_and(|(_, border)| border > *first)
            && cuts.is_sorted_by(|(_, border), (_, next)| border < next);
        ascends.then_some(Self { part, cuts })
    }

    /// The key ranges that move to another partition.
    fn moved(&self) -> impl Iterator<Item = KeyRange> {
        let moved = self.cuts.iter().filter(|(cut, border)| border < cut);
        moved.map(|(cut, border)| KeyRange { start: border.clone(), end: Some(cut.clone()) })
    }

    /// The part's values at the boundaries.
    fn points(&self, source: &ScanSource) -> QueryResult<Option<Vec<SplitPoint>>> {
        let Some(column) = source.key_columns().get(self.part).copied().flatten() else { return Ok(None) };
        let decoder = source.scanned_decoder(&[column])?;
        let mut rows = RowBatchBuilder::with_capacity(self.cuts.len(), false, true);
        for (_, border) in &self.cuts {
            rows.push_rows(1);
            rows.push_key(border, &[]);
        }
        // A boundary of the store need not be a valid encoding of a value.
        let Ok(batch) = decoder.decode(&rows.finish()) else { return Ok(None) };
        let value = |row| Ok(SplitPoint::new(vec![ScalarValue::try_from_array(batch.column(0), row)?]));
        (0..batch.num_rows()).map(value).collect::<QueryResult<_>>().map(Some)
    }

    fn cut(&self, split: &[Vec<KeyRange>]) -> Vec<Vec<KeyRange>> {
        let all = split.concat();
        let starts = std::iter::once(Bytes::new()).chain(self.cuts.iter().map(|(_, border)| border.clone()));
        let ends = self.cuts.iter().map(|(_, border)| Some(border.clone())).chain([None]);
        starts.zip(ends).map(|(start, end)| intersect(&all, &[KeyRange { start, end }])).collect()
    }
}

/// Do equal values of the part have equal bytes? Floats do not (zero and minus zero).
fn is_equal_by_bytes(source: &ScanSource, part: usize) -> bool {
    let columns = &source.table_codec().table().columns;
    let column = source.key_columns().get(part).copied().flatten().and_then(|column| columns.get(column));
    column.is_some_and(|column| {
        matches!(
            column.ty,
            DataType::SmallInt
                | DataType::Integer
                | DataType::BigInt
                | DataType::Numeric(_)
                | DataType::Date
                | DataType::Uuid
                | DataType::Timestamp(_)
                | DataType::TimestampTz(_)
        )
    })
}
