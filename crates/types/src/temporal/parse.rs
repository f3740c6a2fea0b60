//! Parses dates and times: PostgreSQL's ISO forms and other common ones (month names, `1/31/2013`, AM and PM).
//!
//! ```text
//!   2013-01-31T05:15:00.25+02:00 BC
//!   date      |time       |zone  |era        any of them may be missing where the type allows it
//! ```
//!
//! Words that depend on the current time (`now`, `today`) are refused here; `epoch`, `allballs` (midnight) and the
//! infinities are accepted.

mod fields;

use super::{DAY, MAX_DATE, MAX_TIMESTAMP, MIN_DATE, MIN_TIMESTAMP, SECOND, ZoneRules};
use crate::{DateOrder, TypeError};
use fields::{Fault, Fields, Zone, fields, packed_time, plain_date, plain_timestamp};

/// Parses a date to days since 1970-01-01. A time in the text is ignored, as in PostgreSQL. Day and month are in the
/// session's order.
///
/// # Errors
/// [`TypeError::InvalidText`] or [`TypeError::DateTimeRange`].
pub fn parse_date_in(text: &str, rules: &dyn ZoneRules) -> Result<i32, TypeError> {
    if let Some(days) = plain_date(text.as_bytes()) {
        return i32::try_from(days).map_err(|_| fault("date", text, Fault::Range));
    }
    let (earliest, latest) = super::DATE_INFINITIES;
    match special(text) {
        Some(Special::Earliest) => return Ok(earliest),
        Some(Special::Latest) => return Ok(latest),
        Some(Special::Epoch) => return Ok(0),
        None => {}
    }
    let fields = fields_without_zone(text, rules).map_err(|error| fault("date", text, error))?;
    let days = fields.date.ok_or_else(|| fault("date", text, Fault::Form))?;
    let in_range = i32::try_from(days).ok().filter(|days| (MIN_DATE..=MAX_DATE).contains(days));
    in_range.ok_or_else(|| fault("date", text, Fault::Range))
}

/// Parses a time to microseconds since midnight. A date or zone in the text is ignored. Day and month are in the
/// session's order.
///
/// # Errors
/// [`TypeError::InvalidText`] or [`TypeError::DateTimeRange`].
pub fn parse_time_in(text: &str, rules: &dyn ZoneRules) -> Result<i64, TypeError> {
    let digits = text.trim();
    if digits.eq_ignore_ascii_case("allballs") {
        return Ok(0);
    }
    if matches!(digits.len(), 4 | 6) && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return packed_time(digits).map_err(|error| fault("time", text, error));
    }
    let fields = fields_without_zone(text, rules).map_err(|error| fault("time", text, error))?;
    fields.time.ok_or_else(|| fault("time", text, Fault::Form))
}

/// Parses a timestamp to microseconds since 1970-01-01 00:00. A zone in the text is ignored. Day and month are in the
/// session's order.
///
/// # Errors
/// [`TypeError::InvalidText`] or [`TypeError::DateTimeRange`].
pub fn parse_timestamp_in(text: &str, rules: &dyn ZoneRules) -> Result<i64, TypeError> {
    if let Some(micros) = plain_timestamp(text.as_bytes()) {
        return Ok(micros);
    }
    match moment(text, rules) {
        Ok(Moment::Special(micros)) => Ok(micros),
        // The zone is ignored, but a name is refused, because it cannot be told from a misspelling.
        Ok(Moment::Local(_, Some(Zone::Name(_)))) => Err(fault("timestamp", text, Fault::Form)),
        Ok(Moment::Local(micros, _)) => in_range(micros).map_err(|error| fault("timestamp", text, error)),
        Err(error) => Err(fault("timestamp", text, error)),
    }
}

