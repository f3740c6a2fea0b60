//! `to_char` of dates, times and intervals, and `to_date` and `to_timestamp`: PostgreSQL's patterns, both ways.

use super::date_fields::{Moment, day_of_year, first_of, iso_week, iso_weekday};
use super::format_number::ordinal_suffix;
use super::sql::{arguments, wrong};
use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use types::temporal::{Civil, DAY, SECOND, days_from_civil, days_in_month};
use types::{Datum, Interval};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/// Names of fields, longer ones before those that they begin with.
const KEYWORDS: [&str; 54] = [
    "SSSSS", "MONTH", "Y,YYY", "A.M.", "P.M.", "A.D.", "B.C.", "HH24", "HH12", "SSSS", "YYYY", "IYYY", "IDDD", "YYY",
    "IYY", "DAY", "DDD", "MON", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "TZH", "TZM", "HH", "MI", "SS", "MS", "US",
    "AM", "PM", "AD", "BC", "YY", "IY", "MM", "DY", "DD", "ID", "WW", "IW", "CC", "RM", "TZ", "OF", "FX", "J", "Q",
    "W", "D", "Y", "I",
];

/// A piece of a pattern.
#[derive(Clone, Debug)]
enum Piece {
    /// A field by its upper-case name, as it was written.
    Field { name: &'static str, written: String, fill: bool, ordinal: Option<bool> },
    /// All else. `quoted` stood in quotes.
    Text { text: String, quoted: bool },
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let mut rest = pattern;
    let mut fill = true;
    while let Some(first) = rest.chars().next() {
        if let Some(tail) = rest.strip_prefix("FM").or_else(|| rest.strip_prefix("fm")) {
            fill = false;
            rest = tail;
            continue;
        }
        if first == '"' {
            let mut text = String::new();
            let mut letters = rest.char_indices().skip(1);
            let mut end = rest.len();
            while let Some((at, letter)) = letters.next() {
                match letter {
                    '"' => {
                        end = at + 1;
                        break;
                    }
                    '\\' => text.extend(letters.next().map(|(_, letter)| letter)),
                    letter => text.push(letter),
                }
            }
            out.push(Piece::Text { text, quoted: true });
            rest = rest.get(end..).unwrap_or_default();
            continue;
        }
        let starts = |name: &&&str| rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        if let Some(name) = KEYWORDS.iter().find(starts) {
            let written = rest.get(..name.len()).unwrap_or_default().to_owned();
            rest = rest.get(name.len()..).unwrap_or_default();
            let ordinal = ["TH", "th"].iter().position(|suffix| rest.starts_with(suffix)).map(|at| at == 0);
            if ordinal.is_some() {
                rest = rest.get(2..).unwrap_or_default();
            }
            out.push(Piece::Field { name, written, fill, ordinal });
            fill = true;
            continue;
        }
        let letter = if first == '\\' && rest.starts_with("\\\"") { '"' } else { first };
        rest = rest.get(if letter == first { first.len_utf8() } else { 2 }..).unwrap_or_default();
        out.push(Piece::Text { text: letter.to_string(), quoted: false });
    }
    out
}

/// What is printed: a moment's fields or an interval's.
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    /// Days since 1970; `None` for intervals.
    days: Option<i64>,
    zoned: bool,
}

fn fields_of(value: &Datum) -> Option<Fields> {
    let clock = |time: i64| (time / (3_600 * SECOND), time / (60 * SECOND) % 60, time / SECOND % 60, time % SECOND);
    if let Datum::Interval(Interval { months, days, micros }) = *value {
        let (hour, minute, second, micros) = clock(micros);
        let (year, month) = (i64::from(months / 12), i64::from(months % 12));
        return Some(Fields {
            year,
            month,
            day: i64::from(days),
            hour,
            minute,
            second,
            micros,
            days: None,
            zoned: false,
        });
    }
    let moment = Moment::of(value)?;
    let date = moment.date();
    let (hour, minute, second, micros) = clock(moment.time);
    let (month, day) = (i64::from(date.month), i64::from(date.day));
    let zoned = matches!(value, Datum::TimestampTz(_));
    Some(Fields { year: date.year, month, day, hour, minute, second, micros, days: Some(moment.days), zoned })
}

