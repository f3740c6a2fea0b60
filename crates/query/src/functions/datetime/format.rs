//! `to_char` of dates, times and intervals. (`read.rs` is the opposite direction.)

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::datetime::fields::{Moment, day_of_year, iso_week, iso_weekday};
use crate::functions::datetime::pattern::{DAYS, MONTHS, Piece, ROMAN, pieces};
use crate::functions::datetime::zone;
use crate::functions::number::numerals::ordinal_suffix;
use crate::functions::sql::{arguments, wrong};
use types::temporal::SECOND;
use types::{Datum, Interval, interrupt};

/// The cost of printing one piece of a pattern.
const STEPS_OF_A_PIECE: usize = 32;

/// The fields of a date and time, or of an interval.
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
    /// Seconds east of UTC; `None` for types without a time zone.
    offset: Option<i64>,
    /// The abbreviation of the zone.
    zone: String,
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
            offset: None,
            zone: String::new(),
        });
    }
    let moment = Moment::of(value)?;
    let date = moment.date();
    let (hour, minute, second, micros) = clock(moment.time);
    let (month, day) = (i64::from(date.month), i64::from(date.day));
    let offset = matches!(value, Datum::TimestampTz(_)).then_some(0);
    let days = Some(moment.days);
    Some(Fields { year: date.year, month, day, hour, minute, second, micros, days, offset, zone: "UTC".to_owned() })
}

/// `to_char(value, pattern)`.
pub(in crate::functions) fn print(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [value, Datum::Text(pattern)]);
    if pattern.is_empty() {
        return Ok(Datum::Text(String::new()));
    }
    let Some(fields) = fields_of(value) else {
        let infinite = matches!(value, Datum::Date(_) | Datum::Timestamp(_) | Datum::TimestampTz(_));
        return if infinite { Ok(Datum::Null) } else { Err(wrong(args)) };
    };
    fields.print_all(pattern)
}

/// `to_char(timestamptz, pattern)` in a session whose zone is not UTC.
pub(in crate::functions) fn print_in_zone(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(zone), Datum::TimestampTz(micros), pattern @ Datum::Text(text)]);
    let local = zone::local_of(*micros, zone)?;
    match fields_of(&Datum::Timestamp(local)) {
        Some(fields) => {
            let offset = Some(local.saturating_sub(*micros) / SECOND);
            let zone = zone::abbreviation_at(*micros, zone)?;
            Fields { offset, zone, ..fields }.print_all(text)
        }
        None => print(&[Datum::Timestamp(local), pattern.clone()]),
    }
}

impl Fields {
    fn print_all(&self, pattern: &str) -> QueryResult<Datum> {
        let mut out = String::new();
        for piece in pieces(pattern)? {
            interrupt::spend(STEPS_OF_A_PIECE)?;
            match piece {
                Piece::Text { text, .. } => out.push_str(&text),
                Piece::Field { name, written, fill, ordinal } => {
                    let text = self.print(name, &written, fill)?;
                    out.push_str(&text);
                    if let (Some(upper), true) = (ordinal, text.ends_with(|c: char| c.is_ascii_digit())) {
                        out.push_str(&ordinal_suffix(&text, upper));
                    }
                }
            }
        }
        Ok(Datum::Text(out))
    }
}

