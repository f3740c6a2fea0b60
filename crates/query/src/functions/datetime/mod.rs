//! Functions of dates, times and intervals.

pub(super) mod fields;
pub(super) mod format;
mod make;
pub(super) mod moments;
pub(super) mod pattern;
pub(super) mod read;
pub(super) mod zone;

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::array::series;
use crate::functions::datetime::fields::Moment;
use crate::functions::datetime::moments::{TIME, TIMESTAMP, TIMESTAMPTZ};
use crate::functions::number;
use crate::functions::sql::{Definition, Overload, arguments, define, lenient, strict, wrong};
use crate::functions::text::text;
use types::DataType::{self, BigInt, Boolean, Date, Double, Integer, Interval as Span, Real, Text};
use types::compare::compare;
use types::temporal::{self, DAY, days_in_month};
use types::{Datum, ElementType, Interval};

const NUMERIC: DataType = DataType::Numeric(None);

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define(
        "extract",
        &[
            strict(&[Text, TIMESTAMP], NUMERIC, extract),
            strict(&[Text, TIMESTAMPTZ], NUMERIC, extract),
            strict(&[Text, Date], NUMERIC, extract),
            strict(&[Text, TIME], NUMERIC, extract),
            strict(&[Text, Span], NUMERIC, extract),
        ],
    ),
    define(
        "date_part",
        &[
            strict(&[Text, TIMESTAMPTZ], Double, date_part),
            strict(&[Text, TIMESTAMP], Double, date_part),
            strict(&[Text, Date], Double, date_part),
            strict(&[Text, TIME], Double, date_part),
            strict(&[Text, Span], Double, date_part),
        ],
    ),
    define(
        "date_trunc",
        &[
            strict(&[Text, TIMESTAMPTZ], TIMESTAMPTZ, date_trunc),
            strict(&[Text, TIMESTAMP], TIMESTAMP, date_trunc),
            strict(&[Text, Span], Span, date_trunc),
            strict(&[Text, TIMESTAMPTZ, Text], TIMESTAMPTZ, date_trunc),
        ],
    ),
    define("age", AGE),
    define(
        "date_bin",
        &[
            strict(&[Span, TIMESTAMPTZ, TIMESTAMPTZ], TIMESTAMPTZ, date_bin),
            strict(&[Span, TIMESTAMP, TIMESTAMP], TIMESTAMP, date_bin),
        ],
    ),
    define(
        "isfinite",
        &[
            strict(&[TIMESTAMPTZ], Boolean, is_finite),
            strict(&[TIMESTAMP], Boolean, is_finite),
            strict(&[Date], Boolean, is_finite),
            strict(&[Span], Boolean, is_finite),
        ],
    ),
    define("justify_days", &[strict(&[Span], Span, |args| justified(args, Interval::justify_days))]),
    define("justify_hours", &[strict(&[Span], Span, |args| justified(args, Interval::justify_hours))]),
    define("justify_interval", &[strict(&[Span], Span, |args| justified(args, Interval::justify))]),
    define(
        "make_date",
        &[strict(&[Integer, Integer, Integer], Date, |args| {
            arguments!(args, [Datum::Int4(year), Datum::Int4(month), Datum::Int4(day)]);
            make::make_days(*year, *month, *day).map(Datum::Date)
        })],
    ),
    define(
        "make_time",
        &[strict(&[Integer, Integer, Double], TIME, |args| {
            arguments!(args, [Datum::Int4(hour), Datum::Int4(minute), Datum::Float8(second)]);
            make::make_micros(*hour, *minute, *second).map(Datum::Time)
        })],
    ),
    define(
        "make_timestamp",
        &[strict(&[Integer, Integer, Integer, Integer, Integer, Double], TIMESTAMP, |args| {
            make::make_timestamp(args).map(Datum::Timestamp)
        })],
    ),
    define(
        "make_timestamptz",
        &[
            strict(&[Integer, Integer, Integer, Integer, Integer, Double], TIMESTAMPTZ, |args| {
                make::make_timestamp(args).map(Datum::TimestampTz)
            }),
            strict(&[Integer, Integer, Integer, Integer, Integer, Double, Text], TIMESTAMPTZ, |args| {
                let Some((Datum::Text(zone), rest)) = args.split_last() else { return Err(wrong(args)) };
                zone::moment_of(make::make_timestamp(rest)?, zone).map(Datum::TimestampTz)
            }),
        ],
    ),
    define(
        "make_interval",
        &[
            strict(&[], Span, |_| Ok(Datum::Interval(Interval::default()))),
            strict(&[Integer], Span, make::make_interval),
            strict(&[Integer, Integer], Span, make::make_interval),
            strict(&[Integer, Integer, Integer], Span, make::make_interval),
            strict(&[Integer, Integer, Integer, Integer], Span, make::make_interval),
            strict(&[Integer, Integer, Integer, Integer, Integer], Span, make::make_interval),
            strict(&[Integer, Integer, Integer, Integer, Integer, Integer], Span, make::make_interval),
            strict(&[Integer, Integer, Integer, Integer, Integer, Integer, Double], Span, make::make_interval),
        ],
    ),
    define(
        "to_timestamp",
        &[
            strict(&[Double], TIMESTAMPTZ, epoch),
            strict(&[Text, Text], TIMESTAMPTZ, |args| {
                let read = read::parse(text(args, 0)?, text(args, 1)?)?;
                let moment = read.local.checked_sub(read.offset.unwrap_or(0));
                moment.map(Datum::TimestampTz).ok_or(QueryError::TimestampRange)
            }),
        ],
    ),
    define(
        "to_date",
        &[
            strict(&[Text, Text], Date, |args| {
                let read = read::parse(text(args, 0)?, text(args, 1)?)?;
                i32::try_from(read.local.div_euclid(DAY)).map(Datum::Date).map_err(|_| QueryError::TimestampRange)
            }),
            // Phoenix's form, which reads a date as a cast does.
            strict(&[Text], Date, |args| Ok(types::text::parse(&Date, text(args, 0)?)?)),
        ],
    ),
    define(
        "to_char",
        &[
            strict(&[TIMESTAMPTZ, Text], Text, format::print),
            strict(&[TIMESTAMP, Text], Text, format::print),
            strict(&[Date, Text], Text, format::print),
            strict(&[Span, Text], Text, format::print),
            strict(&[NUMERIC, Text], Text, number::format::print),
            strict(&[Integer, Text], Text, number::format::print),
            strict(&[BigInt, Text], Text, number::format::print),
            strict(&[Double, Text], Text, number::format::print),
            strict(&[Real, Text], Text, number::format::print),
        ],
    ),
    define("generate_series", SERIES),
    define("to_char in zone", &[strict(&[Text, TIMESTAMPTZ, Text], Text, format::print_in_zone)]),
    // Casts to intervals with fields or a precision: the first and last field as two digits, and the precision; -1 for
    // none.
    define("limit interval", &[strict(&[Span, Integer, Integer], Span, limit_interval)]),
    define("to_number", &[strict(&[Text, Text], NUMERIC, number::parse::parse)]),
    define(
        "overlaps",
        &[
            lenient(&[TIMESTAMPTZ, TIMESTAMPTZ, TIMESTAMPTZ, TIMESTAMPTZ], Boolean, overlaps),
            lenient(&[TIMESTAMP, TIMESTAMP, TIMESTAMP, TIMESTAMP], Boolean, overlaps),
            lenient(&[TIME, TIME, TIME, TIME], Boolean, overlaps),
            lenient(&[TIME, Span, TIME, Span], Boolean, overlaps),
            lenient(&[TIMESTAMP, Span, TIMESTAMP, Span], Boolean, overlaps),
            lenient(&[TIMESTAMPTZ, Span, TIMESTAMPTZ, Span], Boolean, overlaps),
            lenient(&[TIME, Span, TIME, TIME], Boolean, overlaps),
            lenient(&[TIME, TIME, TIME, Span], Boolean, overlaps),
            lenient(&[TIMESTAMP, Span, TIMESTAMP, TIMESTAMP], Boolean, overlaps),
            lenient(&[TIMESTAMP, TIMESTAMP, TIMESTAMP, Span], Boolean, overlaps),
            lenient(&[TIMESTAMPTZ, Span, TIMESTAMPTZ, TIMESTAMPTZ], Boolean, overlaps),
            lenient(&[TIMESTAMPTZ, TIMESTAMPTZ, TIMESTAMPTZ, Span], Boolean, overlaps),
        ],
    ),
];

