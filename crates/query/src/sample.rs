//! Estimates the output of a scan by sampling the rows it reads.
//!
//! ```text
//!   ranges   [=====:=====:=====:=====:=====:=====]     split into pieces of about the same size
//!   sample    ##    ##    ##    ##    ##    ##         the first rows of each piece
//! ```
//! The filters are evaluated on the sample, and the rows that pass give the column statistics. DataFusion chooses the
//! build side of a join by the number of rows and of distinct keys.

use crate::convert::RowDecoder;
use crate::error::{QueryError, QueryResult};
use crate::exec::row_checks::RowChecks;
use crate::exec::scan::FAMILY;
use crate::scan_source::ScanSource;
use arrow::array::{Array, ArrayRef};
use arrow::compute::{SortOptions, concat_batches, sort_to_indices};
use arrow::datatypes::DataType as ArrowType;
use arrow::record_batch::RecordBatch;
use datafusion::common::hash_utils::{RandomState, create_hashes};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue};
use std::collections::HashMap;
use store::{KeyRange, ScanRequest, TableSize};
use txn::ReadView;

/// Scans of fewer rows are not sampled: any plan is fast enough for them.
const ROWS_WORTH_SAMPLING: u64 = 50_000;
const PIECES: usize = 24;
const ROWS_OF_A_PIECE: usize = 96;

/// The estimated output of a scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Estimate {
    pub(crate) rows: u64,
    /// The statistics of the output columns, if known.
    pub(crate) columns: Option<Vec<ColumnStatistics>>,
}

/// The scan to sample.
pub(crate) struct Sampling<'a> {
    pub(crate) source: &'a ScanSource,
    pub(crate) reader: &'a ReadView,
    pub(crate) ranges: &'a [KeyRange],
    /// The size of the ranges.
    pub(crate) size: TableSize,
    pub(crate) checks: &'a RowChecks,
    /// The decoder of the output columns; `projection` has their indexes in the table.
    pub(crate) decoder: &'a RowDecoder,
    pub(crate) projection: &'a [usize],
}

impl Sampling<'_> {
    /// The estimated rows and columns, sampled if the scan is long.
    ///
    /// # Errors
    /// Errors of reading, and of filters that fail on a row.
    pub(crate) async fn estimate(&self) -> QueryResult<Estimate> {
        // Sampling index entries would have to fetch their rows.
        if self.size.rows < ROWS_WORTH_SAMPLING || self.source.fetched_by().is_some() {
            return Ok(Estimate { rows: self.size.rows, columns: None });
        }
        let (mut read, mut batches) = (0, Vec::new());
        let table = self.source.scanned().table().storage_id();
        for piece in self.reader.split(table, FAMILY, self.ranges, PIECES).await? {
            let limit = Some(ROWS_OF_A_PIECE as u64);
            let request = ScanRequest { limit, batch_rows: ROWS_OF_A_PIECE, ..ScanRequest::new(table, FAMILY, piece) };
            let Some(mut rows) = self.reader.scan(request).await?.next().await? else { continue };
            read += rows.len();
            for check in [&self.checks.recheck, &self.checks.filter].into_iter().flatten() {
                if let Some(passing) = check.passing(&rows)? {
                    rows = rows.select(passing.set_indices());
                }
            }
            batches.push(self.decoder.decode(&rows)?);
        }
        let sample = concat_batches(self.decoder.schema(), &batches)?;
        // A filter that no sampled row passes is assumed to pass half a row of the sample.
        let passing = (sample.num_rows() as f64).max(0.5);
        let rows = self.size.rows as f64 * passing / (read.max(1) as f64);
        let columns = self.columns(&sample, rows)?;
        Ok(Estimate { rows: rows.ceil() as u64, columns: Some(columns) })
    }

    fn columns(&self, sample: &RecordBatch, rows: f64) -> QueryResult<Vec<ColumnStatistics>> {
        let describe = |(array, column): (&ArrayRef, &usize)| {
            let leading = self.source.part_of(*column) == Some(0);
            describe(array, rows, leading)
        };
        sample.columns().iter().zip(self.projection).map(describe).collect()
    }
}

