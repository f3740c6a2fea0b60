//! Times of day and zones.

use super::{Fault, Zone, small};
use crate::temporal::{DAY, SECOND, abbreviation};

/// Parses a time, a zone, or both.
pub(super) fn clock_of(text: &str) -> Result<(Option<i64>, Option<Zone<'_>>), Fault> {
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

/// Parses a time that has only digits.
pub(in crate::temporal::parse) fn packed_time(digits: &str) -> Result<i64, Fault> {
    time_of(&unpacked(digits)?, None)
}

/// Formats `051530.5` as `05:15:30.5`, `0515` as `05:15`.
fn unpacked(time: &str) -> Result<String, Fault> {
    let (hour, rest) = time.split_at_checked(2).ok_or(Fault::Form)?;
    let (minute, second) = rest.split_at_checked(2).ok_or(Fault::Form)?;
    Ok(if second.is_empty() { format!("{hour}:{minute}") } else { format!("{hour}:{minute}:{second}") })
}

/// Removes a leading `AM` or `PM`; the flag is true for PM. `America/New_York` begins with the same letters.
fn half_of_day(text: &str) -> (Option<bool>, &str) {
    let word = text.split_at_checked(2).filter(|(_, rest)| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
    match word {
        Some((half, rest)) if half.eq_ignore_ascii_case("am") => (Some(false), rest.trim_start()),
        Some((half, rest)) if half.eq_ignore_ascii_case("pm") => (Some(true), rest.trim_start()),
        _ => (None, text),
    }
}

/// Parses `HH:MM[:SS[.fraction]]` to microseconds. `24:00:00` and a second of 60 are allowed.
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

/// Rounds the digits after the second to microseconds as PostgreSQL does (in floating point, half to even).
fn micros_of(digits: &str) -> Result<i64, Fault> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Fault::Form);
    }
    if digits.len() <= 6 {
        return Ok(format!("{digits:0<6}").parse().unwrap_or(0));
    }
    let fraction: f64 = format!("0.{digits}").parse().map_err(|_| Fault::Form)?;
    // At most 1,000,000, so the cast is exact.
    Ok((fraction * 1e6).round_ties_even() as i64)
}

/// Parses an abbreviation, `+02`, `-0330`, `+05:30:15`, or a name for [`ZoneRules`].
pub(super) fn zone_of(text: &str) -> Result<Zone<'_>, Fault> {
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