const SERIES: &[Overload] = &[
    strict(&[Integer, Integer], DataType::Array(ElementType::Integer), series::integers),
    strict(&[Integer, Integer, Integer], DataType::Array(ElementType::Integer), series::integers),
    strict(&[BigInt, BigInt], DataType::Array(ElementType::BigInt), series::integers),
    strict(&[BigInt, BigInt, BigInt], DataType::Array(ElementType::BigInt), series::integers),
    strict(&[NUMERIC, NUMERIC], DataType::Array(ElementType::Numeric), series::numerics),
    strict(&[NUMERIC, NUMERIC, NUMERIC], DataType::Array(ElementType::Numeric), series::numerics),
    strict(&[TIMESTAMPTZ, TIMESTAMPTZ, Span], DataType::Array(ElementType::TimestampTz), series::timestamps),
    strict(&[TIMESTAMP, TIMESTAMP, Span], DataType::Array(ElementType::Timestamp), series::timestamps),
];

/// Returns the number by which intervals are compared.
pub(in crate::functions) fn span(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Interval(interval)]);
    Ok(Datum::Numeric(types::Decimal { unscaled: interval.span(), scale: 0 }))
}

const AGE: &[Overload] = &[strict(&[TIMESTAMPTZ, TIMESTAMPTZ], Span, age), strict(&[TIMESTAMP, TIMESTAMP], Span, age)];

