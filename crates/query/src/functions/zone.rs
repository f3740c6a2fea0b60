//! Time zones: `timezone(zone, x)`, local times of moments, and the session's zone where a function reads it.

use super::clocks::{TIMESTAMP, TIMESTAMPTZ};
use super::sql::{Definition, arguments, define, strict, wrong};
use super::{read_date, series};
use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use arrow::array::timezone::Tz;
use chrono::{DateTime, Duration, NaiveDateTime, Offset, TimeZone, Utc};
use chrono_tz::OffsetName as _;
use std::str::FromStr;
use types::DataType::{Interval, Numeric, Text};
use types::temporal::{self, SECOND, ZoneRules};
use types::{DataType, DateOrder, Datum, ElementType, IntervalStyle, Style};

const MOMENTS: DataType = DataType::Array(ElementType::TimestampTz);

pub(super) static FUNCTIONS: &[Definition] = &[
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

/// A session's zone, by its name, and its style of texts, if one of them is not what plans are made for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Zone {
    name: String,
    style: Style,
}

impl Zone {
    /// Of the session's settings; `None` for UTC in PostgreSQL's style.
    pub(crate) fn of_session(name: &str, style: Style) -> Option<Self> {
        let utc = ["utc", "etc/utc", "z", "zulu", "universal"].contains(&name.to_ascii_lowercase().as_str());
        (!utc || style != Style::POSTGRES).then(|| Self { name: name.to_owned(), style })
    }

    /// UTC, for the rules of zones that are named.
    pub(crate) fn utc() -> Self {
        Self { name: "UTC".to_owned(), style: Style::POSTGRES }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// What clocks of the session show.
    pub(crate) fn local_of(&self, micros: i64) -> QueryResult<i64> {
        local_of(micros, &self.name)
    }

    /// When clocks of the session show it.
    pub(crate) fn moment_of(&self, local: i64) -> QueryResult<i64> {
        moment_of(local, &self.name)
    }

    /// Does a cast depend on the zone or the style?
    pub(crate) fn changes_cast(&self, from: &DataType, to: &DataType) -> bool {
        let styled = from.is_text() && is_read_in(self.style, to) || to.is_text() && is_shown_in(self.style, from);
        styled || reads_clocks(from, to)
    }

    /// Does the text of values of that type depend on one of them?
    pub(crate) fn changes_text(&self, ty: &DataType) -> bool {
        !ty.is_text() && self.changes_cast(ty, &DataType::Text)
    }

    /// A moment as text, with the zone's offset.
    pub(crate) fn print(&self, micros: i64) -> QueryResult<String> {
        let seconds = (self.local_of(micros)?.saturating_sub(micros)) / SECOND;
        let mut text = String::new();
        temporal::print_timestamptz(micros, i32::try_from(seconds).unwrap_or(0), &mut text);
        Ok(text)
    }
}

/// The rules for text without a zone, and for names of zones.
impl ZoneRules for Zone {
    fn offset_at_local(&self, name: Option<&str>, local_micros: i64) -> Option<i32> {
        offset_of(name.unwrap_or(&self.name), local_micros)
    }

    fn style(&self) -> Style {
        self.style
    }
}

/// Seconds that a zone is ahead of UTC when its clocks show that.
pub(crate) fn offset_of(zone: &str, local: i64) -> Option<i32> {
    let moment = moment_of(local, zone).ok()?;
    i32::try_from(local.checked_sub(moment)? / SECOND).ok()
}

/// The text of a date or time without the name of a zone, where the type has none.
pub(crate) fn without_zone<'a>(text: &'a str, ty: &DataType) -> &'a str {
    match ty {
        DataType::Date | DataType::Time(_) | DataType::Timestamp(_) => {
            temporal::without_zone_name(text, &Zone::utc()).unwrap_or(text)
        }
        _ => text,
    }
}

/// A text read by a pattern: by the clocks of the zone, unless it says how far its own are from UTC.
fn to_timestamp(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(zone), Datum::Text(text), Datum::Text(pattern)]);
    let read = read_date::parse(text, pattern)?;
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

/// Days and months are those of local clocks, hours are hours.
fn moved(micros: i64, by: &types::Interval, zone: &str) -> QueryResult<i64> {
    let days = types::Interval { micros: 0, ..*by };
    let moved = if by.months == 0 && by.days == 0 {
        Some(micros)
    } else {
        days.add_to(local_of(micros, zone)?).map(|local| moment_of(local, zone)).transpose()?
    };
    let moved = moved.and_then(|moved| moved.checked_add(by.micros));
    moved.ok_or(QueryError::TimestampRange)
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
    // Abbreviations come first: CET is one hour all year round, the zone of that name is not.
    if let [Datum::Text(zone), moment] = args
        && let Some(seconds) = temporal::abbreviation(zone)
    {
        let offset = i64::from(seconds) * SECOND;
        let moved = |micros: i64, by: i64| if is_infinite(micros) { micros } else { micros.saturating_add(by) };
        return match moment {
            Datum::TimestampTz(micros) => Ok(Datum::Timestamp(moved(*micros, offset))),
            Datum::Timestamp(micros) => Ok(Datum::TimestampTz(moved(*micros, -offset))),
            _ => Err(wrong(args)),
        };
    }
    match args {
        [Datum::Text(zone), Datum::TimestampTz(micros)] => local_of(*micros, zone).map(Datum::Timestamp),
        [Datum::Text(zone), Datum::Timestamp(micros)] => moment_of(*micros, zone).map(Datum::TimestampTz),
        [Datum::Interval(offset), Datum::TimestampTz(micros)] => {
            Ok(Datum::Timestamp(if is_infinite(*micros) { *micros } else { micros.saturating_add(offset.micros) }))
        }
        [Datum::Interval(offset), Datum::Timestamp(micros)] => {
            Ok(Datum::TimestampTz(if is_infinite(*micros) { *micros } else { micros.saturating_sub(offset.micros) }))
        }
        other => Err(wrong(other)),
    }
}

