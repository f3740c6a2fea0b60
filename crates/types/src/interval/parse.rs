//! Text to intervals: `1 year 2 mons -3 days 04:05:06.5`, `@ 1 minute ago`, `1-2` (years and months), `P1Y2M3DT4H5M6S`.

use super::{Interval, IntervalField, IntervalFields};
use crate::temporal::DAY;
use crate::{IntervalStyle, TypeError};

/// Reads an interval in any of the forms that PostgreSQL reads.
///
/// # Errors
/// [`TypeError::InvalidText`], and [`TypeError::IntervalRange`] for parts that are too large.
pub fn parse_interval(text: &str) -> Result<Interval, TypeError> {
    parse_interval_of(text, IntervalFields::default())
}

/// Reads an interval of some fields: `5:06` of MINUTE TO SECOND, `7` of DAY.
///
/// # Errors
/// Those of [`parse_interval`].
pub fn parse_interval_of(text: &str, fields: IntervalFields) -> Result<Interval, TypeError> {
    let fault = |fault| match fault {
        Fault::Form => TypeError::InvalidText { ty: "interval".to_owned(), input: text.to_owned() },
        Fault::Range => TypeError::IntervalRange { input: text.to_owned() },
    };
    let lower = text.trim().to_ascii_lowercase();
    let sum = if lower.starts_with('p') { iso(&lower) } else { verbose(&lower, fields) };
    sum.and_then(|sum| sum.interval()).map(|interval| fields.limit(interval)).map_err(fault)
}

/// As [`parse_interval`]; in SQL's style the sign in front of a text that has no other is that of all its parts:
/// `-1 2:03` is a day and two hours ago.
pub(crate) fn parse_styled(text: &str, style: impl Fn() -> IntervalStyle) -> Result<Interval, TypeError> {
    let interval = parse_interval(text)?;
    let Some(rest) = text.trim_start().strip_prefix('-') else { return Ok(interval) };
    let field_before = |at: usize| rest.get(..at).is_some_and(|head| !head.ends_with(|c: char| c.is_ascii_digit()));
    let signed = rest.match_indices(['+', '-']).any(|(at, _)| field_before(at));
    if signed || style() != IntervalStyle::SqlStandard {
        return Ok(interval);
    }
    let Interval { months, days, micros } = interval;
    Ok(Interval {
        months: if months > 0 { -months } else { months },
        days: if days > 0 { -days } else { days },
        micros: if micros > 0 { -micros } else { micros },
    })
}

enum Fault {
    Form,
    Range,
}

/// What was read so far. Wide, so that only the end result must be in range.
#[derive(Default)]
struct Sum {
    months: i128,
    days: i128,
    micros: i128,
    /// Units that were read, a bit each.
    units: u32,
}

impl Sum {
    /// A unit stands once.
    fn claim(&mut self, units: u32) -> Result<(), Fault> {
        if self.units & units != 0 {
            return Err(Fault::Form);
        }
        self.units |= units;
        Ok(())
    }

    /// A number of a unit that may stand once.
    fn add_once(&mut self, number: Number, unit: Unit) -> Result<(), Fault> {
        let seconds_in_part = matches!(unit, Unit::Micros(1_000_000)) && number.fraction != 0.0;
        self.claim(if seconds_in_part { SECONDS_IN_PART } else { unit.bit() })?;
        self.add(number, unit);
        Ok(())
    }

    fn interval(self) -> Result<Interval, Fault> {
        Ok(Interval {
            months: i32::try_from(self.months).map_err(|_| Fault::Range)?,
            days: i32::try_from(self.days).map_err(|_| Fault::Range)?,
            micros: i64::try_from(self.micros).map_err(|_| Fault::Range)?,
        })
    }

    fn add(&mut self, number: Number, unit: Unit) {
        let Number { whole, fraction } = number;
        match unit {
            Unit::Months(months) => {
                self.months += whole * months;
                let part = fraction * months as f64;
                if months == 1 {
                    self.add_days(part * 30.0);
                } else {
                    // A fraction of a year is made of whole months.
                    self.months += part.round_ties_even() as i128;
                }
            }
            Unit::Days(days) => {
                self.days += whole * days;
                self.add_days(fraction * days as f64);
            }
            Unit::Micros(micros) => {
                self.micros += whole * micros + (fraction * micros as f64).round_ties_even() as i128;
            }
        }
    }

