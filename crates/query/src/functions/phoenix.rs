//! Phoenix's functions that PostgreSQL lacks, with Phoenix's semantics.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::datetime::fields::{self, Moment, day_of_year, iso_week, iso_weekday};
use crate::functions::datetime::moments::{TIME, TIMESTAMP, TIMESTAMPTZ};
use crate::functions::datetime::zone;
use crate::functions::sql::{Definition, Overload, arguments, define, strict};
use crate::functions::text::bytes as text_of_bytes;
use types::DataType::{BigInt, Bytea, Date, Integer, Text};
use types::temporal::{Civil, DAY, SECOND, days_from_civil};
use types::{Datum, text};

/// Overloads of a function that returns a field of a date.
macro_rules! fields {
    ($field:expr) => {
        [
            strict(&[TIMESTAMP], Integer, |args| field(args, $field)),
            strict(&[TIMESTAMPTZ], Integer, |args| field(args, $field)),
            strict(&[Date], Integer, |args| field(args, $field)),
        ]
    };
}

/// Overloads of a function that returns a field of a time of day.
macro_rules! times {
    ($field:expr) => {
        [
            strict(&[TIMESTAMP], Integer, |args| field(args, $field)),
            strict(&[TIMESTAMPTZ], Integer, |args| field(args, $field)),
            strict(&[TIME], Integer, |args| field(args, $field)),
        ]
    };
}

pub(super) static FUNCTIONS: &[Definition] = &[
    define("year", &fields!(|moment| moment.date().year)),
    define("month", &fields!(|moment| i64::from(moment.date().month))),
    define("week", &fields!(|moment| iso_week(moment.days).1)),
    define("dayofyear", &fields!(|moment| day_of_year(moment.days))),
    define("dayofmonth", &fields!(|moment| i64::from(moment.date().day))),
    define("dayofweek", &fields!(|moment| iso_weekday(moment.days))),
    define("hour", &times!(|moment| moment.time / (3_600 * SECOND))),
    define("minute", &times!(|moment| moment.time / (60 * SECOND) % 60)),
    define("second", &times!(|moment| moment.time / SECOND % 60)),
    define("convert_tz", &[strict(&[TIMESTAMP, Text, Text], TIMESTAMP, convert_tz)]),
    define("timezone_offset", &[strict(&[Text, TIMESTAMP], Integer, timezone_offset)]),
    define(
        "to_time",
        &[strict(&[Text], TIME, |args| {
            arguments!(args, [Datum::Text(input)]);
            Ok(text::parse(&TIME, input)?)
        })],
    ),
    define("round to unit", TO_UNIT_NEAREST),
    define("ceil to unit", TO_UNIT_ABOVE),
    define("floor to unit", TO_UNIT_BELOW),
    define("encode_binary", &[strict(&[Bytea, Text], Text, encode_binary)]),
    define("decode_binary", &[strict(&[Text, Text], Bytea, decode_binary)]),
    define("encode in base 62", &[strict(&[BigInt, Text], Text, base_62)]),
    define(
        "subbinary",
        &[strict(&[Bytea, Integer], Bytea, subbinary), strict(&[Bytea, Integer, Integer], Bytea, subbinary)],
    ),
];

/// Returns NULL for an infinite value.
fn field(args: &[Datum], of: fn(Moment) -> i64) -> QueryResult<Datum> {
    arguments!(args, [value]);
    let Some(moment) = Moment::of(value) else { return Ok(Datum::Null) };
    i32::try_from(of(moment)).map(Datum::Int4).map_err(|_| QueryError::TimestampRange)
}

/// Converts local time in one zone to local time in another.
fn convert_tz(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Timestamp(local), Datum::Text(from), Datum::Text(to)]);
    zone::local_of(zone::moment_of(*local, from)?, to).map(Datum::Timestamp)
}

/// Returns the minutes that a zone is ahead of UTC at a time in UTC.
fn timezone_offset(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(zone), Datum::Timestamp(utc)]);
    let ahead = zone::local_of(*utc, zone)?.saturating_sub(*utc) / (60 * SECOND);
    i32::try_from(ahead).map(Datum::Int4).map_err(|_| QueryError::TimestampRange)
}

/// Which multiple of a unit to return.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Multiple {
    Below,
    Above,
    Nearest,
}

const TO_UNIT_NEAREST: &[Overload] = &[
    strict(&[TIMESTAMP, Text], TIMESTAMP, |args| to_unit(args, Multiple::Nearest)),
    strict(&[TIMESTAMP, Text, Integer], TIMESTAMP, |args| to_unit(args, Multiple::Nearest)),
];
const TO_UNIT_ABOVE: &[Overload] = &[
    strict(&[TIMESTAMP, Text], TIMESTAMP, |args| to_unit(args, Multiple::Above)),
    strict(&[TIMESTAMP, Text, Integer], TIMESTAMP, |args| to_unit(args, Multiple::Above)),
];
const TO_UNIT_BELOW: &[Overload] = &[
    strict(&[TIMESTAMP, Text], TIMESTAMP, |args| to_unit(args, Multiple::Below)),
    strict(&[TIMESTAMP, Text, Integer], TIMESTAMP, |args| to_unit(args, Multiple::Below)),
];