/// `to_char(value, pattern)`.
pub(super) fn print(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [value, Datum::Text(pattern)]);
    if pattern.is_empty() {
        return Ok(Datum::Text(String::new()));
    }
    let Some(fields) = fields_of(value) else {
        let infinite = matches!(value, Datum::Date(_) | Datum::Timestamp(_) | Datum::TimestampTz(_));
        return if infinite { Ok(Datum::Null) } else { Err(wrong(args)) };
    };
    let mut out = String::new();
    for piece in pieces(pattern) {
        match piece {
            Piece::Text { text, .. } => out.push_str(&text),
            Piece::Field { name, written, fill, ordinal } => {
                let text = fields.print(name, &written, fill)?;
                out.push_str(&text);
                if let (Some(upper), true) = (ordinal, text.ends_with(|c: char| c.is_ascii_digit())) {
                    out.push_str(&ordinal_suffix(&text, upper));
                }
            }
        }
    }
    Ok(Datum::Text(out))
}

/// As the field was written: `MONTH`, `Month`, `month`.
fn cased(name: &str, written: &str) -> String {
    let mut letters = written.chars();
    match (letters.next(), letters.next()) {
        (Some(first), _) if first.is_ascii_lowercase() => name.to_lowercase(),
        (_, Some(second)) if second.is_ascii_lowercase() => name.to_owned(),
        _ => name.to_uppercase(),
    }
}

impl Fields {
    fn print(&self, name: &str, written: &str, fill: bool) -> QueryResult<String> {
        let number = |value: i64, width: usize| match (fill, value < 0) {
            (false, _) => value.to_string(),
            (true, true) => format!("-{:0width$}", -value),
            (true, false) => format!("{value:0width$}"),
        };
        let padded = |text: String| if fill { format!("{text:<9}") } else { text };
        let shown_year = if self.year > 0 || self.days.is_none() { self.year } else { 1 - self.year };
        Ok(match name {
            "HH24" => number(self.hour, 2),
            "HH" | "HH12" => number(if self.hour % 12 == 0 { 12 } else { self.hour % 12 }, 2),
            "MI" => number(self.minute, 2),
            "SS" => number(self.second, 2),
            "MS" => number(self.micros / 1_000, 3),
            "US" => number(self.micros, 6),
            "FF1" | "FF2" | "FF3" | "FF4" | "FF5" | "FF6" => {
                let digits = name.bytes().last().map_or(6, |digit| usize::from(digit - b'0'));
                format!("{:06}", self.micros).get(..digits).unwrap_or_default().to_owned()
            }
            "SSSS" | "SSSSS" => number((self.hour * 60 + self.minute) * 60 + self.second, 1),
            "AM" | "PM" => cased_all(if self.hour % 24 >= 12 { "PM" } else { "AM" }, written),
            "A.M." | "P.M." => cased_all(if self.hour % 24 >= 12 { "P.M." } else { "A.M." }, written),
            "YYYY" => number(shown_year, 4),
            "YYY" => number(shown_year % 1_000, 3),
            "YY" => number(shown_year % 100, 2),
            "Y" => number(shown_year % 10, 1),
            "Y,YYY" => {
                let thousands = shown_year / 1_000;
                format!("{},{:03}", thousands, shown_year % 1_000)
            }
            "MM" => number(self.month, 2),
            "DD" => number(self.day, 2),
            "CC" if self.days.is_none() => number(self.year / 100, 2),
            "CC" => {
                let century = if self.year > 0 { (self.year - 1) / 100 + 1 } else { self.year / 100 - 1 };
                number(century, 2)
            }
            "RM" => {
                let at = usize::try_from(self.month - 1).ok();
                let roman = at.and_then(|at| ROMAN.get(at)).copied().unwrap_or_default();
                let text = cased_all(roman, written);
                if fill { format!("{text:<4}") } else { text }
            }
            "Q" if self.days.is_none() && self.month == 0 => String::new(),
            "Q" => ((self.month - 1) / 3 + 1).to_string(),
            "BC" | "AD" => cased_all(self.era("BC", "AD"), written),
            "B.C." | "A.D." => cased_all(self.era("B.C.", "A.D."), written),
            "FX" => String::new(),
            "TZ" | "tz" => {
                if self.zoned {
                    cased_all("UTC", written)
                } else {
                    String::new()
                }
            }
            "TZH" => {
                if self.zoned {
                    "+00".to_owned()
                } else {
                    String::new()
                }
            }
            "TZM" => {
                if self.zoned {
                    "00".to_owned()
                } else {
                    String::new()
                }
            }
            "OF" => {
                if self.zoned {
                    "+00".to_owned()
                } else {
                    String::new()
                }
            }
            name => return self.print_date(name, written, &number, &padded),
        })
    }

