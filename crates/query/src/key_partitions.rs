//! Borders of a scan's partitions, moved so that no two partitions have rows with the same leading key column.
//!
//! ```text
//!   split by the store    .. (7, 2) | (7, 3) ..      a group of l_orderkey = 7 in two partitions
//!   aligned               .. (6, 4) | (7, 1) ..      DataFusion hears: Range(l_orderkey, split points 7, ..)
//! ```
//! What groups by that column, or by it and others, then needs no exchange between tasks. Moving the borders does not pay
//! where few values have most of the rows: then they stay.

use crate::access_path::AccessPath;
use crate::error::QueryResult;
use crate::exec::range_lists::intersect;
use crate::exec::scan::FAMILY;
use crate::scan_source::ScanSource;
use datafusion::common::{ScalarValue, SplitPoint};
use store::{Bytes, KeyRange, RowBatchBuilder};
use txn::ReadView;
use types::DataType;

/// The ranges that each task reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partitions {
    pub(crate) ranges: Vec<Vec<KeyRange>>,
    /// If each has values of one key part that no other has.
    pub(crate) aligned: Option<Aligned>,
}

/// Partitions have ranges of a key part's values, one behind the other.
#[derive(Clone, Debug)]
pub(crate) struct Aligned {
    /// Those before it have one value in all rows.
    pub(crate) part: usize,
    /// The first value of each partition but the first.
    pub(crate) points: Vec<SplitPoint>,
}

/// The share of a partition's rows that may go to another one by moving its border.
const MOST_MOVED: f64 = 0.125;

impl Partitions {
    /// All ranges for one task.
    pub(crate) fn one(ranges: Vec<KeyRange>) -> Self {
        Self { ranges: vec![ranges], aligned: None }
    }

    /// As the store cut `rows` rows, aligned where that does not make some much longer than others.
    ///
    /// # Errors
    /// Those of the store.
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

/// Borders between partitions.
struct Borders {
    part: usize,
    /// Where the store cut, and the first key that has the leading parts of the key there.
    cuts: Vec<(Bytes, Bytes)>,
}

impl Borders {
    /// `None` where there is nothing to align, or values that are equal may differ in their bytes.
    fn of(split: &[Vec<KeyRange>], source: &ScanSource, path: &AccessPath) -> Option<Self> {
        let (schema, part) = (source.scanned().key_schema(), path.ranges.equal_parts);
        let (start, width) = schema.fixed_slot(part)?;
        if !path.is_in_key_order() || schema.salt_width() > 0 || !is_equal_by_bytes(source, part) {
            return None;
        }
        let aligned = |key: &Bytes| {
            let mut first = key.to_vec();
            // Keys begin at a shorter one where they begin at this one.
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

    /// Keys that go to another partition.
    fn moved(&self) -> impl Iterator<Item = KeyRange> {
        let moved = self.cuts.iter().filter(|(cut, border)| border < cut);
        moved.map(|(cut, border)| KeyRange { start: border.clone(), end: Some(cut.clone()) })
    }

    /// The part's values at the borders.
    fn points(&self, source: &ScanSource) -> QueryResult<Option<Vec<SplitPoint>>> {
        let Some(column) = source.key_columns().get(self.part).copied().flatten() else { return Ok(None) };
        let decoder = source.scanned_decoder(&[column])?;
        let mut rows = RowBatchBuilder::with_capacity(self.cuts.len(), false, true);
        for (_, border) in &self.cuts {
            rows.push_rows(1);
            rows.push_key(border, &[]);
        }
        // Bytes between two keys need not be those of a value.
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

/// Have equal values of the part equal bytes? Zeros of floats have not.
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
