//! Fields of dates, times and intervals: `extract`, `date_part`, `date_trunc`.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::number::numeric;
use types::temporal::{Civil, DAY, SECOND, civil_from_days, days_from_civil};
use types::{Datum, Decimal, Interval};

/// A date and a time of day; the part that a type lacks is zero.
#[derive(Clone, Copy)]
pub(in crate::functions) struct Moment {
    pub(in crate::functions) days: i64,
    pub(in crate::functions) time: i64,
    /// The name of the type, for error messages.
    pub(in crate::functions) kind: &'static str,
}

impl Moment {
    /// Returns `None` for infinite values and other types.
    pub(in crate::functions) fn of(value: &Datum) -> Option<Self> {
        let kind = value.kind_name();
        match *value {
            Datum::Date(days) if days != i32::MIN && days != i32::MAX => {
                Some(Self { days: i64::from(days), time: 0, kind })
            }
            Datum::Time(time) => Some(Self { days: 0, time, kind }),
            Datum::Timestamp(micros) | Datum::TimestampTz(micros) if micros != i64::MIN && micros != i64::MAX => {
                Some(Self { days: micros.div_euclid(DAY), time: micros.rem_euclid(DAY), kind })
            }
            _ => None,
        }
    }

    pub(in crate::functions) fn date(self) -> Civil {
        civil_from_days(self.days)
    }
}

/// Returns the day of the week; Monday is 1.
pub(in crate::functions) fn iso_weekday(days: i64) -> i64 {
    (days + 3).rem_euclid(7) + 1
}

/// Returns the ISO year and week of a day: a week belongs to the year of its Thursday.
pub(in crate::functions) fn iso_week(days: i64) -> (i64, i64) {
    let thursday = days - iso_weekday(days) + 4;
    let year = civil_from_days(thursday).year;
    (year, (thursday - first_of(year)) / 7 + 1)
}

pub(in crate::functions) fn first_of(year: i64) -> i64 {
    days_from_civil(Civil { year, month: 1, day: 1 })
}

pub(in crate::functions) fn day_of_year(days: i64) -> i64 {
    days - first_of(civil_from_days(days).year) + 1
}

/// Returns the year as displayed: there is no year 0.
pub(in crate::functions) fn shown_year(year: i64) -> i64 {
    if year > 0 { year } else { year - 1 }
}

fn century(year: i64) -> i64 {
    if year > 0 { (year + 99) / 100 } else { -((99 - (year - 1)) / 100) }
}

fn millennium(year: i64) -> i64 {
    if year > 0 { (year + 999) / 1000 } else { -((999 - (year - 1)) / 1000) }
}

/// Returns the canonical name of a field.
pub(in crate::functions) fn canonical(field: &str) -> String {
    let lower = field.trim().to_ascii_lowercase();
    match lower.as_str() {
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecond" => "microseconds",
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecond" => "milliseconds",
        "s" | "sec" | "secs" | "seconds" => "second",
        "m" | "min" | "mins" | "minutes" => "minute",
        "h" | "hr" | "hrs" | "hours" => "hour",
        "d" | "days" => "day",
        "w" | "weeks" => "week",
        "mon" | "mons" | "months" => "month",
        "qtr" | "quarters" => "quarter",
        "y" | "yr" | "yrs" | "years" => "year",
        "dec" | "decs" | "decades" => "decade",
        "c" | "cent" | "centuries" => "century",
        "mil" | "mils" | "millennia" => "millennium",
        _ => return lower,
    }
    .to_owned()
}

fn unknown(field: &str, kind: &str) -> QueryError {
    Refusal::Argument.because(format!("unit \"{field}\" not recognized for type {kind}"))
}

fn unsupported(field: &str, kind: &str) -> QueryError {
    // PostgreSQL reports 0A000 too.
    QueryError::Unsupported { feature: format!("unit \"{field}\" for type {kind}") }
}

fn whole(value: i64) -> Decimal {
    Decimal::from(value)
}

fn micros(value: i128, scale: u8) -> QueryResult<Decimal> {
    Decimal::new(value, scale).ok_or_else(numeric::overflow)
}

