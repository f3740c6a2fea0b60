//! The grammar of dates and times: one text to days, microseconds and a zone.
//!
//! Numbers that have the right form but do not exist (month 13) are told apart from text that is no date at all.

use crate::DateOrder;
use crate::temporal::{Civil, DAY, SECOND, abbreviation, days_from_civil, days_in_month};

/// Why a text is no date: its form (22007) or its numbers (22008).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Form,
    Range,
    /// No month or no day of any month: maybe they stand in another order.
    MonthOrDay,
}

/// The session's order of day and month; asked only where it matters.
pub(super) type Order<'a> = &'a dyn Fn() -> DateOrder;

/// What a text said.
#[derive(Debug, Default)]
pub(super) struct Fields<'a> {
    /// Days since 1970.
    pub(super) date: Option<i64>,
    /// Microseconds since midnight.
    pub(super) time: Option<i64>,
    pub(super) zone: Option<Zone<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Zone<'a> {
    /// Seconds east of UTC.
    Offset(i32),
    Name(&'a str),
}

/// `YYYY-MM-DD` and nothing else: what COPY meets a million times.
pub(super) fn plain_date(text: &[u8]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else { return None };
    let year = i64::from(two_digits(y1, y2)?) * 100 + i64::from(two_digits(y3, y4)?);
    let (month, day) = (two_digits(m1, m2)?, two_digits(d1, d2)?);
    let exists = year > 0 && day >= 1 && day <= days_in_month(year, month);
    exists.then(|| days_from_civil(Civil { year, month, day }))
}

/// `YYYY-MM-DD HH:MM` or `YYYY-MM-DD HH:MM:SS`, in microseconds since 1970, for the same reason.
pub(super) fn plain_timestamp(text: &[u8]) -> Option<i64> {
    let (date, clock) = text.split_at_checked(10)?;
    let (h1, h2, m1, m2, s1, s2) = match *clock {
        [b' ' | b'T', h1, h2, b':', m1, m2] => (h1, h2, m1, m2, b'0', b'0'),
        [b' ' | b'T', h1, h2, b':', m1, m2, b':', s1, s2] => (h1, h2, m1, m2, s1, s2),
        _ => return None,
    };
    let (hour, minute, second) = (two_digits(h1, h2)?, two_digits(m1, m2)?, two_digits(s1, s2)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
    Some(plain_date(date)? * DAY + seconds * SECOND)
}

fn two_digits(tens: u8, ones: u8) -> Option<u8> {
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| (tens - b'0') * 10 + (ones - b'0'))
}

/// Takes the text apart into date, time and zone.
pub(super) fn fields<'a>(text: &'a str, order: Order<'_>) -> Result<Fields<'a>, Fault> {
    let text = text.trim();
    let (text, before_christ) = strip_era(text);
    let (date, clock) = split_clock(text);
    let mut fields = Fields::default();
    if !date.is_empty() {
        fields.date = Some(date_of(date, before_christ, order)?);
    } else if before_christ.is_some() {
        return Err(Fault::Form);
    }
    if let Some(clock) = clock {
        let (time, zone) = clock_of(clock)?;
        fields.time = time;
        fields.zone = zone;
    }
    Ok(fields)
}

/// Cuts ` BC` or ` AD` off; the flag says which it was, if any.
fn strip_era(text: &str) -> (&str, Option<bool>) {
    let Some((head, tail)) = text.len().checked_sub(2).and_then(|at| text.split_at_checked(at)) else {
        return (text, None);
    };
    let before_christ = tail.eq_ignore_ascii_case("bc");
    let stands_alone = head.ends_with(|c: char| c.is_ascii_digit() || c.is_ascii_whitespace());
    if stands_alone && (before_christ || tail.eq_ignore_ascii_case("ad")) {
        (head.trim_end(), Some(before_christ))
    } else {
        (text, None)
    }
}

