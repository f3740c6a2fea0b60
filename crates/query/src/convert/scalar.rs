//! Converts one value: [`Datum`] to DataFusion's [`ScalarValue`] and back.

use crate::convert::array_column::column_of_arrays;
use crate::convert::arrow_type::{NUMERIC_PRECISION, NUMERIC_SCALE, answer_schema, arrow_type, sql_type};
use crate::error::{QueryError, QueryResult};
use crate::functions::dimensions;
use arrow::array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, ListArray, StringArray, cast::AsArray,
};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type,
    Int16Type, Int32Type, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, Time64MicrosecondType,
    TimestampMicrosecondType, i256,
};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{DataFusionError, ScalarValue};
use std::sync::Arc;
use types::{DataType, Datum, Decimal, Interval, NUMERIC_MAX_SCALE};

/// Converts a value of type `ty` to a scalar, without a cast.
///
/// # Errors
/// [`QueryError::Internal`] for a value of another type; [`QueryError::OutOfRange`].
pub fn datum_to_scalar(ty: &DataType, value: &Datum) -> QueryResult<ScalarValue> {
    Ok(match (ty, value) {
        (_, Datum::Null) => ScalarValue::try_from(&arrow_type(ty)).map_err(QueryError::from)?,
        (DataType::Boolean, Datum::Bool(value)) => ScalarValue::Boolean(Some(*value)),
        (DataType::SmallInt, Datum::Int2(value)) => ScalarValue::Int16(Some(*value)),
        (DataType::Integer, Datum::Int4(value)) => ScalarValue::Int32(Some(*value)),
        (DataType::BigInt | DataType::Oid, Datum::Int8(value)) => ScalarValue::Int64(Some(*value)),
        (DataType::Real, Datum::Float4(value)) => ScalarValue::Float32(Some(*value)),
        (DataType::Double, Datum::Float8(value)) => ScalarValue::Float64(Some(*value)),
        (DataType::Numeric(Some((precision, scale))), Datum::Numeric(value)) => {
            let at_scale = value.rescale(*scale).filter(|value| value.fits_precision(*precision));
            let unscaled = at_scale.ok_or_else(|| out_of_range(ty))?.unscaled;
            ScalarValue::Decimal128(Some(unscaled), *precision, *scale as i8)
        }
        (DataType::Numeric(None), Datum::Numeric(value)) => {
            let wide = numeric_to_i256(value).ok_or_else(|| out_of_range(ty))?;
            ScalarValue::Decimal256(Some(wide), NUMERIC_PRECISION, NUMERIC_SCALE)
        }
        (DataType::Json, Datum::Text(value)) => ScalarValue::Utf8(Some(value.clone())),
        (ty, Datum::Text(value)) if ty.is_text() => ScalarValue::Utf8(Some(value.clone())),
        (ty, Datum::Bytes(value)) if ty.is_bytes() => ScalarValue::Binary(Some(value.clone())),
        (DataType::Date, Datum::Date(value)) => ScalarValue::Date32(Some(*value)),
        (DataType::Time(_), Datum::Time(value)) => ScalarValue::Time64Microsecond(Some(*value)),
        (DataType::Timestamp(_), Datum::Timestamp(value)) => ScalarValue::TimestampMicrosecond(Some(*value), None),
        (DataType::TimestampTz(_), Datum::TimestampTz(value)) => {
            ScalarValue::TimestampMicrosecond(Some(*value), Some("UTC".into()))
        }
        (DataType::Uuid, Datum::Uuid(value)) => ScalarValue::FixedSizeBinary(16, Some(value.to_vec())),
        (DataType::Interval | DataType::LimitedInterval(_), Datum::Interval(value)) => {
            ScalarValue::IntervalMonthDayNano(Some(interval_to_arrow(*value)?))
        }
        (DataType::Array(_), Datum::Array(items)) => list_scalar(ty, items)?,
        (DataType::LimitedArray(_), Datum::Array(_)) => {
            ScalarValue::try_from_array(&column_of_arrays(ty, vec![value.clone()])?, 0)?
        }
        (ty, value) => {
            return Err(QueryError::internal(format!("a value of type {} where {ty} was expected", value.kind_name())));
        }
    })
}