/// Returns the name in the case of the pattern: `MONTH`, `Month`, `month`.
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
        if let Some(text) = self.print_time(name, fill).or_else(|| self.print_year(name, fill)) {
            return Ok(text);
        }
        let afternoon = self.hour % 24 >= 12;
        Ok(match name {
            "AM" | "PM" => cased_all(if afternoon { "PM" } else { "AM" }, written),
            "A.M." | "P.M." => cased_all(if afternoon { "P.M." } else { "A.M." }, written),
            "MM" => number(self.month, 2, fill),
            "DD" => number(self.day, 2, fill),
            "RM" if self.month == 0 && self.year == 0 => String::new(),
            "RM" => {
                let roman = usize::try_from(self.roman_month() - 1).ok().and_then(|at| ROMAN.get(at)).copied();
                let text = cased_all(roman.unwrap_or_default(), written);
                if fill { format!("{text:<4}") } else { text }
            }
            "Q" if self.days.is_none() && self.month == 0 => String::new(),
            "Q" => ((self.month - 1) / 3 + 1).to_string(),
            "BC" | "AD" => cased_all(self.era("BC", "AD"), written),
            "B.C." | "A.D." => cased_all(self.era("B.C.", "A.D."), written),
            "FX" => String::new(),
            "TZ" | "TZH" | "TZM" | "OF" => return self.print_zone(name, written),
            name => return self.print_date(name, written, fill),
        })
    }

    fn print_zone(&self, name: &str, written: &str) -> QueryResult<String> {
        let Some(offset) = self.offset else { return Ok(String::new()) };
        let (sign, hours, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 3_600, offset.abs() / 60 % 60);
        Ok(match name {
            "TZ" => cased_all(&self.zone, written),
            "OF" if minutes != 0 => format!("{sign}{hours:02}:{minutes:02}"),
            "TZM" => format!("{minutes:02}"),
            _ => format!("{sign}{hours:02}"),
        })
    }

    /// Prints a field of the time of day; `None` for other fields.
    fn print_time(&self, name: &str, fill: bool) -> Option<String> {
        Some(match name {
            "HH24" => number(self.hour, 2, fill),
            "HH" | "HH12" => number(if self.hour % 12 == 0 { 12 } else { self.hour % 12 }, 2, fill),
            "MI" => number(self.minute, 2, fill),
            "SS" => number(self.second, 2, fill),
            "MS" => number(self.micros / 1_000, 3, fill),
            "US" => number(self.micros, 6, fill),
            "FF1" | "FF2" | "FF3" | "FF4" | "FF5" | "FF6" => {
                let digits = name.bytes().last().map_or(6, |digit| usize::from(digit - b'0'));
                format!("{:06}", self.micros).get(..digits).unwrap_or_default().to_owned()
            }
            "SSSS" | "SSSSS" => number((self.hour * 60 + self.minute) * 60 + self.second, 1, fill),
            _ => return None,
        })
    }

    /// Prints years, whole or in part, and centuries; `None` for other fields.
    fn print_year(&self, name: &str, fill: bool) -> Option<String> {
        let shown = if self.year > 0 || self.days.is_none() { self.year } else { 1 - self.year };
        Some(match name {
            "YYYY" => number(shown, 4, fill),
            "YYY" => number(shown % 1_000, 3, fill),
            "YY" => number(shown % 100, 2, fill),
            "Y" => number(shown % 10, 1, fill),
            "Y,YYY" => format!("{},{:03}", shown / 1_000, shown % 1_000),
            "CC" if self.days.is_none() => number(self.year / 100, 2, fill),
            "CC" => {
                let century = if self.year > 0 { (self.year - 1) / 100 + 1 } else { self.year / 100 - 1 };
                number(century, 2, fill)
            }
            _ => return None,
        })
    }

    /// Returns the month for `RM`. For intervals, whole years are month 12, and negative months count from the end of
    /// the year.
    fn roman_month(&self) -> i64 {
        match self.month {
            0 if self.year >= 0 => 12,
            0 => 1,
            month if month < 0 => 13 + month,
            month => month,
        }
    }

    fn era(&self, before: &'static str, after: &'static str) -> &'static str {
        if self.days.is_some() && self.year <= 0 { before } else { after }
    }

    /// Prints a field of the date. An interval has only months.
    fn print_date(&self, name: &str, written: &str, fill: bool) -> QueryResult<String> {
        let number = |value: i64, width: usize| number(value, width, fill);
        let padded = |text: String| if fill { format!("{text:<9}") } else { text };
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
        let iso_year = if iso_year > 0 { iso_year } else { 1 - iso_year };
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

/// Pads with leading zeros if `fill` is set.
fn number(value: i64, width: usize, fill: bool) -> String {
    match (fill, value < 0) {
        (false, _) => value.to_string(),
        (true, true) => format!("-{:0width$}", -value),
        (true, false) => format!("{value:0width$}"),
    }
}

fn cased_all(name: &str, written: &str) -> String {
    if written.starts_with(|c: char| c.is_ascii_lowercase()) { name.to_lowercase() } else { name.to_owned() }
}
