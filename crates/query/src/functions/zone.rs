//! Time zones: `timezone(zone, x)`, and local times of moments.

use super::sql::{Definition, define, strict, wrong};
use crate::Refusal;
use crate::error::QueryResult;
use arrow::array::timezone::Tz;
use chrono::{DateTime, Duration, TimeZone, Utc};
use std::str::FromStr;
use types::DataType::{Interval, Text, Timestamp, TimestampTz};
use types::Datum;

pub(super) static FUNCTIONS: &[Definition] = &[define(
    "timezone",
    &[
        strict(&[Text, TimestampTz], Timestamp, timezone),
        strict(&[Text, Timestamp], TimestampTz, timezone),
        strict(&[Interval, TimestampTz], Timestamp, timezone),
        strict(&[Interval, Timestamp], TimestampTz, timezone),
    ],
)];

fn timezone(args: &[Datum]) -> QueryResult<Datum> {
    match args {
        [Datum::Text(zone), Datum::TimestampTz(micros)] => local_of(*micros, zone).map(Datum::Timestamp),
        [Datum::Text(zone), Datum::Timestamp(micros)] => moment_of(*micros, zone).map(Datum::TimestampTz),
        [Datum::Interval(offset), Datum::TimestampTz(micros)] => {
            Ok(Datum::Timestamp(micros.saturating_add(offset.micros)))
        }
        [Datum::Interval(offset), Datum::Timestamp(micros)] => {
            Ok(Datum::TimestampTz(micros.saturating_sub(offset.micros)))
        }
        other => Err(wrong(other)),
    }
}

fn zone_of(name: &str) -> QueryResult<Tz> {
    // Names are found in any case, as in PostgreSQL.
    let found =
        Tz::from_str(name).or_else(|_| Tz::from_str(&name.to_uppercase())).or_else(|_| Tz::from_str(&title(name)));
    found.map_err(|_| Refusal::Argument.because(format!("time zone \"{name}\" not recognized")))
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

/// What clocks in that zone show at a moment.
pub(super) fn local_of(micros: i64, zone: &str) -> QueryResult<i64> {
    let zone = zone_of(zone)?;
    let Some(moment) = finite(micros) else { return Ok(micros) };
    Ok(moment.with_timezone(&zone).naive_local().and_utc().timestamp_micros())
}

/// The moment at which clocks show it: of a local time that comes twice the later one (standard time), of one that
/// never comes the time as if clocks had not been set.
pub(super) fn moment_of(micros: i64, zone: &str) -> QueryResult<i64> {
    let zone = zone_of(zone)?;
    let Some(local) = finite(micros) else { return Ok(micros) };
    let local = local.naive_utc();
    if let Some(moment) = zone.from_local_datetime(&local).latest() {
        return Ok(moment.timestamp_micros());
    }
    let before = zone.from_local_datetime(&(local - Duration::hours(1))).latest();
    Ok(before.map_or(micros, |moment| moment.timestamp_micros() + 3_600_000_000))
}

fn finite(micros: i64) -> Option<DateTime<Utc>> {
    if micros == i64::MIN || micros == i64::MAX { None } else { DateTime::<Utc>::from_timestamp_micros(micros) }
}