/// Splits before the time: at the blank or `T` in front of it, or before a lone zone.
fn split_clock(text: &str) -> (&str, Option<&str>) {
    let split = match text.find(':') {
        Some(colon) => before_hour(text, colon),
        None => before_packed_time(text).or_else(|| before_zone(text)),
    };
    match split.and_then(|at| text.split_at_checked(at)) {
        Some((date, clock)) => (without_t(date.trim_end()), Some(clock)),
        None => (text, None),
    }
}

/// Where the digits in front of the first colon begin.
fn before_hour(text: &str, colon: usize) -> Option<usize> {
    text.get(..colon).map(|head| head.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

/// `20130131T051500`, `2013-01-31 051500`: where the second run of digits begins.
fn before_packed_time(text: &str) -> Option<usize> {
    let at = text.find(['T', 't', ' '])?;
    let (date, clock) = text.split_at_checked(at)?;
    let time = clock.get(1..)?;
    let digits = time.bytes().take_while(u8::is_ascii_digit).count();
    let enough = digits == 6 || (digits == 4 && !clock.starts_with(' '));
    (enough && date.ends_with(|c: char| c.is_ascii_digit())).then_some(at + 1)
}

/// `2013-01-31 UTC`, `2013-01-31Z`, `2013-01-31+02`, `2013-01-31 Europe/Berlin`: a zone without a time.
fn before_zone(text: &str) -> Option<usize> {
    let zone = text.rfind(['+', ' ']).or_else(|| text.len().checked_sub(1).filter(|_| text.ends_with(['Z', 'z'])))?;
    let (date, tail) = text.split_at_checked(zone)?;
    let stands_behind_a_date = date.trim_end().ends_with(|c: char| c.is_ascii_digit());
    let is_zone = match zone_of(tail) {
        Ok(Zone::Offset(_)) => true,
        Ok(Zone::Name(name)) => name.contains('/'),
        Err(_) => false,
    };
    (stands_behind_a_date && is_zone).then_some(zone)
}

/// Takes off the `T` between date and time.
fn without_t(date: &str) -> &str {
    match date.strip_suffix(['T', 't']) {
        Some(head) if head.is_empty() || head.ends_with(|c: char| c.is_ascii_digit()) => head.trim_end(),
        _ => date,
    }
}

/// A date in any of the forms, to days since 1970.
fn date_of(text: &str, before_christ: Option<bool>, order: Order<'_>) -> Result<i64, Fault> {
    if let (Some(days), None) = (plain_date(text.as_bytes()), before_christ) {
        return Ok(days);
    }
    if text.split(['-', '/']).any(|piece| piece.trim_matches([' ', ',']).is_empty()) {
        return Err(Fault::Form);
    }
    // `13.05.2020`: points separate where nothing else does.
    let points = text.matches('.').count() == 2 && !text.contains(['-', '/', ',', ' ']);
    let separates = |c: char| matches!(c, '-' | '/' | ',') || c.is_ascii_whitespace() || (points && c == '.');
    let parts: Vec<&str> = text.split(separates).filter(|part| !part.is_empty()).collect();
    if let ([day], None) = (parts.as_slice(), before_christ)
        && let Some(day) = day.strip_prefix(['J', 'j'])
    {
        return Ok(number(day)? - JULIAN_1970);
    }
    let years = if before_christ == Some(true) { Years::AsWritten } else { Years::InWindow };
    let (year, month, day) = match parts.as_slice() {
        [digits] => packed_date(digits, years)?,
        [a, b, c] => three_parts([a, b, c], order, years)?,
        _ => return Err(Fault::Form),
    };
    let year = match before_christ {
        _ if year <= 0 => return Err(Fault::Range),
        Some(true) => 1 - year,
        _ => year,
    };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return Err(Fault::MonthOrDay);
    }
    if day > days_in_month(year, month) {
        return Err(Fault::Range);
    }
    Ok(days_from_civil(Civil { year, month, day }))
}

/// The Julian day of 1970-01-01.
const JULIAN_1970: i64 = 2_440_588;

type YearMonthDay = (i64, u8, u8);

/// `20130131`, `130131`.
fn packed_date(digits: &str, years: Years) -> Result<YearMonthDay, Fault> {
    let at = digits.len().checked_sub(4).filter(|at| *at >= 2).ok_or(Fault::Form)?;
    let (year, rest) = digits.split_at_checked(at).ok_or(Fault::Form)?;
    let (month, day) = rest.split_at_checked(2).ok_or(Fault::Form)?;
    if at == 3 {
        return Err(Fault::Form);
    }
    Ok((years.year_of(year)?, in_date(month)?, in_date(day)?))
}

/// A year of three digits or more stands where it stands; else the order tells. A month's name stands anywhere but last.
fn three_parts([a, b, c]: [&str; 3], order: Order<'_>, years: Years) -> Result<YearMonthDay, Fault> {
    if let Some(month) = month_of(a) {
        let (year, day) = year_and_day(b, c, order, years)?;
        return Ok((year, month, day));
    }
    if let Some(month) = month_of(b) {
        let (year, day) = year_and_day(a, c, order, years)?;
        return Ok((year, month, day));
    }
    if a.len() > 2 && b.len() > 2 {
        return Err(Fault::Form);
    }
    let order = if a.len() > 2 { DateOrder::YearMonthDay } else { order() };
    let (year, month, day) = match order {
        DateOrder::YearMonthDay => (a, b, c),
        DateOrder::DayMonthYear => (c, b, a),
        DateOrder::MonthDayYear => (c, a, b),
    };
    Ok((years.year_of(year)?, in_date(month)?, in_date(day)?))
}

/// The numbers beside the name of a month: the year is the long one, else the order tells.
fn year_and_day(first: &str, second: &str, order: Order<'_>, years: Years) -> Result<(i64, u8), Fault> {
    let year_first = first.len() > 2 || (second.len() <= 2 && order() == DateOrder::YearMonthDay);
    let (year, day) = if year_first { (first, second) } else { (second, first) };
    Ok((years.year_of(year)?, in_date(day)?))
}

/// What a year of two digits means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Years {
    /// One of 1970 to 2069.
    InWindow,
    /// Before Christ: that year.
    AsWritten,
}

