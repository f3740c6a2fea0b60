//! `pg_sleep(seconds)` and the like: they wait without a thread, so that a statement can be cancelled while it sleeps.

use crate::error::QueryError;
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Float64Type, IntervalMonthDayNanoType, IntervalUnit};
use datafusion::common::Result;
use datafusion::logical_expr::async_udf::{AsyncScalarUDF, AsyncScalarUDFImpl};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn all() -> Vec<ScalarUDF> {
    let interval = ArrowType::Interval(IntervalUnit::MonthDayNano);
    let both = [("pg_sleep", ArrowType::Float64), ("pg_sleep_for", interval)];
    both.into_iter()
        .map(|(name, takes)| {
            let signature = Signature::one_of(
                vec![TypeSignature::Exact(vec![takes.clone()]), TypeSignature::String(1)],
                Volatility::Volatile,
            );
            AsyncScalarUDF::new(Arc::new(Sleep { name, takes, signature })).into_scalar_udf()
        })
        .collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Sleep {
    name: &'static str,
    takes: ArrowType,
    signature: Signature,
}

impl ScalarUDFImpl for Sleep {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    /// PostgreSQL's result type is void, which prints as an empty text.
    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Utf8)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(QueryError::internal("a function that waits was called as one that does not").into())
    }
}

#[async_trait::async_trait]
impl AsyncScalarUDFImpl for Sleep {
    async fn invoke_async_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let lengths = match args.args.first() {
            Some(lengths) => cast(&lengths.to_array(args.number_rows)?, &self.takes)?,
            None => return Err(QueryError::internal(format!("{}() without its argument", self.name)).into()),
        };
        let mut slept = Vec::with_capacity(lengths.len());
        for row in 0..lengths.len() {
            let seconds = seconds(&lengths, row)?;
            if let Some(seconds) = seconds {
                tokio::time::sleep(length(seconds)).await;
            }
            slept.push(seconds.map(|_| ""));
        }
        Ok(ColumnarValue::Array(Arc::new(StringArray::from(slept)) as ArrayRef))
    }
}

fn seconds(lengths: &ArrayRef, row: usize) -> Result<Option<f64>> {
    if lengths.is_null(row) {
        return Ok(None);
    }
    if let Some(intervals) = lengths.as_primitive_opt::<IntervalMonthDayNanoType>() {
        let interval = intervals.value(row);
        let days = f64::from(interval.months) * 30.0 + f64::from(interval.days);
        return Ok(Some(days * 86_400.0 + interval.nanoseconds as f64 / 1e9));
    }
    Ok(Some(lengths.as_primitive::<Float64Type>().value(row)))
}

/// Limits the sleep to a year.
fn length(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.clamp(0.0, 31_536_000.0)).unwrap_or_default()
}
