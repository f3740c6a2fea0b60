//! Assignment casts, with PostgreSQL's rules.
//!
//! Numbers are assigned to any numeric type that holds them: numeric to integer rounds half away from zero, float to
//! integer rounds half to even, `numeric(p,s)` and `timestamp(n)` round to their digits, and a value that does not fit
//! is an error. Any value can be assigned to a text column, as its text; a text can only be assigned to a text column
//! (callers that want it parsed use `text::parse`).

use crate::decimal::Literal;
use crate::temporal::{self, DAY};
use crate::{DataType, Datum, Decimal, Interval, NUMERIC_MAX_SCALE, TypeError, text};

/// Converts a value for a column of type `ty`.
///
/// # Errors
/// [`TypeError::NoCast`] between incompatible types, [`TypeError::OutOfRange`], [`TypeError::NumericOverflow`] and
/// [`TypeError::TooLong`] if it does not fit, [`TypeError::InvalidEncoding`] for text with a zero byte.
pub fn assign(ty: &DataType, value: Datum) -> Result<Datum, TypeError> {
    if value.is_null() {
        return Ok(Datum::Null);
    }
    let assigned = match ty {
        DataType::SmallInt => to_integer(ty, &value)?.map(Datum::Int2),
        DataType::Integer => to_integer(ty, &value)?.map(Datum::Int4),
        DataType::BigInt => to_integer(ty, &value)?.map(Datum::Int8),
        DataType::Oid => match value {
            // A negative integer is the oid with the same bits.
            Datum::Int2(integer) => Some(Datum::Int8(i64::from(i32::from(integer).cast_unsigned()))),
            Datum::Int4(integer) => Some(Datum::Int8(i64::from(integer.cast_unsigned()))),
            ref value => to_integer::<u32>(ty, value)?.map(|oid| Datum::Int8(i64::from(oid))),
        },
        DataType::Real => to_float4(&value)?.map(Datum::Float4),
        DataType::Double => to_float8(&value).map(Datum::Float8),
        DataType::Numeric(parameters) => to_numeric(*parameters, &value)?.map(Datum::Numeric),
        DataType::Text | DataType::Varchar(_) | DataType::Char(_) => return to_text(ty, value),
        DataType::Bytea | DataType::Varbinary(_) | DataType::Binary(_) => return to_bytes(ty, value),
        DataType::Boolean => matches!(value, Datum::Bool(_)).then(|| value.clone()),
        // The parser has checked the text.
        DataType::Json => match value {
            Datum::Text(ref json) => {
                text::check_zero_byte(json)?;
                Some(value.clone())
            }
            _ => None,
        },
        DataType::Uuid => matches!(value, Datum::Uuid(_)).then(|| value.clone()),
        DataType::Interval => match value {
            Datum::Time(micros) => Some(Datum::Interval(Interval { months: 0, days: 0, micros })),
            ref value => matches!(value, Datum::Interval(_)).then(|| value.clone()),
        },
        DataType::LimitedInterval(fields) => match assign(&DataType::Interval, value)? {
            Datum::Interval(value) => return Ok(Datum::Interval(fields.limit(value))),
            other => return Ok(other),
        },
        DataType::Array(_) | DataType::LimitedArray(_) => return to_array(ty, value),
        DataType::Date | DataType::Time(_) | DataType::Timestamp(_) | DataType::TimestampTz(_) => {
            to_temporal(ty, &value)?
        }
    };
    assigned.ok_or_else(|| no_cast(ty, &value))
}

/// Casts explicitly: truncates the value to the type's limit, where an assignment is an error: `'abc'::varchar(2)` is
/// `ab`. Otherwise equal to [`assign`].
///
/// # Errors
/// As [`assign`], without [`TypeError::TooLong`] for text and `varbinary`.
pub fn cast(ty: &DataType, value: Datum) -> Result<Datum, TypeError> {
    let value = match (ty, value) {
        (DataType::Varchar(Some(_)) | DataType::Char(_), value) if !matches!(value, Datum::Text(_) | Datum::Null) => {
            return cast(ty, to_text(&DataType::Text, value)?);
        }
        (DataType::Varchar(Some(limit)) | DataType::Char(limit), Datum::Text(text)) => {
            Datum::Text(text.chars().take(*limit as usize).collect())
        }
        (DataType::Varbinary(limit) | DataType::Binary(limit), Datum::Bytes(mut bytes)) => {
            bytes.truncate(*limit as usize);
            Datum::Bytes(bytes)
        }
        (_, value) => value,
    };
    assign(ty, value)
}