/// Converts an array; an array of several dimensions is a list of lists.
fn list_scalar(ty: &DataType, items: &[Datum]) -> QueryResult<ScalarValue> {
    let nested = items.iter().any(|item| matches!(item, Datum::Array(_)));
    let ty = ty.item().filter(|_| !nested).unwrap_or(*ty);
    let scalars: Vec<ScalarValue> = items.iter().map(|item| datum_to_scalar(&ty, item)).collect::<QueryResult<_>>()?;
    let item_type = scalars.first().map_or_else(|| arrow_type(&ty), ScalarValue::data_type);
    Ok(ScalarValue::List(ScalarValue::new_list(&scalars, &item_type, true)))
}

/// Casts arrays to the dimensions of the deepest: arrays without items, and NULLs, have one dimension.
fn of_one_depth(scalars: Vec<ScalarValue>) -> QueryResult<Vec<ScalarValue>> {
    let deepest = scalars.iter().map(ScalarValue::data_type).max_by_key(dimensions);
    let Some(deepest) = deepest.filter(|ty| dimensions(ty) > 1) else { return Ok(scalars) };
    let deep = |scalar: ScalarValue| match scalar.data_type() == deepest {
        true => Ok(scalar),
        false => Ok(scalar.cast_to(&deepest)?),
    };
    scalars.into_iter().map(deep).collect()
}

/// Converts an interval to Arrow, where its time is in nanoseconds.
///
/// # Errors
/// [`QueryError::IntervalRange`] for a time of more than 292 years.
pub(crate) fn interval_to_arrow(value: Interval) -> QueryResult<IntervalMonthDayNano> {
    let nanos = value.micros.checked_mul(1_000).ok_or(QueryError::IntervalRange)?;
    Ok(IntervalMonthDayNano::new(value.months, value.days, nanos))
}

fn interval_from_arrow(value: IntervalMonthDayNano) -> Datum {
    Datum::Interval(Interval { months: value.months, days: value.days, micros: value.nanoseconds / 1_000 })
}

/// Returns the unscaled integer of a `numeric` without precision in its Arrow type.
pub(crate) fn numeric_to_i256(value: &Decimal) -> Option<i256> {
    let up = NUMERIC_MAX_SCALE.checked_sub(value.scale)?;
    let factor = types::decimal::power_of_ten(up)?;
    i256::from_i128(value.unscaled).checked_mul(i256::from_i128(factor))
}

/// Returns `unscaled / 10^scale` as a numeric without trailing zeros; `None` for more than 38 digits.
pub(crate) fn numeric_from_i256(mut unscaled: i256, mut scale: i8) -> Option<Decimal> {
    let ten = i256::from_i128(10);
    while scale < 0 {
        unscaled = unscaled.checked_mul(ten)?;
        scale += 1;
    }
    while scale > 0 && (scale > NUMERIC_SCALE || unscaled.checked_rem(ten)? == i256::ZERO) {
        unscaled = unscaled.checked_div(ten)?;
        scale -= 1;
    }
    Decimal::new(unscaled.to_i128()?, u8::try_from(scale).ok()?)
}