    fn era(&self, before: &'static str, after: &'static str) -> &'static str {
        if self.days.is_some() && self.year <= 0 { before } else { after }
    }

    /// Fields that an interval has not.
    fn print_date(
        &self,
        name: &str,
        written: &str,
        number: &dyn Fn(i64, usize) -> String,
        padded: &dyn Fn(String) -> String,
    ) -> QueryResult<String> {
        let at = |names: &[&str], at: i64| {
            usize::try_from(at).ok().and_then(|at| names.get(at)).copied().unwrap_or_default().to_owned()
        };
        if let ("MONTH" | "MON", None) = (name, self.days) {
            let month = at(&MONTHS, self.month - 1);
            return Ok(cased(if name == "MON" { month.get(..3).unwrap_or_default() } else { &month }, written));
        }
        let days = self
            .days
            .ok_or_else(|| Refusal::DateTimeText.because("invalid format specification for an interval value"))?;
        let (iso_year, iso_number) = iso_week(days);
        Ok(match name {
            "MONTH" => padded(cased(&at(&MONTHS, self.month - 1), written)),
            "MON" => cased(at(&MONTHS, self.month - 1).get(..3).unwrap_or_default(), written),
            "DAY" => padded(cased(&at(&DAYS, iso_weekday(days) - 1), written)),
            "DY" => cased(at(&DAYS, iso_weekday(days) - 1).get(..3).unwrap_or_default(), written),
            "DDD" => number(day_of_year(days), 3),
            "IDDD" => number((iso_number - 1) * 7 + iso_weekday(days), 3),
            "D" => (iso_weekday(days) % 7 + 1).to_string(),
            "ID" => iso_weekday(days).to_string(),
            "W" => ((self.day - 1) / 7 + 1).to_string(),
            "WW" => number((day_of_year(days) - 1) / 7 + 1, 2),
            "IW" => number(iso_number, 2),
            "IYYY" => number(iso_year, 4),
            "IYY" => number(iso_year % 1_000, 3),
            "IY" => number(iso_year % 100, 2),
            "I" => number(iso_year % 10, 1),
            "J" => (days + 2_440_588).to_string(),
            other => return Err(QueryError::internal(format!("no date pattern {other}"))),
        })
    }
}

fn cased_all(name: &str, written: &str) -> String {
    if written.starts_with(|c: char| c.is_ascii_lowercase()) { name.to_lowercase() } else { name.to_owned() }
}

/// What was read so far.
#[derive(Default)]
struct Read {
    year: Option<i64>,
    /// Digits of the year that were written, for `YY` and its like.
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
    offset: i64,
}

