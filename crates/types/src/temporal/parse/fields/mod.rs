//! The grammar of dates and times: one text to days, microseconds and a zone. This module splits the text; `date` and
//! `clock` parse the parts.
//!
//! Valid syntax with numbers that do not exist (month 13) is distinguished from text that is not a date.

mod clock;
mod date;

pub(super) use clock::packed_time;

use crate::DateOrder;
use crate::temporal::{Civil, DAY, SECOND, days_from_civil, days_in_month};
use clock::{clock_of, zone_of};
use date::date_of;

/// Why a text is not a date: its syntax (22007) or its numbers (22008).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Form,
    Range,
    /// A month or a day that does not exist, possibly because they are in another order.
    MonthOrDay,
}

/// The session's order of day and month; called only if it matters.
pub(super) type Order<'a> = &'a dyn Fn() -> DateOrder;

/// The parsed fields of a text.
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

/// Parses `YYYY-MM-DD` only, the form that COPY reads millions of times.
pub(super) fn plain_date(text: &[u8]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else { return None };
    let year = i64::from(two_digits(y1, y2)?) * 100 + i64::from(two_digits(y3, y4)?);
    let (month, day) = (two_digits(m1, m2)?, two_digits(d1, d2)?);
    let exists = year > 0 && day >= 1 && day <= days_in_month(year, month);
    exists.then(|| days_from_civil(Civil { year, month, day }))
}

/// Parses `YYYY-MM-DD HH:MM` or `YYYY-MM-DD HH:MM:SS` to microseconds since 1970, for the same reason.
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

/// Splits the text into date, time and zone, and parses them.
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

/// Removes ` BC` or ` AD` at the end; the flag is true for BC.
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

/// Splits the text before the time, or before a zone without a time.
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

/// Returns where the digits before the first colon begin.
fn before_hour(text: &str, colon: usize) -> Option<usize> {
    text.get(..colon).map(|head| head.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

/// `20130131T051500`, `2013-01-31 051500`: returns where the second run of digits begins.
fn before_packed_time(text: &str) -> Option<usize> {
    let at = text.find(['T', 't', ' '])?;
    let (date, clock) = text.split_at_checked(at)?;
    let time = clock.get(1..)?;
    let digits = time.bytes().take_while(u8::is_ascii_digit).count();
    let enough = digits == 6 || (digits == 4 && !clock.starts_with(' '));
    (enough && date.ends_with(|c: char| c.is_ascii_digit())).then_some(at + 1)
}

/// `2013-01-31 UTC`, `2013-01-31Z`, `2013-01-31+02`, `2013-01-31 Europe/Berlin`: returns where a zone without a time
/// begins.
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

/// Removes the `T` between date and time.
fn without_t(date: &str) -> &str {
    match date.strip_suffix(['T', 't']) {
        Some(head) if head.is_empty() || head.ends_with(|c: char| c.is_ascii_digit()) => head.trim_end(),
        _ => date,
    }
}

fn number(text: &str) -> Result<i64, Fault> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Fault::Form);
    }
    text.parse::<i64>().ok().filter(|n| *n < 100_000_000).ok_or(Fault::Range)
}

/// Parses a number that must fit a field; a larger one is out of range, not malformed.
fn small(text: &str) -> Result<u8, Fault> {
    u8::try_from(number(text)?).map_err(|_| Fault::Range)
}