/// Converts a scalar to a value of its own SQL type.
///
/// # Errors
/// [`QueryError::Unsupported`] for structs and the like; [`QueryError::OutOfRange`].
pub fn scalar_to_datum(scalar: &ScalarValue) -> QueryResult<Datum> {
    Ok(match scalar {
        scalar if scalar.is_null() => Datum::Null,
        ScalarValue::Boolean(Some(value)) => Datum::Bool(*value),
        ScalarValue::Int8(Some(value)) => Datum::Int2(i16::from(*value)),
        ScalarValue::UInt8(Some(value)) => Datum::Int2(i16::from(*value)),
        ScalarValue::Int16(Some(value)) => Datum::Int2(*value),
        ScalarValue::UInt16(Some(value)) => Datum::Int4(i32::from(*value)),
        ScalarValue::Int32(Some(value)) => Datum::Int4(*value),
        ScalarValue::UInt32(Some(value)) => Datum::Int8(i64::from(*value)),
        ScalarValue::Int64(Some(value)) => Datum::Int8(*value),
        ScalarValue::UInt64(Some(value)) => {
            Datum::Int8(i64::try_from(*value).map_err(|_| out_of_range(&DataType::BigInt))?)
        }
        ScalarValue::Float32(Some(value)) => Datum::Float4(*value),
        ScalarValue::Float64(Some(value)) => Datum::Float8(*value),
        ScalarValue::Decimal32(Some(value), _, scale) => decimal(i256::from_i128(i128::from(*value)), *scale)?,
        ScalarValue::Decimal64(Some(value), _, scale) => decimal(i256::from_i128(i128::from(*value)), *scale)?,
        ScalarValue::Decimal128(Some(value), _, scale) => {
            match u8::try_from(*scale).ok().and_then(|scale| Decimal::new(*value, scale)) {
                Some(value) => Datum::Numeric(value),
                None => decimal(i256::from_i128(*value), *scale)?,
            }
        }
        ScalarValue::Decimal256(Some(value), _, scale) => decimal(*value, *scale)?,
        ScalarValue::Utf8(Some(value)) | ScalarValue::LargeUtf8(Some(value)) | ScalarValue::Utf8View(Some(value)) => {
            Datum::Text(value.clone())
        }
        ScalarValue::FixedSizeBinary(16, Some(value)) => match value.as_slice().try_into() {
            Ok(uuid) => Datum::Uuid(uuid),
            Err(_) => Datum::Bytes(value.clone()),
        },
        ScalarValue::Binary(Some(value))
        | ScalarValue::LargeBinary(Some(value))
        | ScalarValue::BinaryView(Some(value))
        | ScalarValue::FixedSizeBinary(_, Some(value)) => Datum::Bytes(value.clone()),
        ScalarValue::Date32(Some(value)) => Datum::Date(*value),
        ScalarValue::Time64Microsecond(Some(value)) => Datum::Time(*value),
        ScalarValue::Time64Nanosecond(Some(value)) => Datum::Time(*value / 1_000),
        ScalarValue::TimestampSecond(Some(value), zone) => timestamp(value.checked_mul(1_000_000), zone.is_some())?,
        ScalarValue::TimestampMillisecond(Some(value), zone) => timestamp(value.checked_mul(1_000), zone.is_some())?,
        ScalarValue::TimestampMicrosecond(Some(value), zone) => timestamp(Some(*value), zone.is_some())?,
        ScalarValue::TimestampNanosecond(Some(value), zone) => {
            timestamp(Some(value.div_euclid(1_000)), zone.is_some())?
        }
        ScalarValue::Dictionary(_, value) => scalar_to_datum(value)?,
        ScalarValue::IntervalMonthDayNano(Some(value)) => interval_from_arrow(*value),
        ScalarValue::IntervalYearMonth(Some(months)) => {
            Datum::Interval(Interval { months: *months, days: 0, micros: 0 })
        }
        ScalarValue::IntervalDayTime(Some(value)) => {
            let micros = i64::from(value.milliseconds) * 1_000;
            Datum::Interval(Interval { months: 0, days: value.days, micros })
        }
        ScalarValue::List(list) => {
            let items = list.value(0);
            let items = (0..items.len()).map(|at| scalar_to_datum(&ScalarValue::try_from_array(&items, at)?));
            Datum::Array(items.collect::<QueryResult<_>>()?)
        }
        other => return Err(QueryError::Unsupported { feature: format!("a value of type {}", other.data_type()) }),
    })
}

fn decimal(unscaled: i256, scale: i8) -> QueryResult<Datum> {
    numeric_from_i256(unscaled, scale).map(Datum::Numeric).ok_or_else(|| out_of_range(&DataType::Numeric(None)))
}

fn timestamp(micros: Option<i64>, zoned: bool) -> QueryResult<Datum> {
    let micros = micros.ok_or_else(|| out_of_range(&DataType::Timestamp(None)))?;
    Ok(if zoned { Datum::TimestampTz(micros) } else { Datum::Timestamp(micros) })
}

