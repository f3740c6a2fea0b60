//! Parses and prints values as PostgreSQL 15 does.
//!
//! Dates are ISO, `bytea_output = hex`, other formats are in a [`Style`]; timestamps with time zone print in UTC (the
//! engine prints them in the session's zone with [`temporal::print_timestamptz`]).

mod float;

pub use float::{print_float4, print_float8};

use crate::decimal::{self, Literal};
use crate::temporal::{self, ZoneRules};
use crate::{
    DataType, Datum, Decimal, IntervalFields, NUMERIC_MAX_SCALE, Style, TypeError, array, coerce, interval, json,
};
use std::fmt::Write;

/// Parses a value of type `ty`, including the limits of its parameters, as COPY and quoted literals do.
///
/// # Errors
/// [`TypeError::InvalidText`] and related errors. The value differs from the text only by rounding to the scale of a
/// `numeric(p,s)` or the digits of a `timestamp(n)`, and by blanks dropped at the limit of a `varchar(n)`.
pub fn parse(ty: &DataType, text: &str) -> Result<Datum, TypeError> {
    parse_in(ty, text, &temporal::Utc)
}

/// Parses a value with a session's zone and style.
///
/// # Errors
/// As [`parse`].
pub fn parse_in(ty: &DataType, text: &str, rules: &dyn ZoneRules) -> Result<Datum, TypeError> {
    // Before any parser puts the text in an error.
    check_zero_byte(text)?;
    Ok(match ty {
        DataType::Boolean => Datum::Bool(parse_bool(text).ok_or_else(|| invalid(ty, text))?),
        DataType::SmallInt => Datum::Int2(parse_integer(ty, text)?),
        DataType::Integer => Datum::Int4(parse_integer(ty, text)?),
        DataType::BigInt => Datum::Int8(parse_integer(ty, text)?),
        DataType::Oid => Datum::Int8(i64::from(parse_oid(text)?)),
        DataType::Real => Datum::Float4(parse_float(ty, text, |value: f32| (value.is_infinite(), value == 0.0))?),
        DataType::Double => Datum::Float8(parse_float(ty, text, |value: f64| (value.is_infinite(), value == 0.0))?),
        DataType::Numeric(parameters) => Datum::Numeric(parse_numeric(*parameters, text)?),
        DataType::Text | DataType::Varchar(_) | DataType::Char(_) => {
            return coerce::assign(ty, Datum::Text(text.to_owned()));
        }
        DataType::Bytea | DataType::Varbinary(_) | DataType::Binary(_) => {
            let bytes = parse_bytes(text)?;
            return coerce::assign(ty, Datum::Bytes(bytes));
        }
        DataType::Date => Datum::Date(temporal::parse_date_in(text, rules)?),
        DataType::Time(_) => return coerce::assign(ty, Datum::Time(temporal::parse_time_in(text, rules)?)),
        DataType::Timestamp(_) => {
            return coerce::assign(ty, Datum::Timestamp(temporal::parse_timestamp_in(text, rules)?));
        }
        DataType::TimestampTz(_) => {
            return coerce::assign(ty, Datum::TimestampTz(temporal::parse_timestamptz_in(text, rules)?));
        }
        DataType::Uuid => Datum::Uuid(parse_uuid(text).ok_or_else(|| invalid(ty, text))?),
        DataType::Interval => {
            Datum::Interval(interval::parse_styled(text, IntervalFields::default(), || rules.style().intervals)?)
        }
        DataType::LimitedInterval(fields) => {
            Datum::Interval(interval::parse_styled(text, *fields, || rules.style().intervals)?)
        }
        DataType::Json => {
            json::check(text)?;
            Datum::Text(text.to_owned())
        }
        DataType::Array(element) => return array::parse_array_in(&element.data_type(), text, rules),
        DataType::LimitedArray(limits) => return array::parse_array_in(&limits.item(), text, rules),
    })
}

/// Checks for a zero byte, which PostgreSQL's text cannot have: it ends a string on the wire.
///
/// # Errors
/// [`TypeError::InvalidEncoding`].
pub fn check_zero_byte(text: &str) -> Result<(), TypeError> {
    match text.as_bytes().contains(&0) {
        true => Err(TypeError::InvalidEncoding { detail: "0x00".to_owned() }),
        false => Ok(()),
    }
}