fn extract(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(field), value]);
    Ok(fields::extract(field, value)?.map_or(Datum::Null, Datum::Numeric))
}

fn date_part(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(field), value]);
    // A date counts as its midnight: it has hours here, but not in EXTRACT.
    let value = match value {
        Datum::Date(_) => &types::coerce::cast(&TIMESTAMP, value.clone())?,
        value => value,
    };
    let found = fields::extract(field, value)?;
    if found.is_none()
        && matches!(
            fields::canonical(field).as_str(),
            "epoch" | "year" | "decade" | "century" | "millennium" | "julian" | "isoyear"
        )
    {
        let negative =
            matches!(value, Datum::Date(i32::MIN) | Datum::Timestamp(i64::MIN) | Datum::TimestampTz(i64::MIN));
        return Ok(Datum::Float8(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    Ok(found.map_or(Datum::Null, |number| Datum::Float8(number.to_f64())))
}

fn date_trunc(args: &[Datum]) -> QueryResult<Datum> {
    match args {
        [Datum::Text(field), value] => fields::truncate(field, value),
        [Datum::Text(field), Datum::TimestampTz(micros), Datum::Text(zone)] => {
            let local = zone::local_of(*micros, zone)?;
            match fields::truncate(field, &Datum::Timestamp(local))? {
                // As in PostgreSQL, a part of a day keeps its offset: an hour that is repeated stays the first one.
                Datum::Timestamp(truncated) if fields::is_of_day(field) => {
                    let moment = truncated.checked_sub(local - micros).ok_or(QueryError::TimestampRange)?;
                    Ok(Datum::TimestampTz(moment))
                }
                Datum::Timestamp(truncated) => Ok(Datum::TimestampTz(zone::moment_of(truncated, zone)?)),
                other => Ok(other),
            }
        }
        other => Err(wrong(other)),
    }
}

/// Returns the years, months and days between two timestamps, as calendar units.
fn age(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [a, b]);
    let infinite = || Refusal::DateTime.because("timestamp out of range");
    let (a, b) = Moment::of(a).zip(Moment::of(b)).ok_or_else(infinite)?;
    let negative = (a.days, a.time) < (b.days, b.time);
    let (late, early) = if negative { (b, a) } else { (a, b) };
    let (to, from) = (late.date(), early.date());
    let mut time = late.time - early.time;
    let mut days = i64::from(to.day) - i64::from(from.day);
    let mut months = (to.year - from.year) * 12 + i64::from(to.month) - i64::from(from.month);
    if time < 0 {
        time += DAY;
        days -= 1;
    }
    while days < 0 {
        // Borrows the length of the earlier timestamp's month.
        days += i64::from(days_in_month(from.year, from.month));
        months -= 1;
    }
    let small = |value: i64| i32::try_from(value).map_err(|_| QueryError::IntervalRange);
    let interval = Interval { months: small(months)?, days: small(days)?, micros: time };
    let interval = if negative { interval.checked_neg().ok_or(QueryError::IntervalRange)? } else { interval };
    Ok(Datum::Interval(interval))
}

fn date_bin(args: &[Datum]) -> QueryResult<Datum> {
    let (stride, source, origin) = match args {
        [Datum::Interval(stride), Datum::Timestamp(source), Datum::Timestamp(origin)]
        | [Datum::Interval(stride), Datum::TimestampTz(source), Datum::TimestampTz(origin)] => {
            (stride, *source, *origin)
        }
        other => return Err(wrong(other)),
    };
    if stride.months != 0 {
        let feature = "timestamps cannot be binned into intervals containing months or years".to_owned();
        return Err(QueryError::Unsupported { feature });
    }
    let width = i64::try_from(stride.span()).map_err(|_| QueryError::IntervalRange)?;
    if width <= 0 {
        return Err(Refusal::DateTime.because("stride must be greater than zero"));
    }
    if source == i64::MIN || source == i64::MAX {
        return args.get(1).cloned().ok_or_else(|| wrong(args));
    }
    let distance = source.checked_sub(origin).ok_or(QueryError::TimestampRange)?;
    let start = origin + distance.div_euclid(width) * width;
    Ok(if matches!(args.get(1), Some(Datum::TimestampTz(_))) {
        Datum::TimestampTz(start)
    } else {
        Datum::Timestamp(start)
    })
}

fn is_finite(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [value]);
    Ok(Datum::Bool(matches!(value, Datum::Interval(_)) || Moment::of(value).is_some()))
}