/// `round(t, 'HOUR', 3)`: days and shorter units in multiples counted from 1970; weeks, months and years without a
/// multiplier.
fn to_unit(args: &[Datum], multiple: Multiple) -> QueryResult<Datum> {
    let (Some(value @ Datum::Timestamp(micros)), Some(Datum::Text(unit))) = (args.first(), args.get(1)) else {
        return Err(crate::functions::sql::wrong(args));
    };
    let times = args.get(2).and_then(Datum::as_i64).unwrap_or(1);
    if times < 1 {
        return Err(Refusal::Argument.because("the multiplier of a unit must be positive"));
    }
    let Some(moment) = Moment::of(value) else { return Ok(value.clone()) };
    let (below, above) = match (fixed_unit(unit), times) {
        (Some(unit), times) => {
            let width = unit.checked_mul(times).ok_or(QueryError::TimestampRange)?;
            let below = micros.div_euclid(width) * width;
            (below, below.saturating_add(width))
        }
        (None, 1) => calendar_unit(unit, moment)?,
        (None, _) => return Err(Refusal::Argument.because(format!("unit \"{unit}\" takes no multiplier"))),
    };
    let up = match multiple {
        Multiple::Below => false,
        Multiple::Above => *micros > below,
        Multiple::Nearest => micros - below >= above - micros,
    };
    Ok(Datum::Timestamp(if up { above } else { below }))
}

fn fixed_unit(name: &str) -> Option<i64> {
    Some(match name.to_ascii_lowercase().as_str() {
        "millisecond" => 1_000,
        "second" => SECOND,
        "minute" => 60 * SECOND,
        "hour" => 3_600 * SECOND,
        "day" => DAY,
        _ => return None,
    })
}

/// Returns the start and the end of a week, month or year.
fn calendar_unit(name: &str, moment: Moment) -> QueryResult<(i64, i64)> {
    let date = moment.date();
    let first = |year, month| days_from_civil(Civil { year, month, day: 1 });
    let (from, to) = match name.to_ascii_lowercase().as_str() {
        "week" => {
            let monday = moment.days - iso_weekday(moment.days) + 1;
            (monday, monday + 7)
        }
        "month" if date.month == 12 => (first(date.year, 12), first(date.year + 1, 1)),
        "month" => (first(date.year, date.month), first(date.year, date.month + 1)),
        "year" => (fields::first_of(date.year), fields::first_of(date.year + 1)),
        _ => return Err(Refusal::Argument.because(format!("unit \"{name}\" not recognized"))),
    };
    from.checked_mul(DAY).zip(to.checked_mul(DAY)).ok_or(QueryError::TimestampRange)
}

fn encode_binary(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [bytes @ Datum::Bytes(plain), Datum::Text(format)]);
    match format.to_ascii_uppercase().as_str() {
        "HBASE" => Ok(Datum::Text(plain.iter().map(|byte| hbase_letter(*byte)).collect())),
        "HEX" | "BASE64" => text_of_bytes::encode(&[bytes.clone(), Datum::Text(format.clone())]),
        _ => Err(unknown_format(format)),
    }
}

fn unknown_format(format: &str) -> QueryError {
    Refusal::Argument.because(format!("unrecognized encoding: \"{format}\""))
}

/// Formats a byte as HBase's shell does.
fn hbase_letter(byte: u8) -> String {
    match byte {
        b'\\' => "\\x5C".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        byte => format!("\\x{byte:02X}"),
    }
}

fn decode_binary(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [input @ Datum::Text(shown), Datum::Text(format)]);
    match format.to_ascii_uppercase().as_str() {
        "HBASE" => from_hbase(shown).map(Datum::Bytes),
        "HEX" | "BASE64" => text_of_bytes::decode(&[input.clone(), Datum::Text(format.clone())]),
        _ => Err(unknown_format(format)),
    }
}

fn from_hbase(shown: &str) -> QueryResult<Vec<u8>> {
    let mut bytes = Vec::with_capacity(shown.len());
    let mut rest = shown.as_bytes();
    loop {
        rest = match rest {
            [] => return Ok(bytes),
            [b'\\', b'x', high, low, tail @ ..] => {
                let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                let pair = digit(*high).zip(digit(*low));
                let bad = || Refusal::Argument.because("invalid hexadecimal digits behind \\x");
                let (high, low) = pair.ok_or_else(bad)?;
                bytes.push(high << 4 | low);
                tail
            }
            [byte, tail @ ..] => {
                bytes.push(*byte);
                tail
            }
        };
    }
}

/// Encodes a number in digits, upper-case and lower-case letters.
fn base_62(args: &[Datum]) -> QueryResult<Datum> {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    arguments!(args, [Datum::Int8(number), Datum::Text(format)]);
    if !format.eq_ignore_ascii_case("base62") {
        return Err(unknown_format(format));
    }
    let mut left = number.unsigned_abs();
    let mut letters = Vec::new();
    while left > 0 || letters.is_empty() {
        let digit = usize::try_from(left % 62).ok().and_then(|digit| DIGITS.get(digit));
        letters.extend(digit.map(|digit| char::from(*digit)));
        left /= 62;
    }
    letters.extend((*number < 0).then_some('-'));
    Ok(Datum::Text(letters.into_iter().rev().collect()))
}

/// Returns the bytes from a position counted from 1, or counted from the end if it is negative.
fn subbinary(args: &[Datum]) -> QueryResult<Datum> {
    let (Some(Datum::Bytes(bytes)), Some(from)) = (args.first(), args.get(1).and_then(Datum::as_i64)) else {
        return Err(crate::functions::sql::wrong(args));
    };
    let count = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let start = if from < 0 { count + from } else { (from - 1).max(0) };
    let length = args.get(2).and_then(Datum::as_i64).unwrap_or(count);
    let part = usize::try_from(start).ok().zip(usize::try_from(length).ok().filter(|length| *length > 0));
    let part = part.and_then(|(start, length)| Some(bytes.get(start..)?.iter().take(length).copied().collect()));
    Ok(part.filter(|part: &Vec<u8>| !part.is_empty()).map_or(Datum::Null, Datum::Bytes))
}
