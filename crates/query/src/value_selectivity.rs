//! The selectivity of predicates other than comparisons (LIKE, function calls), evaluated on the values in a column's
//! statistics.
//!
//! The estimate is PostgreSQL's (`selfuncs.c`: `mcv_selectivity`, `histogram_selectivity`): a most common value counts
//! with its frequency, and the histogram bounds represent all other values.

use crate::convert::arrow_type::arrow_type;
use crate::convert::datum_to_scalar;
use arrow::array::RecordBatch;
use arrow::array::cast::AsArray;
use arrow::datatypes::{Field, Schema};
use catalog::ValueStatistics;
use datafusion::common::ScalarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use std::sync::Arc;
use types::{DataType, Datum};

/// Fewer histogram bounds do not represent the values between them.
const FEWEST_BOUNDS: usize = 10;
/// The smallest estimate, and its distance from 1, as in PostgreSQL.
const LEAST: f64 = 0.0001;

/// The fraction of rows for which `predicate` is true. Its only column is the first of its input, with these values.
/// `None` if there are too few values, or if it fails on one of them.
pub(crate) fn share(predicate: &Arc<dyn PhysicalExpr>, ty: DataType, values: &ValueStatistics) -> Option<f64> {
    let has_others = !values.bounds.is_empty();
    if is_volatile(predicate) || (has_others && values.bounds.len() < FEWEST_BOUNDS) {
        return None;
    }
    let common = values.common.iter().map(|common| &common.value.0);
    let passing = passing(predicate, ty, common.chain(values.bounds.iter().map(|bound| &bound.0)))?;
    let (of_common, of_others) = passing.split_at_checked(values.common.len())?;
    let known: f64 = values.common.iter().map(|common| common.share).sum();
    let of_known: f64 =
        values.common.iter().zip(of_common).filter(|(_, passes)| **passes).map(|(it, _)| it.share).sum();
    let others = (1.0 - known - values.null_fraction).max(0.0);
    let part = of_others.iter().filter(|passes| **passes).count() as f64 / of_others.len().max(1) as f64;
    Some((of_known + others * part).clamp(LEAST, 1.0 - LEAST))
}

/// Evaluates the predicate on the values.
fn passing<'v>(
    predicate: &Arc<dyn PhysicalExpr>,
    ty: DataType,
    values: impl Iterator<Item = &'v Datum>,
) -> Option<Vec<bool>> {
    let scalars: Vec<ScalarValue> = values.map(|value| datum_to_scalar(&ty, value)).collect::<Result<_, _>>().ok()?;
    if scalars.is_empty() {
        return None;
    }
    let column = ScalarValue::iter_to_array(scalars).ok()?;
    let schema = Schema::new(vec![Field::new("value", arrow_type(&ty), true)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![column]).ok()?;
    let mask = predicate.evaluate(&batch).ok()?.into_array(batch.num_rows()).ok()?;
    let mask = mask.as_boolean_opt()?;
    Some(mask.iter().map(|passes| passes == Some(true)).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use catalog::{CommonValue, Value};
    use datafusion::common::DFSchema;
    use datafusion::execution::context::ExecutionProps;
    use datafusion::logical_expr::{ColumnarValue, Expr, Volatility, create_udf};
    use datafusion::physical_expr::create_physical_expr;
    use datafusion::prelude::{col, lit};

    fn values(common: &[(i32, f64)], bounds: impl Iterator<Item = i32>) -> ValueStatistics {
        let common =
            common.iter().map(|(value, share)| CommonValue { value: Value(Datum::Int4(*value)), share: *share });
        ValueStatistics {
            null_fraction: 0.1,
            common: common.collect(),
            bounds: bounds.map(|bound| Value(Datum::Int4(bound))).collect(),
            ..ValueStatistics::default()
        }
    }

    fn share_of(predicate: &Expr, values: &ValueStatistics) -> Option<f64> {
        let schema = Schema::new(vec![Field::new("a", arrow_type(&DataType::Integer), true)]);
        let schema = DFSchema::try_from(schema).unwrap();
        let expr = create_physical_expr(predicate, &schema, &ExecutionProps::new(), &Default::default()).unwrap();
        share(&expr, DataType::Integer, values)
    }

    fn share_of_even(values: &ValueStatistics) -> Option<f64> {
        share_of(&(col("a") % lit(2)).eq(lit(0)), values)
    }

    #[test]
    fn common_values_count_with_their_share_and_bounds_stand_for_the_others() {
        let all_common = values(&[(2, 0.3), (3, 0.6)], std::iter::empty());
        assert!((share_of_even(&all_common).unwrap() - 0.3).abs() < 1e-9);
        let others = values(&[(2, 0.3)], (0..100).map(|bound| bound * 2 + i32::from(bound < 25)));
        assert!((share_of_even(&others).unwrap() - (0.3 + 0.6 * 0.75)).abs() < 1e-9);
        let none = values(&[], (0..100).map(|bound| bound * 2 + 1));
        assert!((share_of_even(&none).unwrap() - LEAST).abs() < 1e-9);
    }

    #[test]
    fn too_few_values_say_nothing() {
        assert_eq!(share_of_even(&values(&[], 0..5)), None);
        assert_eq!(share_of_even(&values(&[], std::iter::empty())), None);
    }

    #[test]
    fn a_predicate_that_fails_or_is_not_the_same_twice_says_nothing() {
        let values = values(&[], 0..100);
        assert_eq!(share_of(&(lit(1) / col("a")).gt(lit(0)), &values), None);
        let seven = |_: &[ColumnarValue]| Ok(ColumnarValue::Scalar(ScalarValue::Int32(Some(7))));
        let drawn =
            create_udf("drawn", Vec::new(), arrow_type(&DataType::Integer), Volatility::Volatile, Arc::new(seven));
        assert_eq!(share_of(&(col("a") + drawn.call(Vec::new())).gt(lit(0)), &values), None);
    }
}
