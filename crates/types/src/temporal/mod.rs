//! Dates, times and timestamps: the calendar, and their text forms.
//!
//! All count from 1970-01-01 (days or microseconds) in the proleptic Gregorian calendar, as PostgreSQL does. Ranges are
//! PostgreSQL's except for one end: microseconds since 1970 in an `i64` end in the year 294247, not 294276.
//!
//! Zones: this crate knows abbreviations and numeric offsets. Named zones need a time zone database, so callers that
//! have one pass it as [`ZoneRules`].

mod abbreviation;
mod far_future;
mod parse;
mod posix_zone;
mod print;
mod rounding;

pub use abbreviation::{abbreviation, abbreviations, is_summer_time};
pub use far_future::with_known_rules;
pub use parse::{parse_date_in, parse_time_in, parse_timestamp_in, parse_timestamptz_in, without_zone_name};
pub use posix_zone::{posix_text, posix_zone};
pub use print::{print_date, print_time, print_timestamp, print_timestamptz};
pub use rounding::rounded;

use crate::{Datum, Style};

/// Microseconds of a day.
pub const DAY: i64 = 86_400_000_000;
/// Microseconds of a second.
pub const SECOND: i64 = 1_000_000;
/// `-infinity` and `infinity` of `date`.
pub const DATE_INFINITIES: (i32, i32) = (i32::MIN, i32::MAX);
/// `-infinity` and `infinity` of `timestamp` and `timestamptz`.
pub const TIMESTAMP_INFINITIES: (i64, i64) = (i64::MIN, i64::MAX);
/// First date: 4714-11-24 BC, Julian day 0.
pub const MIN_DATE: i32 = -2_440_588;
/// Last date: 5874897-12-31.
pub const MAX_DATE: i32 = 2_145_042_905;
/// First timestamp: 4714-11-24 00:00 BC.
pub const MIN_TIMESTAMP: i64 = MIN_DATE as i64 * DAY;
/// Last timestamp, in the year 294247.
pub const MAX_TIMESTAMP: i64 = i64::MAX - 1;

/// A time zone database, such as the engine has.
pub trait ZoneRules {
    /// Returns the seconds east of UTC in the zone `name` (`None`: the session's) at a local time. `None` for an
    /// unknown zone.
    fn offset_at_local(&self, name: Option<&str>, local_micros: i64) -> Option<i32>;

    /// Returns the session's text formats. Called only if the meaning of a text depends on them.
    fn style(&self) -> Style {
        Style::default()
    }
}

/// Knows UTC only.
pub struct Utc;

impl ZoneRules for Utc {
    fn offset_at_local(&self, name: Option<&str>, _local_micros: i64) -> Option<i32> {
        name.is_none().then_some(0)
    }
}

/// Year (0 is 1 BC), month 1 to 12, day 1 to 31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// Astronomical year: 0 is 1 BC, -1 is 2 BC.
    pub year: i64,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

/// Returns the days since 1970-01-01. Counts in eras of 400 years that begin in March, so that leap days come last.
pub fn days_from_civil(date: Civil) -> i64 {
    let year = date.year - i64::from(date.month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (i64::from(date.month) + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(date.day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse of [`days_from_civil`].
pub fn civil_from_days(days: i64) -> Civil {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    Civil { year, month: u8::try_from(month).unwrap_or(1), day: u8::try_from(day).unwrap_or(1) }
}

/// Returns the days of a month; 0 for a month that does not exist.
pub fn days_in_month(year: i64, month: u8) -> u8 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

/// Returns whether the value is in the range of its type (infinities included). Values of other kinds are.
pub fn in_range(value: &Datum) -> bool {
    match *value {
        Datum::Date(days) => days == i32::MIN || days == i32::MAX || (MIN_DATE..=MAX_DATE).contains(&days),
        Datum::Time(micros) => (0..=DAY).contains(&micros),
        Datum::Timestamp(micros) | Datum::TimestampTz(micros) => micros == i64::MIN || micros >= MIN_TIMESTAMP,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_inverse() {
        for days in (-3_000_000..3_000_000).step_by(97).chain([i64::from(MIN_DATE), i64::from(MAX_DATE)]) {
            let date = civil_from_days(days);
            assert_eq!(days_from_civil(date), days);
            assert!(date.day >= 1 && date.day <= days_in_month(date.year, date.month), "{date:?}");
        }
        assert_eq!(days_from_civil(Civil { year: 1970, month: 1, day: 1 }), 0);
        assert_eq!(days_from_civil(Civil { year: 2000, month: 1, day: 1 }), 10_957);
    }

    #[test]
    fn the_limits_are_those_of_postgresql() {
        assert_eq!(days_from_civil(Civil { year: -4713, month: 11, day: 24 }), i64::from(MIN_DATE));
        assert_eq!(days_from_civil(Civil { year: 5_874_897, month: 12, day: 31 }), i64::from(MAX_DATE));
    }
}