/// The statistics of a column with `rows` rows, by the sample.
fn describe(array: &ArrayRef, rows: f64, leading_key: bool) -> QueryResult<ColumnStatistics> {
    let mut found = ColumnStatistics::new_unknown();
    if array.len() == array.null_count() {
        return Ok(found);
    }
    let nulls = rows * array.null_count() as f64 / array.len() as f64;
    found.null_count = Precision::Inexact(nulls as usize);
    // DataFusion derives the number of distinct values from min and max, which makes sense for integers and dates only.
    let interval = matches!(array.data_type(), ArrowType::Interval(_));
    if array.data_type().is_integer() || array.data_type().is_temporal() && !interval {
        found.min_value = Precision::Inexact(extreme(array, false)?);
        found.max_value = Precision::Inexact(extreme(array, true)?);
    }
    found.distinct_count = Precision::Inexact(distinct(array, rows, leading_key)?.ceil() as usize);
    Ok(found)
}

fn extreme(array: &ArrayRef, descending: bool) -> QueryResult<ScalarValue> {
    let options = SortOptions { descending, nulls_first: false };
    let first = sort_to_indices(array, Some(options), Some(1))?;
    let at = first.values().first().ok_or_else(|| QueryError::internal("an extreme of no values"))?;
    Ok(ScalarValue::try_from_array(array, *at as usize)?)
}

/// The estimated number of distinct values of the column.
///
/// Sampled rows are neighbours, so all rows of a value of the first key column are adjacent: the fraction of distinct
/// values in the sample is that of the column. For other columns this is the estimator "Duj1" of Haas and Stokes
/// (1998), as in PostgreSQL.
fn distinct(array: &ArrayRef, rows: f64, leading_key: bool) -> QueryResult<f64> {
    let mut hashes = vec![0; array.len()];
    create_hashes([array], &RandomState::default(), &mut hashes)?;
    let mut times: HashMap<u64, u32> = HashMap::new();
    for (at, hash) in hashes.iter().enumerate() {
        if array.is_valid(at) {
            *times.entry(*hash).or_default() += 1;
        }
    }
    let sampled = (array.len() - array.null_count()) as f64;
    let different = times.len() as f64;
    if leading_key {
        return Ok(rows * different / sampled);
    }
    let once = times.values().filter(|times| **times == 1).count() as f64;
    let estimate = sampled * different / (sampled - once + once * sampled / rows.max(sampled));
    Ok(estimate.clamp(different, rows.max(different)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow::array::Int32Array;
    use std::sync::Arc;

    fn ints(values: impl Iterator<Item = Option<i32>>) -> ArrayRef {
        Arc::new(values.collect::<Int32Array>())
    }

    #[test]
    fn few_values_are_counted_and_many_are_extrapolated() {
        let three = ints((0..2_000).map(|i| Some(i % 3)));
        assert!((distinct(&three, 6e6, false).unwrap() - 3.0).abs() < 0.01);
        let all = ints((0..2_000).map(Some));
        assert!((distinct(&all, 6e6, false).unwrap() - 6e6).abs() < 1.0);
        // Keys with four rows each, sampled in runs.
        let runs = ints((0..2_000).map(|i| Some(i / 4)));
        assert!((distinct(&runs, 6e6, true).unwrap() - 1.5e6).abs() < 1.0);
    }

    #[test]
    fn nulls_are_a_share_and_no_value() {
        let half = ints((0..1_000).map(|i| (i % 2 == 0).then_some(7 + i / 500)));
        let found = describe(&half, 1e6, false).unwrap();
        assert_eq!(found.null_count, Precision::Inexact(500_000));
        assert_eq!(found.min_value, Precision::Inexact(ScalarValue::Int32(Some(7))));
        assert_eq!(found.max_value, Precision::Inexact(ScalarValue::Int32(Some(8))));
        assert_eq!(found.distinct_count, Precision::Inexact(2));
    }
}