/// Converts a number to `numeric` with these parameters: rounded to the scale, or exact without trailing zeros.
///
/// # Errors
/// [`TypeError::NumericOverflow`] or [`TypeError::TextOutOfRange`].
pub fn fit_numeric(parameters: Option<(u8, u8)>, value: Decimal) -> Result<Decimal, TypeError> {
    match parameters {
        Some((precision, scale)) => value
            .rescale(scale)
            .filter(|rounded| rounded.fits_precision(precision))
            .ok_or_else(|| TypeError::NumericOverflow { value: value.to_string(), precision, scale }),
        None => Some(value.normalized())
            .filter(|plain| plain.scale <= NUMERIC_MAX_SCALE && plain.fits_precision(38))
            .ok_or_else(|| TypeError::TextOutOfRange { ty: "numeric".to_owned(), input: value.to_string() }),
    }
}

fn to_array(ty: &DataType, value: Datum) -> Result<Datum, TypeError> {
    let (items, item_type) = match (value, ty.item()) {
        (Datum::Array(items), Some(item_type)) => (items, item_type),
        (value, _) => return Err(no_cast(ty, &value)),
    };
    let items = items.into_iter().map(|item| match item {
        nested @ Datum::Array(_) => to_array(ty, nested),
        item => assign(&item_type, item).map_err(|error| match error {
            TypeError::NoCast { from, .. } => TypeError::NoCast { from: format!("{from}[]"), to: ty.sql_name() },
            other => other,
        }),
    });
    Ok(Datum::Array(items.collect::<Result<_, _>>()?))
}

fn no_cast(ty: &DataType, value: &Datum) -> TypeError {
    TypeError::NoCast { from: kind_of(value), to: ty.sql_name() }
}

/// Returns the name of the value's type; for an array, by its first item that is not NULL.
fn kind_of(value: &Datum) -> String {
    let mut at = value;
    while let Datum::Array(items) = at {
        match items.iter().find(|item| !item.is_null()) {
            Some(item) => at = item,
            None => return value.kind_name().to_owned(),
        }
    }
    let brackets = if matches!(value, Datum::Array(_)) { "[]" } else { "" };
    format!("{}{brackets}", at.kind_name())
}

fn moment_range(ty: &DataType) -> TypeError {
    TypeError::MomentRange { what: ty.base_name().to_owned() }
}

fn out_of_range(ty: &DataType) -> TypeError {
    TypeError::OutOfRange { what: ty.base_name().to_owned() }
}

/// Returns `None` if there is no such cast.
fn to_integer<T: TryFrom<i128>>(ty: &DataType, value: &Datum) -> Result<Option<T>, TypeError> {
    let integer = match *value {
        Datum::Float4(float) => round_float(f64::from(float)),
        Datum::Float8(float) => round_float(float),
        Datum::Numeric(number) => Some(number.round()),
        _ => match value.as_i64() {
            Some(integer) => Some(i128::from(integer)),
            None => return Ok(None),
        },
    };
    integer.and_then(|n| T::try_from(n).ok()).map(Some).ok_or_else(|| out_of_range(ty))
}

/// Rounds half to even; `None` if no integer type can hold the result.
fn round_float(value: f64) -> Option<i128> {
    let rounded = value.round_ties_even();
    // Below 2^100 the cast is exact.
    (rounded.abs() < 2_f64.powi(100)).then_some(rounded as i128)
}

fn to_float8(value: &Datum) -> Option<f64> {
    match *value {
        Datum::Float8(float) => Some(float),
        Datum::Float4(float) => Some(f64::from(float)),
        Datum::Numeric(number) => Some(number.to_f64()),
        // The nearest double, as in C.
        _ => value.as_i64().map(|integer| integer as f64),
    }
}

fn to_float4(value: &Datum) -> Result<Option<f32>, TypeError> {
    let (wide, narrow) = match *value {
        Datum::Float4(float) => return Ok(Some(float)),
        Datum::Float8(float) => (float, float as f32),
        Datum::Numeric(number) => (number.to_f64(), number.to_f32()),
        _ => return Ok(value.as_i64().map(|integer| integer as f32)),
    };
    let lost = (narrow.is_infinite() && wide.is_finite()) || (narrow == 0.0 && wide != 0.0);
    if lost { Err(out_of_range(&DataType::Real)) } else { Ok(Some(narrow)) }
}

fn to_numeric(parameters: Option<(u8, u8)>, value: &Datum) -> Result<Option<Decimal>, TypeError> {
    let number = match *value {
        Datum::Numeric(number) => number,
        // As in PostgreSQL: as many digits as the float certainly has (FLT_DIG and DBL_DIG).
        Datum::Float4(float) => return from_float(parameters, &format!("{float:.5e}")).map(Some),
        Datum::Float8(float) => return from_float(parameters, &format!("{float:.14e}")).map(Some),
        _ => match value.as_i64() {
            Some(integer) => Decimal::from(integer),
            None => return Ok(None),
        },
    };
    fit_numeric(parameters, number).map(Some)
}