/// Microseconds since 1970 of a text in that pattern.
pub(super) fn parse(text: &str, pattern: &str) -> QueryResult<i64> {
    let mut read = Read::default();
    let mut rest = text.trim_start();
    let all = pieces(pattern);
    for (at, piece) in all.iter().enumerate() {
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
    read.micros(text)
}

/// Text of a pattern stands for as many letters; separators for any run of them.
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

/// A number of at most `width` digits, or of any number if nothing follows it directly.
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
    let value: i64 = number.parse().map_err(|_| bad(number, field))?;
    Ok((if negative { -value } else { value }, taken, tail))
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
        let number = |width: usize| digits(rest, width, adjacent, name);
        Ok(match name {
            "YYYY" | "IYYY" => {
                let (value, _, tail) = number(4)?;
                if name == "YYYY" {
                    self.year = Some(value)
                } else {
                    self.iso_year = Some(value)
                }
                tail
            }
            "YYY" | "YY" | "Y" | "IYY" | "IY" | "I" => {
                let width = name.trim_start_matches('I').len().max(name.len());
                let (value, count, tail) = number(width)?;
                let year = near_2020(value, count);
                if name.starts_with('I') {
                    self.iso_year = Some(year)
                } else {
                    self.year = Some(year)
                }
                tail
            }
            "Y,YYY" => {
                let (thousands, _, tail) = number(4)?;
                let (ones, _, tail) = digits(tail.trim_start_matches(','), 3, adjacent, name)?;
                self.year = Some(thousands * 1_000 + ones);
                tail
            }
            "CC" => self.take(|read, value| read.century = Some(value), number(2)?),
            "MM" => self.take(|read, value| read.month = Some(value), number(2)?),
            "DD" => self.take(|read, value| read.day = Some(value), number(2)?),
            "DDD" => self.take(|read, value| read.day_of_year = Some(value), number(3)?),
            "J" => self.take(|read, value| read.julian = Some(value), number(9)?),
            "WW" => self.take(|read, value| read.week = Some(value), number(2)?),
            "IW" => self.take(|read, value| read.iso_week = Some(value), number(2)?),
            "ID" => self.take(|read, value| read.iso_day = Some(value), number(1)?),
            "Q" | "W" | "D" | "IDDD" => self.take(|_, _| {}, number(3)?),
            "HH24" => self.take(|read, value| read.hour = value, number(2)?),
            "HH" | "HH12" => {
                let (value, _, tail) = number(2)?;
                if !(1..=12).contains(&value) {
                    let message = format!("hour \"{value}\" is invalid for the 12-hour clock");
                    return Err(Refusal::DateTimeText.because(message));
                }
                (self.hour, self.twelve) = (value, true);
                tail
            }
            "MI" => self.take(|read, value| read.minute = value, number(2)?),
            "SS" => self.take(|read, value| read.second = value, number(2)?),
            "SSSS" | "SSSSS" => self.take(|read, value| read.seconds_of_day = Some(value), number(5)?),
            "MS" | "US" | "FF1" | "FF2" | "FF3" | "FF4" | "FF5" | "FF6" => {
                let width = match name {
                    "MS" => 3,
                    "US" => 6,
                    name => name.bytes().last().map_or(6, |digit| usize::from(digit - b'0')),
                };
                let (value, count, tail) = number(width)?;
                // Digits of a fraction: `.5` is half a second.
                self.micros += value * 10_i64.pow(6_u32.saturating_sub(count as u32));
                tail
            }
            "MONTH" | "MON" => {
                let (at, tail) = name_of(&MONTHS, rest, name == "MON", name)?;
                self.month = Some(at + 1);
                tail
            }
            "DAY" | "DY" => name_of(&DAYS, rest, name == "DY", name)?.1,
            "RM" => {
                let mut by_length: Vec<(usize, &&str)> = ROMAN.iter().enumerate().collect();
                by_length.sort_by_key(|(_, roman)| std::cmp::Reverse(roman.len()));
                let found = by_length
                    .into_iter()
                    .find(|(_, roman)| rest.get(..roman.len()).is_some_and(|head| head.eq_ignore_ascii_case(roman)));
                let (at, roman) = found.ok_or_else(|| bad(rest, name))?;
                self.month = Some(at as i64 + 1);
                rest.get(roman.len()..).unwrap_or_default()
            }
            "AM" | "PM" | "A.M." | "P.M." => {
                let (at, tail) = half(&[("A.M.", "P.M."), ("AM", "PM")], rest).ok_or_else(|| bad(rest, name))?;
                self.half = Some(at);
                self.twelve = true;
                tail
            }
            "BC" | "AD" | "B.C." | "A.D." => {
                let (at, tail) = half(&[("A.D.", "B.C."), ("AD", "BC")], rest).ok_or_else(|| bad(rest, name))?;
                self.before_christ = at;
                tail
            }
            "TZH" => self.take(|read, value| read.offset += value * 3_600, number(2)?),
            "TZM" => self.take(|read, value| read.offset += value * 60, number(2)?),
            "TZ" | "OF" => {
                return Err(QueryError::Unsupported {
                    feature: format!("formatting field \"{name}\" in to_timestamp"),
                });
            }
            _ => rest,
        })
    }

    fn take<'a>(&mut self, set: impl FnOnce(&mut Self, i64), (value, _, tail): (i64, usize, &'a str)) -> &'a str {
        set(self, value);
        tail
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
        // No year at all is 1 BC, as in PostgreSQL.
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

    fn micros(&self, text: &str) -> QueryResult<i64> {
        let out = || Refusal::DateTime.because(format!("date/time field value out of range: \"{text}\""));
        let hour = match (self.twelve, self.half) {
            (true, Some(true)) => self.hour % 12 + 12,
            (true, _) => self.hour % 12,
            (false, _) => self.hour,
        };
        if hour > 24 || self.minute > 59 || self.second > 59 || self.hour < 0 || self.minute < 0 || self.second < 0 {
            return Err(out());
        }
        let seconds = self.seconds_of_day.unwrap_or((hour * 60 + self.minute) * 60 + self.second) - self.offset;
        let time = seconds * SECOND + self.micros;
        self.days(text)?.checked_mul(DAY).and_then(|days| days.checked_add(time)).ok_or_else(out)
    }
}

/// Which of a pair of marks stands there: false for the first.
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

/// Years of fewer than four digits are those nearest to 2020.
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