    fn add_days(&mut self, days: f64) {
        self.days += days.trunc() as i128;
        self.micros += (days.fract() * DAY as f64).round_ties_even() as i128;
    }
}

/// A number with its sign on both parts.
#[derive(Clone, Copy)]
struct Number {
    whole: i128,
    fraction: f64,
}

impl Number {
    fn parse(text: &str) -> Option<Self> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) || whole.len() > 30 {
            return None;
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let fraction: f64 = if fraction.is_empty() { 0.0 } else { format!("0.{fraction}").parse().ok()? };
        Some(Self { whole: whole * sign, fraction: fraction * sign as f64 })
    }
}

#[derive(Clone, Copy)]
enum Unit {
    Months(i128),
    Days(i128),
    Micros(i128),
}

/// Hours, minutes and seconds.
const CLOCK: u32 = 0b1_1100;
/// Seconds, milliseconds and microseconds.
const SECONDS_IN_PART: u32 = 0b111;

impl Unit {
    fn bit(self) -> u32 {
        match self {
            Self::Micros(1) => 1,
            Self::Micros(1_000) => 1 << 1,
            Self::Micros(1_000_000) => 1 << 2,
            Self::Micros(60_000_000) => 1 << 3,
            Self::Micros(_) => 1 << 4,
            Self::Days(1) => 1 << 5,
            Self::Days(_) => 1 << 6,
            Self::Months(1) => 1 << 7,
            Self::Months(12) => 1 << 8,
            Self::Months(120) => 1 << 9,
            Self::Months(1_200) => 1 << 10,
            Self::Months(_) => 1 << 11,
        }
    }

    fn of(field: IntervalField) -> Self {
        match field {
            IntervalField::Year => Self::Months(12),
            IntervalField::Month => Self::Months(1),
            IntervalField::Day => Self::Days(1),
            IntervalField::Hour => Self::Micros(3_600_000_000),
            IntervalField::Minute => Self::Micros(60_000_000),
            IntervalField::Second => Self::Micros(1_000_000),
        }
    }
}

fn unit(word: &str) -> Option<Unit> {
    const SECOND: i128 = 1_000_000;
    Some(match word {
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecond" | "microseconds" | "microsecon" => {
            Unit::Micros(1)
        }
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecond" | "milliseconds" | "millisecon" => {
            Unit::Micros(1_000)
        }
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Micros(SECOND),
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Micros(60 * SECOND),
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Micros(3_600 * SECOND),
        "d" | "day" | "days" => Unit::Days(1),
        "w" | "week" | "weeks" => Unit::Days(7),
        "mon" | "mons" | "month" | "months" => Unit::Months(1),
        "y" | "yr" | "yrs" | "year" | "years" => Unit::Months(12),
        "dec" | "decs" | "decade" | "decades" => Unit::Months(120),
        "c" | "cent" | "century" | "centuries" => Unit::Months(1_200),
        "mil" | "mils" | "millennia" | "millennium" => Unit::Months(12_000),
        _ => return None,
    })
}

/// PostgreSQL's own form and the standard's.
fn verbose(text: &str, fields: IntervalFields) -> Result<Sum, Fault> {
    let mut words = split(text);
    if words.first() == Some(&"@") {
        words.remove(0);
    }
    let ago = words.last() == Some(&"ago");
    if ago {
        words.pop();
    }
    if words.is_empty() {
        return Err(Fault::Form);
    }
    let mut sum = Sum::default();
    let mut rest = words.as_slice();
    while let Some((word, tail)) = rest.split_first() {
        rest = tail;
        if word.contains(':') {
            sum.claim(CLOCK)?;
            sum.micros += clock(word, fields.begins_with_minutes())?;
            continue;
        }
        if let Some(months) = years_and_months(word)? {
            sum.claim(Unit::Months(1).bit())?;
            sum.months += months;
            continue;
        }
        let number = Number::parse(word).ok_or(Fault::Form)?;
        match rest.split_first() {
            Some((next, tail)) if unit(next).is_some() => {
                sum.add_once(number, unit(next).ok_or(Fault::Form)?)?;
                rest = tail;
            }
            // `3 04:05:06` is days and time.
            Some((next, _)) if next.contains(':') => sum.add_once(number, Unit::Days(1))?,
            // `1 2` DAY TO HOUR is days and hours.
            Some((next, [])) if fields.last() == IntervalField::Hour && Number::parse(next).is_some() => {
                sum.add_once(number, Unit::Days(1))?;
            }
            Some(_) => return Err(Fault::Form),
            None => sum.add_once(number, Unit::of(fields.last()))?,
        }
    }
    if ago {
        sum = Sum { months: -sum.months, days: -sum.days, micros: -sum.micros, ..sum };
    }
    Ok(sum)
}

