//! The statistics of a scan for DataFusion: rows, and distinct values per column. By these it chooses the build side of
//! a join.

use crate::choose_path::Knowledge;
use crate::convert::datum_to_scalar;
use crate::sample::Estimate;
use catalog::{Table, ValueStatistics};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue};
use index::TableEstimator;
use types::compare::compare;
use types::{DataType, Datum};

/// The estimate for a scan of these columns that returns `rows` rows.
pub(crate) fn estimate(table: &Table, knowledge: &Knowledge, projection: &[usize], rows: f64) -> Estimate {
    let judged = TableEstimator::new(table, &knowledge.statistics, knowledge.rows);
    let described = |place: &usize| {
        let known = table.columns.get(*place).zip(judged.column(*place));
        known.map_or_else(ColumnStatistics::new_unknown, |(column, values)| {
            described(column.ty, values, judged.rows(), rows)
        })
    };
    Estimate { rows: rows.ceil() as u64, columns: Some(projection.iter().map(described).collect()) }
}

/// The statistics of a column for `rows` of its `all` rows.
fn described(ty: DataType, values: &ValueStatistics, all: f64, rows: f64) -> ColumnStatistics {
    let mut found = ColumnStatistics::new_unknown();
    found.null_count = Precision::Inexact((rows * values.null_fraction) as usize);
    if let Some(distinct) = values.distinct_of(all) {
        found.distinct_count = Precision::Inexact(left_of(distinct, all, rows).ceil() as usize);
    }
    // DataFusion derives the number of distinct values from min and max, which makes sense for integers and dates only.
    if ty.is_integer() || matches!(ty, DataType::Date | DataType::Timestamp(_) | DataType::TimestampTz(_)) {
        let common = values.common.iter().map(|common| &common.value.0);
        let ends = [values.bounds.first(), values.bounds.last()].into_iter().flatten().map(|bound| &bound.0);
        let all: Vec<&Datum> = common.chain(ends).collect();
        let scalar = |value: Option<&&Datum>| -> Option<ScalarValue> { datum_to_scalar(&ty, value?).ok() };
        let inexact = |value: Option<ScalarValue>| value.map_or(Precision::Absent, Precision::Inexact);
        found.min_value = inexact(scalar(all.iter().min_by(|a, b| compare(a, b))));
        found.max_value = inexact(scalar(all.iter().max_by(|a, b| compare(a, b))));
    }
    found
}

/// The expected number of distinct values in `rows` of `all` rows that are chosen independently of the values: Yao
/// (1977), with replacement.
fn left_of(distinct: f64, all: f64, rows: f64) -> f64 {
    if rows >= all || distinct < 1.0 {
        return distinct.min(rows.max(1.0));
    }
    let each = all / distinct;
    (distinct * (1.0 - (1.0 - rows / all).powf(each))).clamp(1.0, rows.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::{CommonValue, Value};

    #[test]
    fn a_column_is_described_by_its_values() {
        let common = vec![CommonValue { value: Value(Datum::Int4(70)), share: 0.5 }];
        let bounds = [3, 9].map(|bound| Value(Datum::Int4(bound))).to_vec();
        let values =
            ValueStatistics { null_fraction: 0.1, distinct: 8.0, common, bounds, ..ValueStatistics::default() };
        let found = described(DataType::Integer, &values, 1_000.0, 1_000.0);
        assert_eq!(found.null_count, Precision::Inexact(100));
        assert_eq!(found.distinct_count, Precision::Inexact(8));
        assert_eq!(found.min_value, Precision::Inexact(ScalarValue::Int32(Some(3))));
        assert_eq!(found.max_value, Precision::Inexact(ScalarValue::Int32(Some(70))));
    }

    #[test]
    fn few_of_the_rows_have_few_of_the_values() {
        assert!((left_of(1_000.0, 1_000.0, 10.0) - 10.0).abs() < 0.1);
        assert!((left_of(10.0, 1_000.0, 500.0) - 10.0).abs() < 0.1);
        assert!(left_of(500.0, 1_000.0, 100.0) <= 100.0);
    }
}
