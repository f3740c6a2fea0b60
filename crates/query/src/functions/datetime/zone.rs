//! Time zones: `timezone(zone, x)`, conversions to local time, and functions that depend on the session's zone.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::array::series;
use crate::functions::datetime::moments::{TIMESTAMP, TIMESTAMPTZ};
use crate::functions::datetime::read;
use crate::functions::sql::{Definition, arguments, define, strict, wrong};
use builtins::TimeZone;
use types::DataType::{Interval, Numeric, Text};
use types::temporal::{self, SECOND};
use types::{DataType, DateOrder, Datum, ElementType, IntervalStyle, Style};

const MOMENTS: DataType = DataType::Array(ElementType::TimestampTz);

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define(
        "timezone",
        &[
            strict(&[Text, TIMESTAMPTZ], TIMESTAMP, timezone),
            strict(&[Text, TIMESTAMP], TIMESTAMPTZ, timezone),
            strict(&[Interval, TIMESTAMPTZ], TIMESTAMP, timezone),
            strict(&[Interval, TIMESTAMP], TIMESTAMPTZ, timezone),
        ],
    ),
    // In sessions with a zone, calls that depend on it become calls of these functions, whose names no query can write.
    define("plus in zone", &[strict(&[Text, TIMESTAMPTZ, Interval], TIMESTAMPTZ, plus)]),
    define("minus in zone", &[strict(&[Text, TIMESTAMPTZ, Interval], TIMESTAMPTZ, minus)]),
    define("to_timestamp in zone", &[strict(&[Text, Text, Text], TIMESTAMPTZ, to_timestamp)]),
    define("generate_series in zone", &[strict(&[Text, TIMESTAMPTZ, TIMESTAMPTZ, Interval], MOMENTS, series)]),
    define("offset in zone", &[strict(&[Text, Text, TIMESTAMPTZ], Numeric(None), offset)]),
];

/// A session's zone and its style of texts, if one of them is not the default.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// Returns the zone and style of a session; `None` for UTC and PostgreSQL's style.
    pub(crate) fn of_session(name: &str, zone: TimeZone) -> Option<Self> {
        let utc = ["utc", "etc/utc", "z", "zulu", "universal"].contains(&name.to_ascii_lowercase().as_str());
        (!utc || zone.style() != Style::POSTGRES).then(|| Self { name: name.to_owned(), zone })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the zone with its rules and the style.
    pub(crate) fn rules(&self) -> TimeZone {
        self.zone
    }

    /// Returns whether a cast depends on the zone or the style.
    pub(crate) fn changes_cast(&self, from: &DataType, to: &DataType) -> bool {
        let style = self.zone.style();
        let styled = from.is_text() && is_read_in(style, to) || to.is_text() && is_shown_in(style, from);
        styled || reads_clocks(from, to)
    }

    /// Returns whether the text of values of type `ty` depends on the zone or the style.
    pub(crate) fn changes_text(&self, ty: &DataType) -> bool {
        !ty.is_text() && self.changes_cast(ty, &DataType::Text)
    }
}

/// Removes the name of a zone from the text of a date or time, if the type has no zone.
pub(crate) fn without_zone<'a>(text: &'a str, ty: &DataType) -> &'a str {
    match ty {
        DataType::Date | DataType::Time(_) | DataType::Timestamp(_) => {
            temporal::without_zone_name(text, &TimeZone::UTC).unwrap_or(text)
        }
        _ => text,
    }
}

/// Parses a text by a pattern, as local time in the zone unless the text has an offset.
fn to_timestamp(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(zone), Datum::Text(text), Datum::Text(pattern)]);
    let read = read::parse(text, pattern)?;
    let moment = match read.offset {
        Some(offset) => read.local.checked_sub(offset).ok_or(QueryError::TimestampRange)?,
        None => moment_of(read.local, zone)?,
    };
    Ok(Datum::TimestampTz(moment))
}

/// Returns timestamps, each computed from the previous one by the clocks of the zone.
fn series(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(zone), start, stop, Datum::Interval(step)]);
    series::by_steps(start, stop, step, |moment| match moment {
        Datum::TimestampTz(micros) => moved(*micros, step, zone).map(Datum::TimestampTz),
        _ => Err(wrong(args)),
    })
}

fn plus(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(zone), Datum::TimestampTz(micros), Datum::Interval(by)]);
    moved(*micros, by, zone).map(Datum::TimestampTz)
}

fn moved(micros: i64, by: &types::Interval, zone: &str) -> QueryResult<i64> {
    Ok(zone_of(zone)?.plus(micros, *by)?)
}