/// Returns the value of a field; `None` for a field of an infinite value.
///
/// # Errors
/// 22023 for an unknown field, 0A000 for a field that the type lacks.
pub(in crate::functions) fn extract(field: &str, value: &Datum) -> QueryResult<Option<Decimal>> {
    let name = canonical(field);
    if let Datum::Interval(interval) = value {
        return of_interval(&name, *interval).map(Some);
    }
    match Moment::of(value) {
        Some(moment) if matches!(value, Datum::Time(_)) => of_time(&name, moment).map(Some),
        Some(moment) => match clock_field(&name, moment)? {
            Some(_) if matches!(value, Datum::Date(_)) => Err(unsupported(&name, moment.kind)),
            Some(value) => Ok(Some(value)),
            None => calendar_field(&name, moment, value).map(Some),
        },
        None => {
            // PostgreSQL returns infinity for fields that grow without bound, but [`Decimal`] has no infinity.
            let start = Moment { days: 0, time: 0, kind: value.kind_name() };
            if clock_field(&name, start)?.is_some() {
                let date = matches!(value, Datum::Date(_));
                return if date { Err(unsupported(&name, start.kind)) } else { Ok(None) };
            }
            calendar_field(&name, start, value)?;
            Ok(None)
        }
    }
}

fn of_time(name: &str, moment: Moment) -> QueryResult<Decimal> {
    if name == "epoch" {
        return micros(i128::from(moment.time), 6);
    }
    match clock_field(name, moment)? {
        Some(value) => Ok(value),
        None => {
            // Reports a field that no type has as unknown.
            calendar_field(name, moment, &Datum::Date(0))?;
            Err(unsupported(name, moment.kind))
        }
    }
}

/// Returns a field from hours to microseconds; `None` for other fields.
fn clock_field(name: &str, Moment { time, .. }: Moment) -> QueryResult<Option<Decimal>> {
    let in_minute = i128::from(time % (60 * SECOND));
    Ok(Some(match name {
        "microseconds" => micros(in_minute, 0)?,
        "milliseconds" => micros(in_minute, 3)?,
        "second" => micros(in_minute, 6)?,
        "minute" => whole(time / (60 * SECOND) % 60),
        "hour" => whole(time / (3_600 * SECOND)),
        _ => return Ok(None),
    }))
}

fn calendar_field(name: &str, moment: Moment, value: &Datum) -> QueryResult<Decimal> {
    let date = moment.date();
    Ok(whole(match name {
        "day" => i64::from(date.day),
        "month" => i64::from(date.month),
        "quarter" => (i64::from(date.month) - 1) / 3 + 1,
        "year" => shown_year(date.year),
        "week" => iso_week(moment.days).1,
        "isoyear" => shown_year(iso_week(moment.days).0),
        "dow" => iso_weekday(moment.days) % 7,
        "isodow" => iso_weekday(moment.days),
        "doy" => day_of_year(moment.days),
        "decade" => date.year.div_euclid(10),
        "century" => century(date.year),
        "millennium" => millennium(date.year),
        "epoch" => {
            let all = i128::from(moment.days) * i128::from(DAY) + i128::from(moment.time);
            return if matches!(value, Datum::Date(_)) { micros(all / i128::from(SECOND), 0) } else { micros(all, 6) };
        }
        "julian" => {
            let day = whole(moment.days + 2_440_588);
            if matches!(value, Datum::Date(_)) {
                return Ok(day);
            }
            let part = numeric::quotient(micros(i128::from(moment.time), 0)?, whole(DAY))?;
            let scaled = day.rescale(part.scale).ok_or_else(numeric::overflow)?;
            return micros(scaled.unscaled + part.unscaled, part.scale);
        }
        "timezone" | "timezone_hour" | "timezone_minute" if matches!(value, Datum::TimestampTz(_)) => 0,
        "timezone" | "timezone_hour" | "timezone_minute" => return Err(unsupported(name, moment.kind)),
        _ => return Err(unknown(name, moment.kind)),
    }))
}

