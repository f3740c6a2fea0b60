//! `width_bucket`.

use super::{NUMERIC, numeric};
use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::array::forms::{Returns, of_array};
use crate::functions::array::items;
use crate::functions::sql::{Form, Overload, arguments, define, strict, wrong};
use types::DataType::{Double, Integer};
use types::{DataType, Datum, Decimal, compare};

/// Buckets of one width between bounds, or between the values of an array.
pub(super) fn width_bucket(types: &[DataType]) -> Option<Form> {
    match types {
        [_, DataType::Array(_)] => of_array(types, 1, Returns::Known(Integer), true, bucket_of_thresholds),
        _ => define("width_bucket", WIDTH_BUCKET).form(types),
    }
}

/// Returns the number of thresholds up to the value. They are sorted, or the result is undefined.
fn bucket_of_thresholds(args: &[Datum]) -> QueryResult<Datum> {
    let (Some(value), thresholds) = (args.first(), items(args, 1)?) else { return Err(wrong(args)) };
    if thresholds.iter().any(|item| matches!(item, Datum::Array(_))) {
        return Err(Refusal::Subscript.because("thresholds must be one-dimensional array"));
    }
    if thresholds.iter().any(Datum::is_null) {
        return Err(Refusal::Null.because("thresholds array must not contain NULLs"));
    }
    let below = thresholds.partition_point(|threshold| compare::compare(threshold, value).is_le());
    Ok(Datum::Int4(i32::try_from(below).unwrap_or(i32::MAX)))
}

const WIDTH_BUCKET: &[Overload] = &[
    strict(&[Double, Double, Double, Integer], Integer, |args| {
        arguments!(args, [Datum::Float8(value), Datum::Float8(low), Datum::Float8(high), Datum::Int4(count)]);
        if value.is_nan() || low.is_nan() || high.is_nan() {
            return Err(Refusal::Buckets.because("operand, lower bound, and upper bound cannot be NaN"));
        }
        if !low.is_finite() || !high.is_finite() {
            return Err(Refusal::Buckets.because("lower and upper bounds must be finite"));
        }
        check_buckets(*count, low == high)?;
        let (share, reversed) = ((value - low) / (high - low), high < low);
        let below = if reversed { value > low } else { value < low };
        let above = if reversed { value <= high } else { value >= high };
        bucket(below, above, (share * f64::from(*count)).floor() as i64, *count)
    }),
    strict(&[NUMERIC, NUMERIC, NUMERIC, Integer], Integer, |args| {
        arguments!(args, [Datum::Numeric(value), Datum::Numeric(low), Datum::Numeric(high), Datum::Int4(count)]);
        check_buckets(*count, low == high)?;
        let reversed = high < low;
        let below = if reversed { value > low } else { value < low };
        let above = if reversed { value <= high } else { value >= high };
        let scale = value.scale.max(low.scale).max(high.scale);
        let at = |number: &Decimal| number.rescale(scale).map(|number| number.unscaled).ok_or_else(numeric::overflow);
        let (value, low, high) = (at(value)?, at(low)?, at(high)?);
        let (from, width) = (value.checked_sub(low), high.checked_sub(low));
        let scaled = from.and_then(|from| from.checked_mul(i128::from(*count)));
        let (Some(scaled), Some(width)) = (scaled, width) else { return Err(numeric::overflow()) };
        bucket(below, above, (scaled / width) as i64, *count)
    }),
];

fn check_buckets(count: i32, equal: bool) -> QueryResult<()> {
    if count <= 0 {
        return Err(Refusal::Buckets.because("count must be greater than zero"));
    }
    if equal {
        return Err(Refusal::Buckets.because("lower bound cannot equal upper bound"));
    }
    Ok(())
}

fn bucket(below: bool, above: bool, inside: i64, count: i32) -> QueryResult<Datum> {
    let number = match (below, above) {
        (true, _) => 0,
        (_, true) => i64::from(count) + 1,
        _ => inside.clamp(0, i64::from(count) - 1) + 1,
    };
    i32::try_from(number).map(Datum::Int4).map_err(|_| QueryError::OutOfRange { what: "integer".to_owned() })
}