/// Appends the text of a value. NULL appends nothing: callers choose its text. `char(n)` is padded to its length.
pub fn print(ty: &DataType, value: &Datum, out: &mut String) {
    print_styled(ty, value, Style::default(), out);
}

/// Appends the text of a value in a session's style.
pub fn print_styled(ty: &DataType, value: &Datum, style: Style, out: &mut String) {
    let rounded = style.float_digits <= 0;
    match (ty, value) {
        (_, Datum::Null) => {}
        (DataType::Char(length), Datum::Text(text)) => {
            out.push_str(text);
            let missing = (*length as usize).saturating_sub(text.chars().count());
            out.extend(std::iter::repeat_n(' ', missing));
        }
        (_, Datum::Text(text)) => out.push_str(text),
        (_, Datum::Bool(value)) => out.push(if *value { 't' } else { 'f' }),
        (_, Datum::Float4(value)) if rounded => float::print_float4_rounded(*value, style.float_digits, out),
        (_, Datum::Float8(value)) if rounded => float::print_float8_rounded(*value, style.float_digits, out),
        (_, Datum::Float4(value)) => print_float4(*value, out),
        (_, Datum::Float8(value)) => print_float8(*value, out),
        (_, Datum::Bytes(value)) => print_bytes(value, out),
        (_, Datum::Date(value)) => temporal::print_date(*value, out),
        (_, Datum::Time(value)) => temporal::print_time(*value, out),
        (_, Datum::Timestamp(value)) => temporal::print_timestamp(*value, out),
        (_, Datum::TimestampTz(value)) => temporal::print_timestamptz(*value, 0, out),
        (_, Datum::Uuid(value)) => print_uuid(value, out),
        (_, Datum::Interval(value)) => interval::print_styled(*value, style.intervals, out),
        (ty, Datum::Array(items)) => {
            // The text of an element does not depend on its type.
            let element = ty.item().unwrap_or(DataType::Text);
            array::print_array_by(items, &mut |item, word| print_styled(&element, item, style, word), out);
        }
        (_, Datum::Int2(_) | Datum::Int4(_) | Datum::Int8(_) | Datum::Numeric(_)) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "{value}");
        }
    }
}

fn invalid(ty: &DataType, text: &str) -> TypeError {
    TypeError::InvalidText { ty: ty.input_name().to_owned(), input: text.to_owned() }
}

fn out_of_range(ty: &DataType, text: &str) -> TypeError {
    TypeError::TextOutOfRange { ty: ty.base_name().to_owned(), input: text.trim().to_owned() }
}

/// Trims C's white space, which PostgreSQL's input functions skip around numbers.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b')
}

