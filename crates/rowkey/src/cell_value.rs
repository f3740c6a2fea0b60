//! Column values as bytes: the cells of a fragment, from which key parts are encoded, too.
//!
//! A type has a fixed width (`DataType::fixed_width`) or none. Fixed cells are order-preserving, so a store can compare
//! them as bytes without knowing types. Of the variable-width types, text and bytea are stored as they are, and
//! `numeric` without precision as in `decimal.rs`; whole cells of these also compare correctly as bytes. Cells of
//! intervals and arrays (`interval.rs`, `array.rs`) have no order, and are not used in keys.
//!
//! NULL has no cell: a fragment has a bit for it.

use crate::integer::Ordered;
use crate::{KeyError, array, decimal, float, interval, temporal};
use types::{DataType, Datum, Decimal};

/// Appends the cell of a type with a fixed width.
///
/// # Errors
/// [`KeyError::WrongType`] for NULL, a value of another type, a value outside the type's limits, and types without a
/// fixed width.
pub fn encode_fixed(ty: &DataType, value: &Datum, out: &mut Vec<u8>) -> Result<(), KeyError> {
    match (ty, value) {
        (DataType::Boolean, Datum::Bool(value)) => out.push(u8::from(*value)),
        (DataType::SmallInt, Datum::Int2(value)) => out.extend(value.to_ordered()),
        (DataType::Integer, Datum::Int4(value)) | (DataType::Date, Datum::Date(value)) => {
            out.extend(value.to_ordered());
        }
        (DataType::BigInt, Datum::Int8(value))
        | (DataType::Time(_), Datum::Time(value))
        | (DataType::Timestamp(_), Datum::Timestamp(value))
        | (DataType::TimestampTz(_), Datum::TimestampTz(value)) => out.extend(value.to_ordered()),
        (DataType::Real, Datum::Float4(value)) => out.extend(float::single_to_bytes(*value)),
        (DataType::Double, Datum::Float8(value)) => out.extend(float::double_to_bytes(*value)),
        (DataType::Numeric(Some((precision, scale))), Datum::Numeric(value)) => {
            return encode_numeric(ty, *precision, *scale, *value, out);
        }
        (DataType::Binary(length), Datum::Bytes(value)) if value.len() == *length as usize => {
            out.extend_from_slice(value);
        }
        (DataType::Uuid, Datum::Uuid(value)) => out.extend_from_slice(value),
        _ => return Err(wrong_type(ty, value)),
    }
    Ok(())
}

/// The unscaled integer at the column's scale, with the width of the precision.
fn encode_numeric(ty: &DataType, precision: u8, scale: u8, value: Decimal, out: &mut Vec<u8>) -> Result<(), KeyError> {
    let exact = value.scale <= scale || value.normalized().scale <= scale;
    let at_scale = value.rescale(scale).filter(|value| exact && value.fits_precision(precision));
    let unscaled = at_scale.ok_or_else(|| wrong_type(ty, &Datum::Numeric(value)))?.unscaled;
    match ty.fixed_width() {
        Some(4) => out.extend(i32::try_from(unscaled).unwrap_or_default().to_ordered()),
        Some(8) => out.extend(i64::try_from(unscaled).unwrap_or_default().to_ordered()),
        _ => out.extend(unscaled.to_ordered()),
    }
    Ok(())
}

/// Reads a cell of a type with a fixed width.
///
/// # Errors
/// [`KeyError::BadWidth`], and [`KeyError::BadValue`] for bytes that encode no value of the type.
pub fn decode_fixed(ty: &DataType, bytes: &[u8]) -> Result<Datum, KeyError> {
    let value = match ty {
        DataType::Boolean => match sized::<1>(ty, bytes)? {
            [0] => Some(Datum::Bool(false)),
            [1] => Some(Datum::Bool(true)),
            _ => None,
        },
        DataType::SmallInt => Some(Datum::Int2(i16::from_ordered(sized(ty, bytes)?))),
        DataType::Integer => Some(Datum::Int4(i32::from_ordered(sized(ty, bytes)?))),
        DataType::BigInt => Some(Datum::Int8(i64::from_ordered(sized(ty, bytes)?))),
        DataType::Real => float::single_from_bytes(sized(ty, bytes)?).map(Datum::Float4),
        DataType::Double => float::double_from_bytes(sized(ty, bytes)?).map(Datum::Float8),
        DataType::Date => temporal::date(sized(ty, bytes)?),
        DataType::Time(_) => temporal::micros(sized(ty, bytes)?, Datum::Time),
        DataType::Timestamp(_) => temporal::micros(sized(ty, bytes)?, Datum::Timestamp),
        DataType::TimestampTz(_) => temporal::micros(sized(ty, bytes)?, Datum::TimestampTz),
        DataType::Uuid => Some(Datum::Uuid(sized(ty, bytes)?)),
        DataType::Numeric(Some((precision, scale))) => {
            let unscaled = decode_unscaled(ty, bytes)?;
            Decimal::new(unscaled, *scale).filter(|value| value.fits_precision(*precision)).map(Datum::Numeric)
        }
        DataType::Binary(length) if bytes.len() == *length as usize => Some(Datum::Bytes(bytes.to_vec())),
        _ => return Err(bad_width(ty, bytes)),
    };
    value.ok_or_else(|| bad_value(ty))
}