impl Years {
    fn year_of(self, text: &str) -> Result<i64, Fault> {
        let year = number(text)?;
        Ok(match text.len() {
            _ if self == Self::AsWritten => year,
            1 | 2 if year < 70 => year + 2000,
            1 | 2 => year + 1900,
            _ => year,
        })
    }
}

fn month_of(text: &str) -> Option<u8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let text = text.to_ascii_lowercase();
    let matches =
        |month: &str| month == text || month.get(..3) == Some(&text) || (text == "sept" && month == "september");
    let index = MONTHS.iter().position(|month| matches(month))?;
    u8::try_from(index + 1).ok()
}

fn number(text: &str) -> Result<i64, Fault> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Fault::Form);
    }
    text.parse::<i64>().ok().filter(|n| *n < 100_000_000).ok_or(Fault::Range)
}

/// A number that must fit a field; what does not is out of range, not malformed.
fn small(text: &str) -> Result<u8, Fault> {
    u8::try_from(number(text)?).map_err(|_| Fault::Range)
}

/// A month or a day.
fn in_date(text: &str) -> Result<u8, Fault> {
    u8::try_from(number(text)?).map_err(|_| Fault::MonthOrDay)
}

/// A time, a zone, or both.
fn clock_of(text: &str) -> Result<(Option<i64>, Option<Zone<'_>>), Fault> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok((None, Some(zone_of(text)?)));
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(text.len());
    let (time, rest) = text.split_at_checked(end).ok_or(Fault::Form)?;
    let (noon, rest) = half_of_day(rest.trim_start());
    let zone = if rest.is_empty() { None } else { Some(zone_of(rest)?) };
    let time = if time.contains(':') { time_of(time, noon)? } else { time_of(&unpacked(time)?, noon)? };
    Ok((Some(time), zone))
}

/// A time that is digits only.
pub(super) fn packed_time(digits: &str) -> Result<i64, Fault> {
    time_of(&unpacked(digits)?, None)
}