/// Parses a timestamp to microseconds since 1970-01-01 00:00 UTC; `rules` defines named zones, and the zone of text
/// without one.
///
/// # Errors
/// [`TypeError::InvalidText`] or [`TypeError::DateTimeRange`].
pub fn parse_timestamptz_in(text: &str, rules: &dyn ZoneRules) -> Result<i64, TypeError> {
    let name = "timestamp with time zone";
    let (local, zone) = match moment(text, rules) {
        Ok(Moment::Special(micros)) => return Ok(micros),
        Ok(Moment::Local(micros, zone)) => (micros, zone),
        Err(error) => return Err(fault(name, text, error)),
    };
    let clock = i64::try_from(local).map_err(|_| fault(name, text, Fault::Range))?;
    let offset = match zone {
        Some(Zone::Offset(seconds)) => Some(seconds),
        Some(Zone::Name(zone)) => rules.offset_at_local(Some(zone), clock),
        None => rules.offset_at_local(None, clock),
    };
    let offset = offset.ok_or_else(|| fault(name, text, Fault::Form))?;
    in_range(local - i128::from(offset) * i128::from(SECOND)).map_err(|error| fault(name, text, error))
}

/// Returns the text without a zone name at its end, if `rules` knows that zone: types without a zone ignore it. `None`
/// without such a name.
pub fn without_zone_name<'a>(text: &'a str, rules: &dyn ZoneRules) -> Option<&'a str> {
    // Only the presence of a date matters, so any order is tried.
    let fields = [DateOrder::MonthDayYear, DateOrder::DayMonthYear, DateOrder::YearMonthDay]
        .into_iter()
        .find_map(|order| fields(text, &|| order).ok())?;
    let (Some(Zone::Name(name)), Some(_)) = (fields.zone, fields.date) else { return None };
    rules.offset_at_local(Some(name), 0)?;
    text.trim_end().strip_suffix(name).map(str::trim_end)
}

fn fault(ty: &str, text: &str, fault: Fault) -> TypeError {
    match fault {
        Fault::Form => TypeError::InvalidText { ty: ty.to_owned(), input: text.to_owned() },
        Fault::Range => TypeError::DateTimeRange { input: text.to_owned(), in_this_order: false },
        Fault::MonthOrDay => TypeError::DateTimeRange { input: text.to_owned(), in_this_order: true },
    }
}

enum Special {
    Earliest,
    Latest,
    Epoch,
}

fn special(text: &str) -> Option<Special> {
    let text = text.trim();
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is("infinity") {
        Some(Special::Latest)
    } else if is("-infinity") {
        Some(Special::Earliest)
    } else {
        is("epoch").then_some(Special::Epoch)
    }
}

enum Moment<'a> {
    /// An infinity or the epoch.
    Special(i64),
    /// Local time in microseconds; wide, because it may be out of range until the zone is applied.
    Local(i128, Option<Zone<'a>>),
}

fn moment<'a>(text: &'a str, rules: &dyn ZoneRules) -> Result<Moment<'a>, Fault> {
    let (earliest, latest) = super::TIMESTAMP_INFINITIES;
    match special(text) {
        Some(Special::Earliest) => return Ok(Moment::Special(earliest)),
        Some(Special::Latest) => return Ok(Moment::Special(latest)),
        Some(Special::Epoch) => return Ok(Moment::Special(0)),
        None => {}
    }
    let fields = fields(text, &|| rules.style().dates)?;
    let days = fields.date.ok_or(Fault::Form)?;
    let micros = i128::from(days) * i128::from(DAY) + i128::from(fields.time.unwrap_or(0));
    Ok(Moment::Local(micros, fields.zone))
}

fn in_range(micros: i128) -> Result<i64, Fault> {
    i64::try_from(micros).ok().filter(|m| (MIN_TIMESTAMP..=MAX_TIMESTAMP).contains(m)).ok_or(Fault::Range)
}

/// [`fields`] for types without a zone: refuses the name of a zone, which cannot be told from a misspelling.
fn fields_without_zone<'a>(text: &'a str, rules: &dyn ZoneRules) -> Result<Fields<'a>, Fault> {
    let fields = fields(text, &|| rules.style().dates)?;
    if matches!(fields.zone, Some(Zone::Name(_))) { Err(Fault::Form) } else { Ok(fields) }
}

#[cfg(test)]
mod tests;
