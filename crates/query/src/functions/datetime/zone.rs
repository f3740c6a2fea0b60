//! Time zones: `timezone(zone, x)`, local times of moments, and the session's zone where a function reads it.

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
    // What queries write without a zone becomes these in sessions that have one: no query can write their names.
    define("plus in zone", &[strict(&[Text, TIMESTAMPTZ, Interval], TIMESTAMPTZ, plus)]),
    define("minus in zone", &[strict(&[Text, TIMESTAMPTZ, Interval], TIMESTAMPTZ, minus)]),
    define("to_timestamp in zone", &[strict(&[Text, Text, Text], TIMESTAMPTZ, to_timestamp)]),
    define("generate_series in zone", &[strict(&[Text, TIMESTAMPTZ, TIMESTAMPTZ, Interval], MOMENTS, series)]),
    define("offset in zone", &[strict(&[Text, Text, TIMESTAMPTZ], Numeric(None), offset)]),
];

/// A session's zone and its style of texts, if one of them is not what plans are made for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// Of the session's settings; `None` for UTC in PostgreSQL's style.
    pub(crate) fn of_session(name: &str, zone: TimeZone) -> Option<Self> {
        let utc = ["utc", "etc/utc", "z", "zulu", "universal"].contains(&name.to_ascii_lowercase().as_str());
        (!utc || zone.style() != Style::POSTGRES).then(|| Self { name: name.to_owned(), zone })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The zone with its rules.
    pub(crate) fn rules(&self) -> TimeZone {
        self.zone
    }

    /// Does a cast depend on the zone or the style?
    pub(crate) fn changes_cast(&self, from: &DataType, to: &DataType) -> bool {
        let style = self.zone.style();
        let styled = from.is_text() && is_read_in(style, to) || to.is_text() && is_shown_in(style, from);
        styled || reads_clocks(from, to)
    }

    /// Does the text of values of that type depend on one of them?
    pub(crate) fn changes_text(&self, ty: &DataType) -> bool {
        !ty.is_text() && self.changes_cast(ty, &DataType::Text)
    }
}

/// The text of a date or time without the name of a zone, where the type has none.
pub(crate) fn without_zone<'a>(text: &'a str, ty: &DataType) -> &'a str {
    match ty {
        DataType::Date | DataType::Time(_) | DataType::Timestamp(_) => {
            temporal::without_zone_name(text, &TimeZone::UTC).unwrap_or(text)
        }
        _ => text,
    }
}

/// A text read by a pattern: by the clocks of the zone, unless it says how far its own are from UTC.
fn to_timestamp(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(zone), Datum::Text(text), Datum::Text(pattern)]);
    let read = read::parse(text, pattern)?;
    let moment = match read.offset {
        Some(offset) => read.local.checked_sub(offset).ok_or(QueryError::TimestampRange)?,
        None => moment_of(read.local, zone)?,
    };
    Ok(Datum::TimestampTz(moment))
}

/// Moments, each moved from the one before.
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

/// `extract(timezone from moment)` and its parts.
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
        // Abbreviations come first: CET is one hour all year round, the zone of that name is not.
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

/// What the time of a zone is called at a moment: `CEST`, `-03`, the letters of `FOO+3`.
pub(in crate::functions) fn abbreviation_at(micros: i64, zone: &str) -> QueryResult<String> {
    let letters = || match zone.strip_prefix('<').and_then(|quoted| quoted.split_once('>')) {
        Some((quoted, _)) => quoted.to_owned(),
        None => zone.trim_end_matches(|letter: char| !letter.is_ascii_alphabetic()).to_owned(),
    };
    Ok(zone_of(zone)?.abbreviation_at(micros).unwrap_or_else(letters))
}

/// What clocks in that zone show at a moment.
pub(in crate::functions) fn local_of(micros: i64, zone: &str) -> QueryResult<i64> {
    Ok(zone_of(zone)?.local_of(micros)?)
}

/// The moment at which clocks in that zone show it.
pub(in crate::functions) fn moment_of(local: i64, zone: &str) -> QueryResult<i64> {
    Ok(zone_of(zone)?.moment_of(local)?)
}

/// Do texts of that type mean something else in that style?
fn is_read_in(style: Style, ty: &DataType) -> bool {
    match ty {
        DataType::Array(element) => is_read_in(style, &element.data_type()),
        DataType::Interval => style.intervals != IntervalStyle::Postgres,
        ty => ty.is_temporal() && style.dates != DateOrder::MonthDayYear,
    }
}

/// Have values of that type another text in that style?
fn is_shown_in(style: Style, ty: &DataType) -> bool {
    match ty {
        DataType::Array(element) => is_shown_in(style, &element.data_type()),
        DataType::Interval => style.intervals != IntervalStyle::Postgres,
        ty => ty.is_float() && style.float_digits <= 0,
    }
}

/// Does a cast depend on the zone?
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
