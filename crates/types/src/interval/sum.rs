//! Adds up the parts of an interval's text, unit by unit, with a range check at every step.

use super::{Interval, IntervalField};
use crate::temporal::DAY;

/// Why a text is not an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Invalid syntax.
    Form,
    /// A part out of range.
    Range,
    /// The parts are in range, but the sum of years and months is not.
    Sum,
}

/// A unit, as a multiple of the part that it counts in.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    Years(i32),
    Months,
    Days(i32),
    Micros(i64),
    /// A word that PostgreSQL knows, but does not accept in an interval.
    Useless,
}

pub(super) const SECONDS: Unit = Unit::Micros(1_000_000);
pub(super) const MINUTES: Unit = Unit::Micros(60_000_000);
pub(super) const HOURS: Unit = Unit::Micros(3_600_000_000);
const DAYS_OF_MONTH: f64 = 30.0;
/// Bits of hours, minutes, seconds and their fractions.
const CLOCK: u32 = 0b1_1111;
const SECONDS_IN_PART: u32 = 0b111;

impl Unit {
    pub(super) fn of(field: IntervalField) -> Self {
        match field {
            IntervalField::Year => Self::Years(1),
            IntervalField::Month => Self::Months,
            IntervalField::Day => Self::Days(1),
            IntervalField::Hour => HOURS,
            IntervalField::Minute => MINUTES,
            IntervalField::Second => SECONDS,
        }
    }

    /// Returns the unit of a word, of which the first ten letters are significant.
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word.get(..10).unwrap_or(word) {
            "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecon" => Self::Micros(1),
            "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecon" => Self::Micros(1_000),
            "s" | "sec" | "secs" | "second" | "seconds" => SECONDS,
            "m" | "min" | "mins" | "minute" | "minutes" => MINUTES,
            "h" | "hr" | "hrs" | "hour" | "hours" => HOURS,
            "d" | "day" | "days" => Self::Days(1),
            "w" | "week" | "weeks" => Self::Days(7),
            "mon" | "mons" | "month" | "months" => Self::Months,
            "y" | "yr" | "yrs" | "year" | "years" => Self::Years(1),
            "dec" | "decs" | "decade" | "decades" => Self::Years(10),
            "c" | "cent" | "century" | "centuries" => Self::Years(100),
            "mil" | "mils" | "millennia" | "millennium" => Self::Years(1_000),
            "qtr" | "quarter" | "timezone" | "timezone_h" | "timezone_m" => Self::Useless,
            _ => return None,
        })
    }

    fn bits(self, fraction: f64) -> u32 {
        match self {
            Self::Micros(1) => 1,
            Self::Micros(1_000) => 1 << 1,
            Self::Micros(1_000_000) if fraction != 0.0 => SECONDS_IN_PART,
            Self::Micros(1_000_000) => 1 << 2,
            Self::Micros(60_000_000) => 1 << 3,
            Self::Micros(_) => 1 << 4,
            Self::Days(1) => 1 << 5,
            Self::Days(_) => 1 << 6,
            Self::Months => 1 << 7,
            Self::Years(1) => 1 << 8,
            Self::Years(10) => 1 << 9,
            Self::Years(100) => 1 << 10,
            Self::Years(_) | Self::Useless => 1 << 11,
        }
    }
}

/// A number; both parts have its sign.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub(super) whole: i64,
    pub(super) fraction: f64,
}

/// The sum of the parts read so far.
#[derive(Default)]
pub(super) struct Sum {
    years: i32,
    months: i32,
    days: i32,
    micros: i64,
    /// The units that were read, a bit each.
    units: u32,
}

impl Sum {
    /// Returns whether no unit was read.
    pub(super) fn is_empty(&self) -> bool {
        self.units == 0
    }

    /// Adds a number of a unit that can occur once.
    pub(super) fn add_once(&mut self, number: Number, unit: Unit) -> Result<(), Fault> {
        self.add(number, unit)?;
        self.claim(unit.bits(number.fraction))
    }

    /// Sets the time of day, which replaces fractions of days that were read.
    pub(super) fn set_clock(&mut self, micros: i64) -> Result<(), Fault> {
        self.micros = micros;
        self.claim(CLOCK)
    }

    fn claim(&mut self, units: u32) -> Result<(), Fault> {
        if self.units & units != 0 {
            return Err(Fault::Form);
        }
        self.units |= units;
        Ok(())
    }

    pub(super) fn add(&mut self, number: Number, unit: Unit) -> Result<(), Fault> {
        let Number { whole, fraction } = number;
        match unit {
            Unit::Years(years) => {
                add(&mut self.years, times(whole, years)?)?;
                // A fraction of a year becomes whole months.
                add(&mut self.months, (fraction * f64::from(years) * 12.0).round_ties_even() as i32)
            }
            Unit::Months => {
                add(&mut self.months, times(whole, 1)?)?;
                self.add_days(fraction * DAYS_OF_MONTH)
            }
            Unit::Days(days) => {
                add(&mut self.days, times(whole, days)?)?;
                self.add_days(fraction * f64::from(days))
            }
            Unit::Micros(unit) => {
                let whole = whole.checked_mul(unit).and_then(|whole| self.micros.checked_add(whole));
                self.micros = whole.ok_or(Fault::Range)?;
                self.add_micros(fraction * unit as f64)
            }
            Unit::Useless => Err(Fault::Form),
        }
    }

    fn add_days(&mut self, days: f64) -> Result<(), Fault> {
        add(&mut self.days, days as i32)?;
        self.add_micros(days.fract() * DAY as f64)
    }

    /// Rounds to microseconds; half a microsecond is rounded down.
    fn add_micros(&mut self, micros: f64) -> Result<(), Fault> {
        let rest = micros.fract();
        let rounding = i64::from(rest > 0.5) - i64::from(rest < -0.5);
        self.micros = self.micros.checked_add(micros as i64 + rounding).ok_or(Fault::Range)?;
        Ok(())
    }

    /// Negates all parts.
    pub(super) fn negate(&mut self) -> Result<(), Fault> {
        self.years = self.years.checked_neg().ok_or(Fault::Range)?;
        self.months = self.months.checked_neg().ok_or(Fault::Range)?;
        self.days = self.days.checked_neg().ok_or(Fault::Range)?;
        self.micros = self.micros.checked_neg().ok_or(Fault::Range)?;
        Ok(())
    }

    pub(super) fn interval(self) -> Result<Interval, Fault> {
        let months = i64::from(self.years) * 12 + i64::from(self.months);
        let months = i32::try_from(months).map_err(|_| Fault::Sum)?;
        Ok(Interval { months, days: self.days, micros: self.micros })
    }
}

fn times(number: i64, unit: i32) -> Result<i32, Fault> {
    i32::try_from(number).ok().and_then(|number| number.checked_mul(unit)).ok_or(Fault::Range)
}

fn add(part: &mut i32, more: i32) -> Result<(), Fault> {
    *part = part.checked_add(more).ok_or(Fault::Range)?;
    Ok(())
}
