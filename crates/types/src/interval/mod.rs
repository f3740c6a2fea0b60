//! Intervals: months, days and microseconds, kept separately because a month has no fixed number of days and a day no
//! fixed number of hours.
//!
//! They compare as if a month had 30 days and a day 24 hours, so `1 month = 30 days`, as in PostgreSQL.

mod fields;
mod iso;
mod parse;
mod print;
mod sum;
mod tokens;

pub use fields::{IntervalField, IntervalFields};
pub(crate) use parse::parse_styled;
pub use print::print_interval;
pub(crate) use print::print_styled;

use crate::temporal::{Civil, DAY, civil_from_days, days_from_civil, days_in_month};
use serde::{Deserialize, Serialize};

/// A span of time in three parts, each of which may be negative.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Interval {
    /// Whole months.
    pub months: i32,
    /// Whole days.
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

/// Days of a month in conversions.
const MONTH_DAYS: i32 = 30;

impl Interval {
    /// Returns the length in microseconds, for comparisons.
    pub fn span(self) -> i128 {
        let days = i128::from(self.months) * i128::from(MONTH_DAYS) + i128::from(self.days);
        days * i128::from(DAY) + i128::from(self.micros)
    }

    /// Adds part by part; `None` if a part is out of range.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self {
            months: self.months.checked_add(other.months)?,
            days: self.days.checked_add(other.days)?,
            micros: self.micros.checked_add(other.micros)?,
        })
    }

    /// Negates each part; `None` if a part is out of range.
    pub fn checked_neg(self) -> Option<Self> {
        Some(Self {
            months: self.months.checked_neg()?,
            days: self.days.checked_neg()?,
            micros: self.micros.checked_neg()?,
        })
    }

    /// Multiplies by `factor`. A fraction of a month becomes days, a fraction of a day becomes time.
    pub fn checked_mul(self, factor: f64) -> Option<Self> {
        let months = f64::from(self.months) * factor;
        let days = f64::from(self.days) * factor;
        let month_days = rounded_to_micros((months - months.trunc()) * f64::from(MONTH_DAYS));
        let day_fraction = (days - days.trunc()) + (month_days - month_days.trunc());
        let mut seconds = rounded_to_micros(day_fraction * 86_400.0);
        let mut whole = days.trunc() + month_days.trunc();
        if seconds.abs() >= 86_400.0 {
            whole += (seconds / 86_400.0).trunc();
            seconds -= (seconds / 86_400.0).trunc() * 86_400.0;
        }
        let micros = (self.micros as f64).mul_add(factor, seconds * 1e6).round_ties_even();
        Self::from_floats(months.trunc(), whole, micros)
    }

    /// Divides by `divisor`; `None` if a part is out of range, or for zero.
    pub fn checked_div(self, divisor: f64) -> Option<Self> {
        let months = f64::from(self.months) / divisor;
        let days = f64::from(self.days) / divisor;
        let month_days = rounded_to_micros((months - months.trunc()) * f64::from(MONTH_DAYS));
        let day_fraction = (days - days.trunc()) + (month_days - month_days.trunc());
        let mut seconds = rounded_to_micros(day_fraction * 86_400.0);
        let mut whole = days.trunc() + month_days.trunc();
        if seconds.abs() >= 86_400.0 {
            whole += (seconds / 86_400.0).trunc();
            seconds -= (seconds / 86_400.0).trunc() * 86_400.0;
        }
        let micros = (self.micros as f64 / divisor + seconds * 1e6).round_ties_even();
        Self::from_floats(months.trunc(), whole, micros)
    }

    fn from_floats(months: f64, days: f64, micros: f64) -> Option<Self> {
        let small = |value: f64| (value.abs() <= f64::from(i32::MAX)).then_some(value as i32);
        let micros = (micros.abs() < 9.2e18).then_some(micros as i64)?;
        Some(Self { months: small(months)?, days: small(days)?, micros })
    }

    /// Converts each 24 hours to a day: `justify_hours`.
    pub fn justify_hours(self) -> Option<Self> {
        let (mut days, mut micros) = (i64::from(self.days) + self.micros / DAY, self.micros % DAY);
        if days > 0 && micros < 0 {
            (days, micros) = (days - 1, micros + DAY);
        } else if days < 0 && micros > 0 {
            (days, micros) = (days + 1, micros - DAY);
        }
        Some(Self { days: i32::try_from(days).ok()?, micros, ..self })
    }

    /// Converts each 30 days to a month: `justify_days`.
    pub fn justify_days(self) -> Option<Self> {
        let (mut months, mut days) = (self.months.checked_add(self.days / MONTH_DAYS)?, self.days % MONTH_DAYS);
        if months > 0 && days < 0 {
            (months, days) = (months - 1, days + MONTH_DAYS);
        } else if months < 0 && days > 0 {
            (months, days) = (months + 1, days - MONTH_DAYS);
        }
        Some(Self { months, days, ..self })
    }

    /// Converts both, with one sign for all parts: `justify_interval`.
    pub fn justify(self) -> Option<Self> {
        let span = self.span();
        let (month, day) = (i128::from(MONTH_DAYS) * i128::from(DAY), i128::from(DAY));
        Some(Self {
            months: i32::try_from(span / month).ok()?,
            days: i32::try_from(span % month / day).ok()?,
            micros: i64::try_from(span % day).ok()?,
        })
    }

    /// Adds the interval to a timestamp: months first (the day is limited to the month's last), then days, then time.
    /// `None` if the result is out of range; infinities are unchanged.
    pub fn add_to(self, timestamp: i64) -> Option<i64> {
        if timestamp == i64::MIN || timestamp == i64::MAX {
            return Some(timestamp);
        }
        let (mut days, time) = (timestamp.div_euclid(DAY), timestamp.rem_euclid(DAY));
        if self.months != 0 {
            let date = civil_from_days(days);
            let month = date.year * 12 + i64::from(date.month) - 1 + i64::from(self.months);
            let (year, month) = (month.div_euclid(12), u8::try_from(month.rem_euclid(12) + 1).ok()?);
            days = days_from_civil(Civil { year, month, day: date.day.min(days_in_month(year, month)) });
        }
        let days = days.checked_add(i64::from(self.days))?;
        let sum = days.checked_mul(DAY)?.checked_add(time)?.checked_add(self.micros)?;
        (crate::temporal::MIN_TIMESTAMP..=crate::temporal::MAX_TIMESTAMP).contains(&sum).then_some(sum)
    }
}

/// Rounds to microseconds, to remove errors of binary fractions.
fn rounded_to_micros(value: f64) -> f64 {
    (value * 1e6).round_ties_even() / 1e6
}

impl PartialEq for Interval {
    fn eq(&self, other: &Self) -> bool {
        self.span() == other.span()
    }
}

impl Eq for Interval {}

impl std::hash::Hash for Interval {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.span().hash(state);
    }
}

#[cfg(test)]
mod tests;