/// `051530.5` as `05:15:30.5`, `0515` as `05:15`.
fn unpacked(time: &str) -> Result<String, Fault> {
    let (hour, rest) = time.split_at_checked(2).ok_or(Fault::Form)?;
    let (minute, second) = rest.split_at_checked(2).ok_or(Fault::Form)?;
    Ok(if second.is_empty() { format!("{hour}:{minute}") } else { format!("{hour}:{minute}:{second}") })
}

/// `AM` or `PM` in front of the rest; the flag says PM. `America/New_York` begins so too.
fn half_of_day(text: &str) -> (Option<bool>, &str) {
    let word = text.split_at_checked(2).filter(|(_, rest)| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
    match word {
        Some((half, rest)) if half.eq_ignore_ascii_case("am") => (Some(false), rest.trim_start()),
        Some((half, rest)) if half.eq_ignore_ascii_case("pm") => (Some(true), rest.trim_start()),
        _ => (None, text),
    }
}

/// `HH:MM[:SS[.fraction]]`, in microseconds. `24:00:00` and a second of 60 are allowed.
fn time_of(text: &str, noon: Option<bool>) -> Result<i64, Fault> {
    let mut parts = text.split(':');
    let hour = i64::from(small(parts.next().ok_or(Fault::Form)?)?);
    let minute = i64::from(small(parts.next().ok_or(Fault::Form)?)?);
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(part) => match part.split_once('.') {
            None => (i64::from(small(part)?), 0),
            Some((second, fraction)) => (i64::from(small(second)?), micros_of(fraction)?),
        },
    };
    if parts.next().is_some() {
        return Err(Fault::Form);
    }
    let hour = match noon {
        Some(_) if hour > 12 => return Err(Fault::Range),
        Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
        None => hour,
    };
    let micros = ((hour * 60 + minute) * 60 + second) * SECOND + fraction;
    if hour > 24 || minute > 59 || second > 60 || micros > DAY {
        return Err(Fault::Range);
    }
    Ok(micros)
}

/// Digits behind the second, rounded to microseconds as PostgreSQL does (in floating point, half to even).
fn micros_of(digits: &str) -> Result<i64, Fault> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Fault::Form);
    }
    if digits.len() <= 6 {
        return Ok(format!("{digits:0<6}").parse().unwrap_or(0));
    }
    let fraction: f64 = format!("0.{digits}").parse().map_err(|_| Fault::Form)?;
    // At most 1,000,000: the cast cannot lose anything.
    Ok((fraction * 1e6).round_ties_even() as i64)
}

/// An abbreviation, `+02`, `-0330`, `+05:30:15`, or a name for [`ZoneRules`].
fn zone_of(text: &str) -> Result<Zone<'_>, Fault> {
    let text = text.trim();
    if let Some(offset) = abbreviation(text) {
        return Ok(Zone::Offset(offset));
    }
    let (sign, digits) = match text.split_at_checked(1) {
        Some(("+", digits)) => (1, digits),
        Some(("-", digits)) => (-1, digits),
        _ if text.starts_with(|c: char| c.is_ascii_alphabetic()) => return Ok(Zone::Name(text)),
        _ => return Err(Fault::Form),
    };
    let mut parts = digits.split(':');
    let first = parts.next().unwrap_or("");
    let (hour, minute) = match (first.len(), parts.next()) {
        (1 | 2, minute) => (small(first)?, minute.map_or(Ok(0), small)?),
        (3 | 4, None) => {
            let (hour, minute) = first.split_at_checked(first.len() - 2).ok_or(Fault::Form)?;
            (small(hour)?, small(minute)?)
        }
        _ => return Err(Fault::Form),
    };
    let second = parts.next().map_or(Ok(0), small)?;
    if parts.next().is_some() {
        return Err(Fault::Form);
    }
    if hour > 15 || minute > 59 || second > 59 {
        return Err(Fault::Range);
    }
    Ok(Zone::Offset(sign * (i32::from(hour) * 3600 + i32::from(minute) * 60 + i32::from(second))))
}