fn of_interval(name: &str, interval: Interval) -> QueryResult<Decimal> {
    let (months, time) = (i64::from(interval.months), interval.micros);
    let in_minute = i128::from(time % (60 * SECOND));
    Ok(match name {
        "microseconds" => micros(in_minute, 0)?,
        "milliseconds" => micros(in_minute, 3)?,
        "second" => micros(in_minute, 6)?,
        "minute" => whole(time / (60 * SECOND) % 60),
        "hour" => whole(time / (3_600 * SECOND)),
        "day" => whole(i64::from(interval.days)),
        "month" => whole(months % 12),
        "quarter" => whole(months % 12 / 3 + 1),
        "year" => whole(months / 12),
        "decade" => whole(months / 120),
        "century" => whole(months / 1_200),
        "millennium" => whole(months / 12_000),
        "epoch" => {
            // PostgreSQL counts 365.25 days for a year and 30 for a month.
            let years = i128::from(months / 12) * 1_461 * i128::from(DAY) / 4;
            let days = i128::from(months % 12 * 30 + i64::from(interval.days)) * i128::from(DAY);
            micros(years + days + i128::from(time), 6)?
        }
        "week" | "dow" | "isodow" | "doy" | "isoyear" | "julian" | "timezone" | "timezone_hour" | "timezone_minute" => {
            return Err(unsupported(name, "interval"));
        }
        _ => return Err(unknown(name, "interval")),
    })
}

/// Is the field a part of a day?
pub(in crate::functions) fn is_of_day(field: &str) -> bool {
    matches!(canonical(field).as_str(), "hour" | "minute" | "second" | "milliseconds" | "microseconds")
}

/// Returns the start of the unit that contains the value.
pub(in crate::functions) fn truncate(field: &str, value: &Datum) -> QueryResult<Datum> {
    if let Datum::Interval(interval) = value {
        return truncate_interval(&canonical(field), *interval).map(Datum::Interval);
    }
    let name = canonical(field);
    let kind = value.kind_name();
    let Some(moment) = Moment::of(value) else {
        truncate_moment(&name, Moment { days: 0, time: 0, kind })?;
        return Ok(value.clone());
    };
    let micros = truncate_moment(&name, moment)?;
    Ok(match value {
        Datum::TimestampTz(_) => Datum::TimestampTz(micros),
        _ => Datum::Timestamp(micros),
    })
}

/// Returns the microseconds of a unit that divides a day; `None` for other units.
fn unit_of_day(name: &str) -> Option<i64> {
    match name {
        "microseconds" => Some(1),
        "milliseconds" => Some(1_000),
        "second" => Some(SECOND),
        "minute" => Some(60 * SECOND),
        "hour" => Some(3_600 * SECOND),
        _ => None,
    }
}

fn truncate_moment(name: &str, moment: Moment) -> QueryResult<i64> {
    let Moment { days, time, .. } = moment;
    let date = moment.date();
    if let Some(unit) = unit_of_day(name) {
        return Ok(days * DAY + time / unit * unit);
    }
    let start = |year, month| days_from_civil(Civil { year, month, day: 1 });
    let days = match name {
        "day" => days,
        "week" => days - iso_weekday(days) + 1,
        "month" => start(date.year, date.month),
        "quarter" => start(date.year, (date.month - 1) / 3 * 3 + 1),
        "year" => start(date.year, 1),
        "decade" => start(date.year.div_euclid(10) * 10, 1),
        "century" => start((date.year - 1).div_euclid(100) * 100 + 1, 1),
        "millennium" => start((date.year - 1).div_euclid(1_000) * 1_000 + 1, 1),
        "dow" | "isodow" | "doy" | "epoch" | "isoyear" | "julian" | "timezone" => {
            return Err(unsupported(name, moment.kind));
        }
        _ => return Err(unknown(name, moment.kind)),
    };
    Ok(days * DAY)
}

fn truncate_interval(name: &str, interval: Interval) -> QueryResult<Interval> {
    let Interval { months, days, micros } = interval;
    if let Some(unit) = unit_of_day(name) {
        return Ok(Interval { micros: micros / unit * unit, ..interval });
    }
    let to = |unit: i32| Interval { months: months / unit * unit, days: 0, micros: 0 };
    Ok(match name {
        "day" => Interval { months, days, micros: 0 },
        "month" => to(1),
        "quarter" => to(3),
        "year" => to(12),
        "decade" => to(120),
        "century" => to(1_200),
        "millennium" => to(12_000),
        "week" => return Err(unsupported(name, "interval")),
        _ => return Err(unknown(name, "interval")),
    })
}
