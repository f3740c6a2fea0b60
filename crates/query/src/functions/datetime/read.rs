//! `to_date` and `to_timestamp`: parse a text by a pattern.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::datetime::fields::{first_of, iso_weekday};
use crate::functions::datetime::pattern::{DAYS, MONTHS, Piece, ROMAN, pieces};
use types::interrupt;
use types::temporal::{Civil, DAY, SECOND, days_from_civil, days_in_month};

/// The fields that were read.
#[derive(Default)]
struct Read {
    year: Option<i64>,
    /// The field `CC`.
    century: Option<i64>,
    before_christ: bool,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    julian: Option<i64>,
    iso_year: Option<i64>,
    iso_week: Option<i64>,
    iso_day: Option<i64>,
    week: Option<i64>,
    hour: i64,
    half: Option<bool>,
    twelve: bool,
    minute: i64,
    second: i64,
    micros: i64,
    seconds_of_day: Option<i64>,
    /// Hours of the zone's offset. The sign is separate, because the hours of `-00:30` are zero.
    zone_hours: Option<i64>,
    zone_minutes: Option<i64>,
    west: bool,
}

/// The result of parsing a text.
pub(in crate::functions) struct Moment {
    /// Local time in microseconds since 1970.
    pub(in crate::functions) local: i64,
    /// The offset of the local time from UTC in microseconds, if the text has one.
    pub(in crate::functions) offset: Option<i64>,
}

/// Parses `text` by `pattern`.
pub(in crate::functions) fn parse(text: &str, pattern: &str) -> QueryResult<Moment> {
    let mut read = Read::default();
    let mut rest = text.trim_start();
    let all = pieces(pattern)?;
    for (at, piece) in all.iter().enumerate() {
        interrupt::spend(1)?;
        match piece {
            Piece::Text { text: wanted, quoted } => rest = skip(rest, wanted, *quoted),
            Piece::Field { name, ordinal, .. } => {
                rest = rest.trim_start();
                if rest.is_empty() {
                    continue;
                }
                let adjacent = matches!(all.get(at + 1), Some(Piece::Field { .. }));
                rest = read.field(name, rest, adjacent)?;
                if ordinal.is_some() {
                    rest = rest.get(2..).unwrap_or_default();
                }
            }
        }
    }
    Ok(Moment { local: read.local(text)?, offset: read.offset(text)? })
}

/// Skips as many characters as the pattern's text has. A separator skips whitespace and at most one other separator.
fn skip<'a>(rest: &'a str, wanted: &str, quoted: bool) -> &'a str {
    let separator = !quoted && wanted.chars().all(|c| !c.is_alphanumeric());
    if separator {
        let trimmed = rest.trim_start();
        let blank = wanted.chars().all(char::is_whitespace);
        return match trimmed.chars().next() {
            Some(first) if !(first.is_alphanumeric() || blank && matches!(first, '+' | '-')) => {
                trimmed.get(first.len_utf8()..).unwrap_or_default()
            }
            _ => trimmed,
        };
    }
    let end = rest.char_indices().nth(wanted.chars().count()).map_or(rest.len(), |(at, _)| at);
    rest.get(end..).unwrap_or_default()
}

fn bad(value: &str, field: &str) -> QueryError {
    Refusal::DateTimeText.because(format!("invalid value \"{value}\" for \"{field}\""))
}

/// Reads a number of at most `width` digits, or of any length if no field follows directly. The number must fit 32
/// bits, so that sums of fields do not overflow.
fn digits<'a>(rest: &'a str, width: usize, adjacent: bool, field: &str) -> QueryResult<(i64, usize, &'a str)> {
    let (negative, body) = match rest.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, rest.strip_prefix('+').unwrap_or(rest)),
    };
    let run = body.bytes().take_while(u8::is_ascii_digit).count();
    let taken = if adjacent { run.min(width) } else { run };
    if taken == 0 {
        return Err(bad(rest.split_whitespace().next().unwrap_or_default().get(..width).unwrap_or(rest), field));
    }
    let (number, tail) = body.split_at_checked(taken).unwrap_or((body, ""));
    let out = || Refusal::DateTime.because(format!("value for \"{field}\" in source string is out of range"));
    let value: i32 = number.parse().map_err(|_| out())?;
    Ok((i64::from(if negative { -value } else { value }), taken, tail))
}

fn name_of<'a>(names: &[&str], rest: &'a str, short: bool, field: &str) -> QueryResult<(i64, &'a str)> {
    for (at, name) in names.iter().enumerate() {
        let wanted = if short { name.get(..3).unwrap_or(name) } else { name };
        if rest.get(..wanted.len()).is_some_and(|head| head.eq_ignore_ascii_case(wanted)) {
            return Ok((at as i64, rest.get(wanted.len()..).unwrap_or_default()));
        }
    }
    Err(bad(rest.split_whitespace().next().unwrap_or_default(), field))
}