fn justified(args: &[Datum], op: fn(Interval) -> Option<Interval>) -> QueryResult<Datum> {
    arguments!(args, [Datum::Interval(interval)]);
    op(*interval).map(Datum::Interval).ok_or(QueryError::IntervalRange)
}

/// Converts seconds since 1970 to a timestamp.
fn epoch(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Float8(seconds)]);
    if seconds.is_infinite() {
        return Ok(Datum::TimestampTz(if *seconds > 0.0 { i64::MAX } else { i64::MIN }));
    }
    let micros = (seconds * 1e6).round_ties_even();
    let fits = micros >= temporal::MIN_TIMESTAMP as f64 && micros < temporal::MAX_TIMESTAMP as f64;
    if !fits {
        return Err(Refusal::DateTime.because(format!("timestamp out of range: \"{seconds}\"")));
    }
    Ok(Datum::TimestampTz(micros as i64))
}

/// `(a, b) OVERLAPS (c, d)`; the second of a pair may be an interval.
fn overlaps(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [a, b, c, d]);
    let end = |start: &Datum, end: &Datum| match (start, end) {
        (Datum::Null, Datum::Interval(_)) => Ok(Datum::Null),
        (start, Datum::Interval(_)) => crate::functions::operators::shift_by(start, end),
        _ => Ok(end.clone()),
    };
    let (b, d) = (end(a, b)?, end(c, d)?);
    let ordered = |x: &Datum, y: &Datum| {
        if !x.is_null() && (y.is_null() || compare(x, y).is_le()) {
            (x.clone(), y.clone())
        } else {
            (y.clone(), x.clone())
        }
    };
    let ((a, b), (c, d)) = (ordered(a, &b), ordered(c, &d));
    if a.is_null() || c.is_null() {
        return Ok(Datum::Null);
    }
    let (first_end, second_start, second_end, first_start) =
        if compare(&a, &c).is_le() { (b, c, d, a) } else { (d, a, b, c) };
    if first_start == second_start {
        return Ok(if first_end.is_null() || second_end.is_null() { Datum::Null } else { Datum::Bool(true) });
    }
    if first_end.is_null() {
        return Ok(Datum::Null);
    }
    if compare(&second_start, &first_end).is_lt() {
        return Ok(Datum::Bool(true));
    }
    Ok(if second_end.is_null() { Datum::Null } else { Datum::Bool(false) })
}

fn limit_interval(args: &[Datum]) -> QueryResult<Datum> {
    use types::IntervalField::{Day, Hour, Minute, Month, Second, Year};
    arguments!(args, [Datum::Interval(interval), Datum::Int4(bounds), Datum::Int4(digits)]);
    let field = |code: i32| [Year, Month, Day, Hour, Minute, Second].get(usize::try_from(code).ok()?).copied();
    let bounds = if *bounds < 0 { None } else { field(bounds / 10).zip(field(bounds % 10)) };
    let fields = types::IntervalFields { bounds, digits: u8::try_from(*digits).ok() };
    Ok(Datum::Interval(fields.limit(*interval)))
}