fn out_of_range(ty: &DataType) -> QueryError {
    QueryError::OutOfRange { what: ty.base_name().to_owned() }
}

/// Builds a column of values of one type.
///
/// # Errors
/// As [`datum_to_scalar`].
pub(crate) fn datums_to_array(ty: &DataType, values: Vec<Datum>) -> QueryResult<ArrayRef> {
    macro_rules! primitive {
        ($array:ty, $kind:path) => {
            Arc::new(
                values
                    .iter()
                    .map(|value| match value {
                        $kind(value) => Some(*value),
                        _ => None,
                    })
                    .collect::<$array>(),
            )
        };
    }
    // The common types are converted directly, others by way of scalars.
    Ok(match ty {
        DataType::Boolean => primitive!(BooleanArray, Datum::Bool),
        DataType::Integer => primitive!(Int32Array, Datum::Int4),
        DataType::BigInt | DataType::Oid => primitive!(Int64Array, Datum::Int8),
        DataType::Double => primitive!(Float64Array, Datum::Float8),
        DataType::Text | DataType::Varchar(_) => {
            let texts = values.into_iter().map(|value| match value {
                Datum::Text(text) => Some(text),
                _ => None,
            });
            Arc::new(texts.collect::<StringArray>())
        }
        DataType::LimitedArray(_) => column_of_arrays(ty, values)?,
        ty if values.is_empty() => arrow::array::new_empty_array(&arrow_type(ty)),
        ty => {
            let scalars = values.iter().map(|value| datum_to_scalar(ty, value));
            ScalarValue::iter_to_array(of_one_depth(scalars.collect::<QueryResult<Vec<_>>>()?)?)?
        }
    })
}

/// Builds a batch of rows of values; its fields have the given names and SQL types.
///
/// # Errors
/// As [`datum_to_scalar`].
pub fn rows_to_batch(columns: &[(&str, &DataType)], rows: &[Vec<Datum>]) -> QueryResult<RecordBatch> {
    let mut arrays = Vec::with_capacity(columns.len());
    for (at, (_, ty)) in columns.iter().enumerate() {
        let values = rows.iter().map(|row| row.get(at).cloned().unwrap_or(Datum::Null));
        arrays.push(datums_to_array(ty, values.collect())?);
    }
    let schema = answer_schema(columns.iter().copied());
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    Ok(RecordBatch::try_new_with_options(schema, arrays, &options).map_err(DataFusionError::from)?)
}

/// Returns all rows of a batch whose columns have the Arrow types of `types`.
///
/// # Errors
/// [`QueryError::Internal`] for a column of another Arrow type.
pub fn batch_to_rows(batch: &RecordBatch, types: &[DataType]) -> QueryResult<Vec<Vec<Datum>>> {
    let mut rows: Vec<Vec<Datum>> = (0..batch.num_rows()).map(|_| Vec::with_capacity(types.len())).collect();
    for (ty, array) in types.iter().zip(batch.columns()) {
        let value = column_reader(ty, array)?;
        for (row, out) in rows.iter_mut().enumerate() {
            out.push(if array.is_null(row) { Datum::Null } else { value(row)? });
        }
    }
    Ok(rows)
}

pub(crate) type ValueReader<'a> = Box<dyn Fn(usize) -> QueryResult<Datum> + 'a>;