impl Read {
    fn field<'a>(&mut self, name: &str, rest: &'a str, adjacent: bool) -> QueryResult<&'a str> {
        match name {
            "YYYY" | "IYYY" | "YYY" | "YY" | "Y" | "IYY" | "IY" | "I" | "Y,YYY" => self.year(name, rest, adjacent),
            "HH" | "HH12" => self.hour_of_half(name, rest, adjacent),
            "MS" | "US" | "FF1" | "FF2" | "FF3" | "FF4" | "FF5" | "FF6" => self.fraction(name, rest, adjacent),
            "MONTH" | "MON" | "DAY" | "DY" | "RM" => self.named(name, rest),
            "AM" | "PM" | "A.M." | "P.M." => {
                let (at, tail) = half(&[("A.M.", "P.M."), ("AM", "PM")], rest).ok_or_else(|| bad(rest, name))?;
                self.half = Some(at);
                self.twelve = true;
                Ok(tail)
            }
            "BC" | "AD" | "B.C." | "A.D." => {
                let (at, tail) = half(&[("A.D.", "B.C."), ("AD", "BC")], rest).ok_or_else(|| bad(rest, name))?;
                self.before_christ = at;
                Ok(tail)
            }
            "TZ" | "OF" => {
                let feature = format!("formatting field \"{name}\" in to_timestamp");
                Err(QueryError::Unsupported { feature })
            }
            _ => self.number(name, rest, adjacent),
        }
    }

    /// Reads a field that is a number. Fields that do not define a timestamp are ignored.
    fn number<'a>(&mut self, name: &str, rest: &'a str, adjacent: bool) -> QueryResult<&'a str> {
        let (width, set): (usize, fn(&mut Self, i64)) = match name {
            "CC" => (2, |read, value| read.century = Some(value)),
            "MM" => (2, |read, value| read.month = Some(value)),
            "DD" => (2, |read, value| read.day = Some(value)),
            "DDD" => (3, |read, value| read.day_of_year = Some(value)),
            "J" => (9, |read, value| read.julian = Some(value)),
            "WW" => (2, |read, value| read.week = Some(value)),
            "IW" => (2, |read, value| read.iso_week = Some(value)),
            "ID" => (1, |read, value| read.iso_day = Some(value)),
            "Q" | "W" | "D" | "IDDD" => (3, |_, _| {}),
            "HH24" => (2, |read, value| read.hour = value),
            "MI" => (2, |read, value| read.minute = value),
            "SS" => (2, |read, value| read.second = value),
            "SSSS" | "SSSSS" => (5, |read, value| read.seconds_of_day = Some(value)),
            "TZH" => (2, |read, value| read.zone_hours = Some(value.abs())),
            "TZM" => (2, |read, value| read.zone_minutes = Some(value)),
            _ => return Ok(rest),
        };
        self.west |= name == "TZH" && rest.starts_with('-');
        let (value, _, tail) = digits(rest, width, adjacent, name)?;
        set(self, value);
        Ok(tail)
    }

    fn year<'a>(&mut self, name: &str, rest: &'a str, adjacent: bool) -> QueryResult<&'a str> {
        let (value, count, tail) = digits(rest, name.len().min(4), adjacent, name)?;
        let (year, tail) = match name {
            "YYYY" | "IYYY" => (value, tail),
            "Y,YYY" => {
                let (ones, _, tail) = digits(tail.trim_start_matches(','), 3, adjacent, name)?;
                (value * 1_000 + ones, tail)
            }
            _ => (near_2020(value, count), tail),
        };
        if name.starts_with('I') {
            self.iso_year = Some(year);
        } else {
            self.year = Some(year);
        }
        Ok(tail)
    }

    fn hour_of_half<'a>(&mut self, name: &str, rest: &'a str, adjacent: bool) -> QueryResult<&'a str> {
        let (value, _, tail) = digits(rest, 2, adjacent, name)?;
        if !(1..=12).contains(&value) {
            let message = format!("hour \"{value}\" is invalid for the 12-hour clock");
            return Err(Refusal::DateTimeText.because(message));
        }
        (self.hour, self.twelve) = (value, true);
        Ok(tail)
    }

    fn fraction<'a>(&mut self, name: &str, rest: &'a str, adjacent: bool) -> QueryResult<&'a str> {
        let width = match name {
            "MS" => 3,
            "US" => 6,
            name => name.bytes().last().map_or(6, |digit| usize::from(digit - b'0')),
        };
        let (value, count, tail) = digits(rest, width, adjacent, name)?;
        // The digits of a fraction: `.5` is half a second.
        self.micros += value * 10_i64.pow(6_u32.saturating_sub(count as u32));
        Ok(tail)
    }

    /// Reads months by name or Roman numeral, and days of the week, which are ignored.
    fn named<'a>(&mut self, name: &str, rest: &'a str) -> QueryResult<&'a str> {
        match name {
            "MONTH" | "MON" => {
                let (at, tail) = name_of(&MONTHS, rest, name == "MON", name)?;
                self.month = Some(at + 1);
                Ok(tail)
            }
            "RM" => {
                let mut by_length: Vec<(usize, &&str)> = ROMAN.iter().enumerate().collect();
                by_length.sort_by_key(|(_, roman)| std::cmp::Reverse(roman.len()));
                let found = by_length
                    .into_iter()
                    .find(|(_, roman)| rest.get(..roman.len()).is_some_and(|head| head.eq_ignore_ascii_case(roman)));
                let (at, roman) = found.ok_or_else(|| bad(rest, name))?;
                self.month = Some(at as i64 + 1);
                Ok(rest.get(roman.len()..).unwrap_or_default())
            }
            _ => Ok(name_of(&DAYS, rest, name == "DY", name)?.1),
        }
    }

    fn days(&self, text: &str) -> QueryResult<i64> {
        let out = || Refusal::DateTime.because(format!("date/time field value out of range: \"{text}\""));
        if let Some(julian) = self.julian {
            return Ok(julian - 2_440_588);
        }
        if let (Some(year), Some(week)) = (self.iso_year, self.iso_week) {
            let fourth = days_from_civil(Civil { year, month: 1, day: 4 });
            return Ok(fourth - iso_weekday(fourth) + 1 + (week - 1) * 7 + self.iso_day.unwrap_or(1) - 1);
        }
        let mut year = self.year.or(self.iso_year).unwrap_or(0);
        if let (Some(century), None) = (self.century, self.year) {
            year = (century - 1) * 100 + 1;
        }
        // Without a year, it is 1 BC, as in PostgreSQL.
        let year = if self.before_christ || self.year.is_none_or(|year| year < 0) && self.century.is_none() && year <= 0
        {
            if self.before_christ { 1 - year.abs() } else { year.min(0) + i64::from(year < 0) }
        } else {
            year
        };
        if let Some(day) = self.day_of_year {
            let last = if days_in_month(year, 2) == 29 { 366 } else { 365 };
            if !(1..=last).contains(&day) {
                return Err(out());
            }
            return Ok(first_of(year) + day - 1);
        }
        if let (Some(week), None, None) = (self.week, self.month, self.day) {
            return Ok(first_of(year) + (week - 1) * 7);
        }
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        let small = u8::try_from(month).ok().zip(u8::try_from(day).ok());
        match small {
            Some((month, day)) if day > 0 && day <= days_in_month(year, month) => {
                Ok(days_from_civil(Civil { year, month, day }))
            }
            _ => Err(out()),
        }
    }

    fn local(&self, text: &str) -> QueryResult<i64> {
        let out = || Refusal::DateTime.because(format!("date/time field value out of range: \"{text}\""));
        let hour = match (self.twelve, self.half) {
            (true, Some(true)) => self.hour % 12 + 12,
            (true, _) => self.hour % 12,
            (false, _) => self.hour,
        };
        if hour > 24 || self.minute > 59 || self.second > 59 || self.hour < 0 || self.minute < 0 || self.second < 0 {
            return Err(out());
        }
        let seconds = self.seconds_of_day.unwrap_or((hour * 60 + self.minute) * 60 + self.second);
        let time = seconds * SECOND + self.micros;
        self.days(text)?.checked_mul(DAY).and_then(|days| days.checked_add(time)).ok_or_else(out)
    }

    fn offset(&self, text: &str) -> QueryResult<Option<i64>> {
        if self.zone_hours.is_none() && self.zone_minutes.is_none() {
            return Ok(None);
        }
        let (hours, minutes) = (self.zone_hours.unwrap_or(0), self.zone_minutes.unwrap_or(0));
        if !(0..=15).contains(&hours) || !(0..60).contains(&minutes) {
            let message = format!("time zone displacement out of range: \"{text}\"");
            return Err(Refusal::ZoneDisplacement.because(message));
        }
        let minutes = hours * 60 + minutes;
        Ok(Some(minutes * 60 * SECOND * if self.west { -1 } else { 1 }))
    }
}

/// Returns which mark of a pair the text starts with (false for the first), and the rest of the text.
fn half<'a>(pairs: &[(&str, &str)], rest: &'a str) -> Option<(bool, &'a str)> {
    for (first, second) in pairs {
        for (at, mark) in [(false, first), (true, second)] {
            if rest.get(..mark.len()).is_some_and(|head| head.eq_ignore_ascii_case(mark)) {
                return Some((at, rest.get(mark.len()..).unwrap_or_default()));
            }
        }
    }
    None
}

/// Resolves a year of fewer than four digits to the one nearest to 2020.
fn near_2020(value: i64, count: usize) -> i64 {
    match (count, value) {
        (1 | 2, 0..70) => value + 2_000,
        (1 | 2, 70..100) => value + 1_900,
        (3, 100..520) => value + 2_000,
        (3, 520..1_000) => value + 1_000,
        (3, 0..100) => value + 2_000,
        _ => value,
    }
}