/// The unscaled integer of a `numeric(p,s)` cell, for readers that do not need a [`Datum`].
///
/// # Errors
/// [`KeyError::BadWidth`].
pub fn decode_unscaled(ty: &DataType, bytes: &[u8]) -> Result<i128, KeyError> {
    Ok(match ty.fixed_width() {
        Some(4) => i128::from(i32::from_ordered(sized(ty, bytes)?)),
        Some(8) => i128::from(i64::from_ordered(sized(ty, bytes)?)),
        _ => i128::from_ordered(sized(ty, bytes)?),
    })
}

/// Appends the cell of a type without a fixed width.
///
/// # Errors
/// [`KeyError::WrongType`] for NULL, a value of another type, and types with a fixed width.
pub fn encode_variable(ty: &DataType, value: &Datum, out: &mut Vec<u8>) -> Result<(), KeyError> {
    match (ty, value) {
        (DataType::Text | DataType::Varchar(_), Datum::Text(text)) => out.extend_from_slice(text.as_bytes()),
        // Trailing blanks of a char(n) are insignificant, so equal values must not have different keys.
        (DataType::Char(_), Datum::Text(text)) => out.extend_from_slice(text.trim_end_matches(' ').as_bytes()),
        (DataType::Bytea | DataType::Varbinary(_), Datum::Bytes(bytes)) => out.extend_from_slice(bytes),
        (DataType::Numeric(None), Datum::Numeric(value)) => decimal::encode(*value, out),
        (DataType::Interval | DataType::LimitedInterval(_), Datum::Interval(value)) => {
            return interval::encode(*value, out);
        }
        (ty, Datum::Array(items)) => {
            let item = ty.item().ok_or_else(|| wrong_type(ty, value))?;
            return array::encode(ty, &item, items, out);
        }
        _ => return Err(wrong_type(ty, value)),
    }
    Ok(())
}

/// Reads a cell of a type without a fixed width.
///
/// # Errors
/// [`KeyError::BadValue`] for text that is not UTF-8 and for bytes that are not a valid number or array,
/// [`KeyError::BadWidth`] for types with a fixed width.
pub fn decode_variable(ty: &DataType, bytes: &[u8]) -> Result<Datum, KeyError> {
    match ty {
        DataType::Text | DataType::Varchar(_) | DataType::Char(_) => {
            std::str::from_utf8(bytes).map(|text| Datum::Text(text.to_owned())).map_err(|_| bad_value(ty))
        }
        DataType::Bytea | DataType::Varbinary(_) => Ok(Datum::Bytes(bytes.to_vec())),
        DataType::Numeric(None) => decimal::decode(bytes).map(Datum::Numeric),
        DataType::Interval | DataType::LimitedInterval(_) => interval::decode(bytes).map(Datum::Interval),
        DataType::Array(_) | DataType::LimitedArray(_) => {
            let item = ty.item().ok_or_else(|| bad_value(ty))?;
            array::decode(ty, &item, bytes).map(Datum::Array)
        }
        _ => Err(bad_width(ty, bytes)),
    }
}

/// Calls [`encode_fixed`] or [`encode_variable`], depending on the type.
///
/// # Errors
/// As [`encode_fixed`] and [`encode_variable`].
pub fn encode(ty: &DataType, value: &Datum, out: &mut Vec<u8>) -> Result<(), KeyError> {
    match ty.fixed_width() {
        Some(_) => encode_fixed(ty, value, out),
        None => encode_variable(ty, value, out),
    }
}

/// Calls [`decode_fixed`] or [`decode_variable`], depending on the type.
///
/// # Errors
/// As [`decode_fixed`] and [`decode_variable`].
pub fn decode(ty: &DataType, bytes: &[u8]) -> Result<Datum, KeyError> {
    match ty.fixed_width() {
        Some(_) => decode_fixed(ty, bytes),
        None => decode_variable(ty, bytes),
    }
}

fn sized<const N: usize>(ty: &DataType, bytes: &[u8]) -> Result<[u8; N], KeyError> {
    bytes.try_into().map_err(|_| bad_width(ty, bytes))
}

fn wrong_type(ty: &DataType, value: &Datum) -> KeyError {
    KeyError::WrongType { ty: ty.sql_name(), found: value.kind_name().to_owned() }
}

fn bad_value(ty: &DataType) -> KeyError {
    KeyError::BadValue { offset: 0, ty: ty.sql_name() }
}

fn bad_width(ty: &DataType, bytes: &[u8]) -> KeyError {
    KeyError::BadWidth { ty: ty.sql_name(), expected: ty.fixed_width().unwrap_or(0), found: bytes.len() }
}