fn minus(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [zone, moment, Datum::Interval(by)]);
    let by = by.checked_neg().ok_or(QueryError::IntervalRange)?;
    plus(&[zone.clone(), moment.clone(), Datum::Interval(by)])
}

/// `extract(timezone from timestamptz)`, and its hours and minutes.
fn offset(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(part), Datum::Text(zone), Datum::TimestampTz(micros)]);
    let seconds = (local_of(*micros, zone)? - micros) / SECOND;
    let value = match part.as_str() {
        "timezone_hour" => seconds / 3_600,
        "timezone_minute" => seconds / 60 % 60,
        _ => seconds,
    };
    Ok(Datum::Numeric(types::Decimal { unscaled: i128::from(value), scale: 0 }))
}

fn timezone(args: &[Datum]) -> QueryResult<Datum> {
    let zone = match args.first() {
        // Abbreviations take precedence: CET is UTC+1 all year round, unlike the zone of that name.
        Some(Datum::Text(name)) => {
            temporal::abbreviation(name).map_or_else(|| zone_of(name), |east| Ok(TimeZone::east(east)))?
        }
        Some(Datum::Interval(offset)) => zone_of_interval(offset)?,
        _ => return Err(wrong(args)),
    };
    match args {
        [_, Datum::TimestampTz(micros)] => Ok(Datum::Timestamp(zone.local_of(*micros)?)),
        [_, Datum::Timestamp(micros)] => Ok(Datum::TimestampTz(zone.moment_of(*micros)?)),
        other => Err(wrong(other)),
    }
}

fn zone_of_interval(offset: &types::Interval) -> QueryResult<TimeZone> {
    let seconds = i32::try_from(offset.micros / SECOND).ok().filter(|_| offset.months == 0 && offset.days == 0);
    let refused = || {
        let mut shown = String::new();
        types::text::print(&Interval, &Datum::Interval(*offset), &mut shown);
        Refusal::Argument.because(format!("interval time zone \"{shown}\" must not include months or days"))
    };
    Ok(TimeZone::east(seconds.ok_or_else(refused)?))
}

fn zone_of(name: &str) -> QueryResult<TimeZone> {
    let zone = TimeZone::named(name);
    zone.ok_or_else(|| Refusal::Argument.because(format!("time zone \"{name}\" not recognized")))
}

/// Returns the abbreviation of a zone at a timestamp: `CEST`, `-03`, the letters of `FOO+3`.
pub(in crate::functions) fn abbreviation_at(micros: i64, zone: &str) -> QueryResult<String> {
    let letters = || match zone.strip_prefix('<').and_then(|quoted| quoted.split_once('>')) {
        Some((quoted, _)) => quoted.to_owned(),
        None => zone.trim_end_matches(|letter: char| !letter.is_ascii_alphabetic()).to_owned(),
    };
    Ok(zone_of(zone)?.abbreviation_at(micros).unwrap_or_else(letters))
}

/// Converts a timestamp in UTC to local time in the zone.
pub(in crate::functions) fn local_of(micros: i64, zone: &str) -> QueryResult<i64> {
    Ok(zone_of(zone)?.local_of(micros)?)
}

/// Converts local time in the zone to a timestamp in UTC.
pub(in crate::functions) fn moment_of(local: i64, zone: &str) -> QueryResult<i64> {
    Ok(zone_of(zone)?.moment_of(local)?)
}

/// Returns whether the style changes how texts are read as type `ty`.
fn is_read_in(style: Style, ty: &DataType) -> bool {
    match ty {
        DataType::Array(element) => is_read_in(style, &element.data_type()),
        DataType::Interval => style.intervals != IntervalStyle::Postgres,
        ty => ty.is_temporal() && style.dates != DateOrder::MonthDayYear,
    }
}

/// Returns whether the style changes how values of type `ty` are printed.
fn is_shown_in(style: Style, ty: &DataType) -> bool {
    match ty {
        DataType::Array(element) => is_shown_in(style, &element.data_type()),
        DataType::Interval => style.intervals != IntervalStyle::Postgres,
        ty => ty.is_float() && style.float_digits <= 0,
    }
}

/// Returns whether a cast depends on the zone.
fn reads_clocks(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    const MOMENTS: DataType = T::Array(ElementType::TimestampTz);
    match (from, to) {
        (T::TimestampTz(_), to) => to.is_text() || matches!(to, T::Date | T::Time(_) | T::Timestamp(_)),
        (from, T::TimestampTz(_)) => from.is_text() || matches!(from, T::Date | T::Timestamp(_)),
        (T::Array(_), T::Array(_)) => (*from == MOMENTS) != (*to == MOMENTS),
        (from, to) => (*from == MOMENTS && to.is_text()) || (*to == MOMENTS && from.is_text()),
    }
}