/// Parses PostgreSQL's words and their unique prefixes.
fn parse_bool(text: &str) -> Option<bool> {
    match trimmed(text).to_ascii_lowercase().as_str() {
        "t" | "tr" | "tru" | "true" | "y" | "ye" | "yes" | "on" | "1" => Some(true),
        "f" | "fa" | "fal" | "fals" | "false" | "n" | "no" | "of" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn parse_integer<T: std::str::FromStr<Err = std::num::ParseIntError>>(
    ty: &DataType,
    text: &str,
) -> Result<T, TypeError> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    trimmed(text).parse().map_err(|error: std::num::ParseIntError| match error.kind() {
        PosOverflow | NegOverflow => out_of_range(ty, text),
        _ => invalid(ty, text),
    })
}

/// Parses an oid; as in PostgreSQL, 2^32 is added to a negative number.
fn parse_oid(text: &str) -> Result<u32, TypeError> {
    let number: i64 = parse_integer(&DataType::Oid, text)?;
    let wrapped = i32::try_from(number).ok().map(i32::cast_unsigned);
    u32::try_from(number).ok().or(wrapped).ok_or_else(|| out_of_range(&DataType::Oid, text))
}

/// Parses a float; `extremes` returns whether a value is infinite and whether it is zero, since an infinity or a zero
/// that was not written as one is an overflow or an underflow.
fn parse_float<T: std::str::FromStr + Copy>(
    ty: &DataType,
    text: &str,
    extremes: impl Fn(T) -> (bool, bool),
) -> Result<T, TypeError> {
    let number = trimmed(text);
    let value: T = number.parse().map_err(|_| invalid(ty, text))?;
    let mantissa = number.split(['e', 'E']).next().unwrap_or(number);
    let names_infinity = mantissa.bytes().any(|byte| matches!(byte, b'i' | b'I'));
    let names_zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    match extremes(value) {
        (true, _) if !names_infinity => Err(out_of_range(ty, text)),
        (_, true) if !names_zero => Err(out_of_range(ty, text)),
        _ => Ok(value),
    }
}

fn parse_numeric(parameters: Option<(u8, u8)>, text: &str) -> Result<Decimal, TypeError> {
    let ty = DataType::Numeric(parameters);
    if let Some(short) = decimal::parse_short(text) {
        return coerce::fit_numeric(parameters, short);
    }
    let Some(literal) = Literal::parse(text) else {
        let word = trimmed(text).trim_start_matches(['+', '-']).to_ascii_lowercase();
        // PostgreSQL's numeric has these values; Bennu's decimals are exact numbers only.
        let special = matches!(word.as_str(), "nan" | "inf" | "infinity");
        return Err(if special { out_of_range(&ty, text) } else { invalid(&ty, text) });
    };
    match parameters {
        None => literal.exact(NUMERIC_MAX_SCALE).ok_or_else(|| out_of_range(&ty, text)),
        Some((precision, scale)) => literal
            .rounded(scale)
            .filter(|value| value.fits_precision(precision))
            .ok_or_else(|| TypeError::NumericOverflow { value: trimmed(text).to_owned(), precision, scale }),
    }
}

/// Parses `\x` and hex digits, or PostgreSQL's escape format (`\\` is a backslash, `\000` to `\377` a byte).
fn parse_bytes(text: &str) -> Result<Vec<u8>, TypeError> {
    match text.strip_prefix("\\x") {
        Some(hex) => parse_hex(hex).ok_or_else(|| TypeError::InvalidHex { input: text.to_owned() }),
        None => parse_escaped(text.as_bytes()).ok_or_else(|| invalid(&DataType::Bytea, text)),
    }
}

/// Blanks are allowed between pairs of digits, not within a pair.
fn parse_hex(hex: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(hex.len() / 2);
    let mut rest = hex.as_bytes();
    loop {
        rest = match rest {
            [] => return Some(bytes),
            [b' ' | b'\n' | b'\t' | b'\r', tail @ ..] => tail,
            [high, low, tail @ ..] => {
                bytes.push(hex_digit(*high)? << 4 | hex_digit(*low)?);
                tail
            }
            [_] => return None,
        };
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn parse_escaped(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(rest.len());
    loop {
        let (byte, tail) = match rest {
            [] => return Some(bytes),
            [b'\\', b'\\', tail @ ..] => (b'\\', tail),
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] => {
                ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), tail)
            }
            [b'\\', ..] => return None,
            [byte, tail @ ..] => (*byte, tail),
        };
        bytes.push(byte);
        rest = tail;
    }
}

/// Parses 32 hex digits, with an optional hyphen after every group of four, and optional braces around all digits.
fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let text = match text.strip_prefix('{') {
        Some(inner) => inner.strip_suffix('}')?,
        None => text,
    };
    let mut uuid = [0; 16];
    let mut rest = text.as_bytes();
    for (index, byte) in uuid.iter_mut().enumerate() {
        if let (true, [b'-', tail @ ..]) = (index > 0 && index % 2 == 0, rest) {
            rest = tail;
        }
        let [high, low, tail @ ..] = rest else { return None };
        *byte = hex_digit(*high)? << 4 | hex_digit(*low)?;
        rest = tail;
    }
    rest.is_empty().then_some(uuid)
}

/// Appends `\x` and the bytes in hex.
pub fn print_bytes(bytes: &[u8], out: &mut String) {
    out.push_str("\\x");
    push_hex(bytes, out);
}

/// Appends the canonical form: lower case, groups of 8, 4, 4, 4 and 12 digits.
pub fn print_uuid(uuid: &[u8; 16], out: &mut String) {
    for (index, byte) in uuid.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        push_hex(std::slice::from_ref(byte), out);
    }
}

fn push_hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 0xF] {
            out.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
}

#[cfg(test)]
mod tests;
