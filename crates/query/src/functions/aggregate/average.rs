//! `avg` as `sum / count`, with PostgreSQL's result types. The sum and the count can be shared with other aggregates.

use crate::convert::scalar::{column_reader, datums_to_array};
use crate::convert::{arrow_type, sql_type};
use crate::error::QueryError;
use crate::functions::number::numeric;
use arrow::array::{Array, ArrayRef, Float64Array, cast::AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Float64Type, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::{Arc, LazyLock};
use types::{DataType, Datum};

/// Returns the average as the quotient of two aggregates.
pub(crate) fn average_of(sum: Expr, count: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&AVERAGE), vec![sum, count]))
}

pub(in crate::functions) fn all() -> Vec<ScalarUDF> {
    vec![AVERAGE.as_ref().clone()]
}

static AVERAGE: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
    Arc::new(ScalarUDF::new_from_impl(Average { signature: Signature::any(2, Volatility::Immutable) }))
});

#[derive(Debug, PartialEq, Eq, Hash)]
struct Average {
    signature: Signature,
}

impl ScalarUDFImpl for Average {
    fn name(&self) -> &str {
        "average_of_sum"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        match args.first() {
            Some(ArrowType::Float16 | ArrowType::Float32 | ArrowType::Float64) => Ok(ArrowType::Float64),
            Some(ty) if ty.is_integer() || ty.is_decimal() || ty.is_null() => Ok(arrow_type(&DataType::Numeric(None))),
            Some(ty @ ArrowType::Interval(_)) => Ok(ty.clone()),
            Some(ty) => Err(QueryError::internal(format!("avg of {ty}")).into()),
            None => Err(QueryError::internal("avg without its sum").into()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [sums, counts] = arrays.as_slice() else {
            return Err(QueryError::internal("avg takes a sum and a count").into());
        };
        let averages: ArrayRef = match args.return_field.data_type() {
            ArrowType::Float64 => float_averages(sums, counts)?,
            ArrowType::Interval(_) => interval_averages(sums, counts)?,
            _ => numeric_averages(sums, counts)?,
        };
        Ok(ColumnarValue::Array(averages))
    }
}

fn float_averages(sums: &ArrayRef, counts: &ArrayRef) -> Result<ArrayRef> {
    let sums = cast(sums, &ArrowType::Float64)?;
    let counts = cast(counts, &ArrowType::Int64)?;
    let pairs = sums.as_primitive::<Float64Type>().iter().zip(counts.as_primitive::<Int64Type>());
    let average = |(sum, count): (Option<f64>, Option<i64>)| match (sum, count) {
        // Clears the sign of NaN: see `checked`.
        (Some(sum), Some(_)) if sum.is_nan() => Some(f64::NAN),
        (Some(sum), Some(count)) if count > 0 => Some(sum / count as f64),
        _ => None,
    };
    Ok(Arc::new(pairs.map(average).collect::<Float64Array>()))
}

fn interval_averages(sums: &ArrayRef, counts: &ArrayRef) -> Result<ArrayRef> {
    let counts = cast(counts, &ArrowType::Int64)?;
    let read = column_reader(&DataType::Interval, sums.as_ref())?;
    let mut averages = Vec::with_capacity(sums.len());
    for (row, count) in counts.as_primitive::<Int64Type>().iter().enumerate() {
        averages.push(match count {
            Some(count) if count > 0 && sums.is_valid(row) => match read(row)? {
                Datum::Interval(sum) => {
                    Datum::Interval(sum.checked_div(count as f64).ok_or(QueryError::IntervalRange)?)
                }
                _ => Datum::Null,
            },
            _ => Datum::Null,
        });
    }
    Ok(datums_to_array(&DataType::Interval, averages)?)
}

/// Rounds to as many digits as PostgreSQL's numeric division.
fn numeric_averages(sums: &ArrayRef, counts: &ArrayRef) -> Result<ArrayRef> {
    let own = match sums.data_type() {
        ArrowType::Decimal128(..) => sql_type(sums.data_type()),
        _ => None,
    };
    let ty = own.unwrap_or(DataType::Numeric(None));
    let sums = cast(sums, &arrow_type(&ty))?;
    let counts = cast(counts, &ArrowType::Int64)?;
    let read = column_reader(&ty, sums.as_ref())?;
    let mut averages = Vec::with_capacity(sums.len());
    for (row, count) in counts.as_primitive::<Int64Type>().iter().enumerate() {
        averages.push(match count {
            Some(count) if count > 0 && sums.is_valid(row) => match read(row)? {
                Datum::Numeric(sum) => Datum::Numeric(numeric::quotient(sum, count.into())?),
                _ => Datum::Null,
            },
            _ => Datum::Null,
        });
    }
    Ok(datums_to_array(&DataType::Numeric(None), averages)?)
}