/// Words and numbers; `3days` is two of them.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let alphabetic = first.is_alphabetic();
            let end = rest.find(|c: char| c.is_alphabetic() != alphabetic).unwrap_or(rest.len());
            let (part, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
            parts.push(part);
            rest = tail;
        }
    }
    parts
}

/// `1-2`, one year and two months.
fn years_and_months(word: &str) -> Result<Option<i128>, Fault> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    let Some((years, months)) = digits.split_once('-') else { return Ok(None) };
    let (years, months) = (years.parse::<u32>(), months.parse::<u32>());
    let (Ok(years), Ok(months)) = (years, months) else { return Err(Fault::Form) };
    if months > 11 {
        return Err(Fault::Range);
    }
    let all = i128::from(years) * 12 + i128::from(months);
    Ok(Some(if negative { -all } else { all }))
}

/// `hh:mm`, `hh:mm:ss.fff`, `mm:ss.fff` with a sign for all of it.
fn clock(word: &str, from_minutes: bool) -> Result<i128, Fault> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    let parts: Vec<Number> = digits.split(':').map(Number::parse).collect::<Option<_>>().ok_or(Fault::Form)?;
    let (hours, minutes, seconds) = match parts.as_slice() {
        [hours, minutes, seconds] => (*hours, *minutes, *seconds),
        // A fraction stands behind seconds only.
        [minutes, seconds] if seconds.fraction != 0.0 || from_minutes => {
            (Number { whole: 0, fraction: 0.0 }, *minutes, *seconds)
        }
        [hours, minutes] => (*hours, *minutes, Number { whole: 0, fraction: 0.0 }),
        _ => return Err(Fault::Form),
    };
    if hours.fraction != 0.0 || minutes.fraction != 0.0 {
        return Err(Fault::Form);
    }
    if minutes.whole > 59 || seconds.whole > 60 {
        return Err(Fault::Range);
    }
    let fraction = (seconds.fraction * 1e6).round_ties_even() as i128;
    let micros = ((hours.whole * 60 + minutes.whole) * 60 + seconds.whole) * 1_000_000 + fraction;
    Ok(if negative { -micros } else { micros })
}

/// `p1y2m3dt4h5m6.5s`, and `p0001-02-03t04:05:06`.
fn iso(text: &str) -> Result<Sum, Fault> {
    let body = text.strip_prefix('p').ok_or(Fault::Form)?;
    let (date, time) = match body.split_once('t') {
        Some((date, time)) => (date, Some(time)),
        None => (body, None),
    };
    if date.is_empty() && time.is_none_or(str::is_empty) {
        return Err(Fault::Form);
    }
    let mut sum = Sum::default();
    if let [year, month, day] = date.split('-').collect::<Vec<_>>().as_slice() {
        for (part, unit) in [(year, Unit::Months(12)), (month, Unit::Months(1)), (day, Unit::Days(1))] {
            sum.add(Number::parse(part).ok_or(Fault::Form)?, unit);
        }
    } else {
        designated(date, &mut sum, |letter| match letter {
            'y' => Some(Unit::Months(12)),
            'm' => Some(Unit::Months(1)),
            'w' => Some(Unit::Days(7)),
            'd' => Some(Unit::Days(1)),
            _ => None,
        })?;
    }
    match time {
        Some(time) if time.contains(':') => sum.micros += clock(time, false)?,
        Some(time) => designated(time, &mut sum, |letter| match letter {
            'h' => Some(Unit::Micros(3_600_000_000)),
            'm' => Some(Unit::Micros(60_000_000)),
            's' => Some(Unit::Micros(1_000_000)),
            _ => None,
        })?,
        None => {}
    }
    Ok(sum)
}

/// Numbers, each with its letter behind it.
fn designated(text: &str, sum: &mut Sum, unit: fn(char) -> Option<Unit>) -> Result<(), Fault> {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).ok_or(Fault::Form)?;
        let (number, tail) = rest.split_at_checked(end).ok_or(Fault::Form)?;
        let mut letters = tail.chars();
        let unit = letters.next().and_then(unit).ok_or(Fault::Form)?;
        sum.add(Number::parse(number).ok_or(Fault::Form)?, unit);
        rest = letters.as_str();
    }
    Ok(())
}