/// A zone of the list, or seconds east of UTC.
enum Found {
    Named(Tz),
    Offset(i32),
}

fn zone_of(name: &str) -> QueryResult<Found> {
    // Offsets count westwards here, in the list they do not.
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        let offset = temporal::posix_zone(name).map(Found::Offset);
        return offset.ok_or_else(|| no_zone(name));
    }
    // Names are found in any case, as in PostgreSQL.
    let found =
        Tz::from_str(name).or_else(|_| Tz::from_str(&name.to_uppercase())).or_else(|_| Tz::from_str(&title(name)));
    match found {
        Ok(zone) => Ok(Found::Named(zone)),
        Err(_) => temporal::posix_zone(name).map(Found::Offset).ok_or_else(|| no_zone(name)),
    }
}

fn no_zone(name: &str) -> QueryError {
    Refusal::Argument.because(format!("time zone \"{name}\" not recognized"))
}

/// `europe/berlin` as `Europe/Berlin`.
fn title(name: &str) -> String {
    let mut inside = false;
    let letter = |letter: char| {
        let out = if inside { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() };
        inside = letter.is_alphabetic();
        out
    };
    name.chars().map(letter).collect()
}

/// What the time of a zone is called at a moment: `CEST`, `-03`, the letters of `FOO+3`.
pub(super) fn abbreviation_at(micros: i64, zone: &str) -> QueryResult<String> {
    let Found::Named(named) = zone_of(zone)? else {
        let letters = match zone.strip_prefix('<').and_then(|quoted| quoted.split_once('>')) {
            Some((quoted, _)) => quoted,
            None => zone.trim_end_matches(|letter: char| !letter.is_ascii_alphabetic()),
        };
        return Ok(letters.to_owned());
    };
    // DataFusion's library knows offsets only.
    let zone = chrono_tz::TZ_VARIANTS.iter().find(|known| known.name().eq_ignore_ascii_case(zone));
    let moment = date_time(temporal::with_known_rules(micros));
    let (Some(zone), Some(moment)) = (zone, moment) else { return Ok(String::new()) };
    let offset = zone.offset_from_utc_datetime(&moment.naive_utc());
    let seconds = named.offset_from_utc_datetime(&moment.naive_utc()).fix().local_minus_utc();
    Ok(offset.abbreviation().map_or_else(|| shown_offset(seconds), str::to_owned))
}

/// `+03`, `+0530`: the name of times that have no letters.
fn shown_offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    match seconds.abs() / 60 % 60 {
        0 => format!("{sign}{:02}", seconds.abs() / 3_600),
        minutes => format!("{sign}{:02}{minutes:02}", seconds.abs() / 3_600),
    }
}

/// What clocks in that zone show at a moment.
pub(super) fn local_of(micros: i64, zone: &str) -> QueryResult<i64> {
    let zone = zone_of(zone)?;
    if is_infinite(micros) {
        return Ok(micros);
    }
    let east = match zone {
        Found::Offset(seconds) => seconds,
        Found::Named(zone) => match date_time(temporal::with_known_rules(micros)) {
            Some(moment) => zone.offset_from_utc_datetime(&moment.naive_utc()).fix().local_minus_utc(),
            None => 0,
        },
    };
    shifted(micros, i64::from(east))
}

/// The moment at which clocks show it: of a local time that comes twice the later one (standard time), of one that
/// never comes the time as if clocks had not been set.
pub(super) fn moment_of(micros: i64, zone: &str) -> QueryResult<i64> {
    let zone = zone_of(zone)?;
    if is_infinite(micros) {
        return Ok(micros);
    }
    let east = match zone {
        Found::Offset(seconds) => seconds,
        Found::Named(zone) => match date_time(temporal::with_known_rules(micros)) {
            Some(local) => east_at(&zone, local.naive_utc()),
            None => 0,
        },
    };
    shifted(micros, -i64::from(east))
}

fn east_at(zone: &Tz, local: NaiveDateTime) -> i32 {
    // Hours that never come are at most the day that some islands left out.
    let found = [0, 1, 3, 25].into_iter().find_map(|hours| {
        let before = local.checked_sub_signed(Duration::hours(hours))?;
        zone.offset_from_local_datetime(&before).latest()
    });
    found.map_or(0, |offset| offset.fix().local_minus_utc())
}

fn shifted(micros: i64, seconds: i64) -> QueryResult<i64> {
    let shifted = micros.checked_add(seconds * SECOND).filter(|micros| !is_infinite(*micros));
    shifted.ok_or(QueryError::TimestampRange)
}

fn is_infinite(micros: i64) -> bool {
    micros == i64::MIN || micros == i64::MAX
}

fn date_time(micros: i64) -> Option<DateTime<Utc>> {
    DateTime::<Utc>::from_timestamp_micros(micros)
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