fn from_float(parameters: Option<(u8, u8)>, text: &str) -> Result<Decimal, TypeError> {
    let literal = Literal::parse(text);
    let number = literal.and_then(|literal| match parameters {
        Some((precision, scale)) => literal.rounded(scale).filter(|value| value.fits_precision(precision)),
        None => literal.exact(NUMERIC_MAX_SCALE).or_else(|| literal.rounded(NUMERIC_MAX_SCALE)),
    });
    number.ok_or_else(|| match parameters {
        Some((precision, scale)) => TypeError::NumericOverflow { value: text.to_owned(), precision, scale },
        None => TypeError::TextOutOfRange { ty: "numeric".to_owned(), input: text.to_owned() },
    })
}

fn to_text(ty: &DataType, value: Datum) -> Result<Datum, TypeError> {
    let mut text = match value {
        Datum::Text(text) => text,
        Datum::Bool(value) => value.to_string(),
        other => other.to_string(),
    };
    text::check_zero_byte(&text)?;
    match *ty {
        DataType::Varchar(Some(limit)) => cut_blanks(ty, &mut text, limit)?,
        DataType::Char(length) => {
            text.truncate(text.trim_end_matches(' ').len());
            cut_blanks(ty, &mut text, length)?;
        }
        _ => {}
    }
    Ok(Datum::Text(text))
}

/// Truncates the text to `limit` characters if that drops only blanks.
fn cut_blanks(ty: &DataType, text: &mut String, limit: u32) -> Result<(), TypeError> {
    // A text has no more characters than bytes, so most texts need no counting.
    if text.len() <= limit as usize {
        return Ok(());
    }
    let Some((end, _)) = text.char_indices().nth(limit as usize) else { return Ok(()) };
    if text.get(end..).is_some_and(|rest| rest.bytes().all(|byte| byte == b' ')) {
        text.truncate(end);
        return Ok(());
    }
    Err(TypeError::TooLong { ty: ty.sql_name() })
}

fn to_bytes(ty: &DataType, value: Datum) -> Result<Datum, TypeError> {
    let Datum::Bytes(mut bytes) = value else { return Err(no_cast(ty, &value)) };
    let limit = match *ty {
        DataType::Varbinary(limit) | DataType::Binary(limit) => limit as usize,
        _ => usize::MAX,
    };
    if bytes.len() > limit {
        return Err(TypeError::TooLong { ty: ty.sql_name() });
    }
    if matches!(ty, DataType::Binary(_)) {
        bytes.resize(limit, 0);
    }
    Ok(Datum::Bytes(bytes))
}

/// Casts between dates and timestamps. Casts between timestamps with and without time zone are in UTC: callers with a
/// session zone convert before they assign.
fn to_temporal(ty: &DataType, value: &Datum) -> Result<Option<Datum>, TypeError> {
    let cast = match (ty, value) {
        (DataType::Time(_), Datum::Interval(interval)) => Datum::Time(interval.micros.rem_euclid(DAY)),
        (DataType::Date, Datum::Date(_))
        | (DataType::Time(_), Datum::Time(_))
        | (DataType::Timestamp(_), Datum::Timestamp(_))
        | (DataType::TimestampTz(_), Datum::TimestampTz(_)) => value.clone(),
        (DataType::Timestamp(_), Datum::Date(days)) => Datum::Timestamp(midnight(ty, *days)?),
        (DataType::TimestampTz(_), Datum::Date(days)) => Datum::TimestampTz(midnight(ty, *days)?),
        (DataType::Timestamp(_), Datum::TimestampTz(micros)) => Datum::Timestamp(*micros),
        (DataType::TimestampTz(_), Datum::Timestamp(micros)) => Datum::TimestampTz(*micros),
        (DataType::Date, Datum::Timestamp(micros) | Datum::TimestampTz(micros)) => Datum::Date(day_of(*micros)),
        // Infinity has no time of day.
        (DataType::Time(_), Datum::Timestamp(i64::MIN | i64::MAX) | Datum::TimestampTz(i64::MIN | i64::MAX)) => {
            Datum::Null
        }
        (DataType::Time(_), Datum::Timestamp(micros) | Datum::TimestampTz(micros)) => {
            Datum::Time(micros.rem_euclid(DAY))
        }
        _ => return Ok(None),
    };
    let rounded = ty.digits().map_or(Some(cast.clone()), |digits| temporal::rounded(cast, digits));
    rounded.filter(temporal::in_range).map(Some).ok_or_else(|| moment_range(ty))
}

fn midnight(ty: &DataType, days: i32) -> Result<i64, TypeError> {
    match days {
        i32::MIN => Ok(i64::MIN),
        i32::MAX => Ok(i64::MAX),
        _ => i64::from(days).checked_mul(DAY).ok_or_else(|| moment_range(ty)),
    }
}

fn day_of(micros: i64) -> i32 {
    match micros {
        i64::MIN => i32::MIN,
        i64::MAX => i32::MAX,
        // At most 107 million days, which fit.
        _ => i32::try_from(micros.div_euclid(DAY)).unwrap_or(i32::MAX),
    }
}

#[cfg(test)]
mod tests;