/// Returns a reader of the values of one column that are not NULL.
pub(crate) fn column_reader<'a>(ty: &DataType, array: &'a dyn Array) -> QueryResult<ValueReader<'a>> {
    if let (Some(_), Some(lists)) = (ty.item(), array.as_list_opt::<i32>()) {
        return list_reader(lists);
    }
    if array.data_type() != &arrow_type(ty) {
        if array.data_type() == &ArrowType::Null {
            return Ok(Box::new(|_| Ok(Datum::Null)));
        }
        if matches!(array.data_type(), ArrowType::Struct(_)) {
            return Err(QueryError::Unsupported { feature: "a row as a value of an expression".to_owned() });
        }
        return Err(QueryError::internal(format!("a column of {} where {ty} was expected", array.data_type())));
    }
    Ok(match ty {
        DataType::Interval | DataType::LimitedInterval(_) => {
            let array = array.as_primitive::<IntervalMonthDayNanoType>();
            Box::new(move |row| Ok(interval_from_arrow(array.value(row))))
        }
        DataType::Array(_) | DataType::LimitedArray(_) => return Err(QueryError::internal("a list that is none")),
        DataType::Boolean => {
            let array = array.as_boolean();
            Box::new(move |row| Ok(Datum::Bool(array.value(row))))
        }
        DataType::SmallInt => primitive::<Int16Type>(array, Datum::Int2),
        DataType::Integer => primitive::<Int32Type>(array, Datum::Int4),
        DataType::BigInt | DataType::Oid => primitive::<Int64Type>(array, Datum::Int8),
        DataType::Real => primitive::<Float32Type>(array, Datum::Float4),
        DataType::Double => primitive::<Float64Type>(array, Datum::Float8),
        DataType::Date => primitive::<Date32Type>(array, Datum::Date),
        DataType::Time(_) => primitive::<Time64MicrosecondType>(array, Datum::Time),
        DataType::Timestamp(_) => primitive::<TimestampMicrosecondType>(array, Datum::Timestamp),
        DataType::TimestampTz(_) => primitive::<TimestampMicrosecondType>(array, Datum::TimestampTz),
        DataType::Numeric(Some((_, scale))) => {
            let (array, scale) = (array.as_primitive::<Decimal128Type>(), *scale);
            Box::new(move |row| {
                let value = Decimal::new(array.value(row), scale);
                value.map(Datum::Numeric).ok_or_else(|| out_of_range(&DataType::Numeric(None)))
            })
        }
        DataType::Numeric(None) => {
            let array = array.as_primitive::<Decimal256Type>();
            Box::new(move |row| decimal(array.value(row), NUMERIC_SCALE))
        }
        DataType::Text | DataType::Varchar(_) | DataType::Char(_) | DataType::Json => {
            let array = array.as_string::<i32>();
            Box::new(move |row| Ok(Datum::Text(array.value(row).to_owned())))
        }
        DataType::Bytea | DataType::Varbinary(_) | DataType::Binary(_) => {
            let array = array.as_binary::<i32>();
            Box::new(move |row| Ok(Datum::Bytes(array.value(row).to_vec())))
        }
        DataType::Uuid => {
            let array = array.as_fixed_size_binary();
            Box::new(move |row| {
                let bytes = array.value(row).try_into();
                bytes.map(Datum::Uuid).map_err(|_| QueryError::internal("a uuid that has not 16 bytes"))
            })
        }
    })
}

/// Returns a reader of lists of any depth.
fn list_reader(lists: &ListArray) -> QueryResult<ValueReader<'_>> {
    let unreadable = || QueryError::internal(format!("an array of {}", lists.value_type()));
    let element = sql_type(&lists.value_type()).ok_or_else(unreadable)?;
    Ok(Box::new(move |row| {
        let items = lists.value(row);
        let read = column_reader(&element, &items)?;
        let item = |at| if items.is_null(at) { Ok(Datum::Null) } else { read(at) };
        Ok(Datum::Array((0..items.len()).map(item).collect::<QueryResult<_>>()?))
    }))
}

fn primitive<'a, T: ArrowPrimitiveType>(array: &'a dyn Array, kind: fn(T::Native) -> Datum) -> ValueReader<'a> {
    let array = array.as_primitive::<T>();
    Box::new(move |row| Ok(kind(array.value(row))))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_scale_come_back() {
        for text in ["0", "1.5", "-123456789012345678.00000000000000000001", "99999999999999999999999999999999999999"] {
            let Datum::Numeric(value) = types::text::parse(&DataType::Numeric(None), text).unwrap() else {
                unreachable!()
            };
            let scalar = datum_to_scalar(&DataType::Numeric(None), &Datum::Numeric(value)).unwrap();
            assert_eq!(scalar_to_datum(&scalar).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_numeric_cannot_hold_is_out_of_range() {
        let huge = ScalarValue::Decimal256(Some(i256::MAX), 76, 0);
        assert!(matches!(scalar_to_datum(&huge), Err(QueryError::OutOfRange { .. })));
    }
}
