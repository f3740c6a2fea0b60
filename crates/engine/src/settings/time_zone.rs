//! Time zones: names of the IANA list and fixed offsets.

use chrono::{Offset, TimeZone as _};
use types::array::print_array_by;
use types::temporal::{self, SECOND, ZoneRules};
use types::{DataType, Datum, ElementType, coerce, text};

/// A session's time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeZone(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Seconds east of UTC.
    Offset(i32),
    Named(chrono_tz::Tz),
}

impl TimeZone {
    /// UTC.
    pub const UTC: Self = Self(Kind::Offset(0));

    /// Seconds east of UTC at a time in microseconds since 1970: what times are shown with.
    pub fn offset_at(self, micros: i64) -> i32 {
        match self.0 {
            Kind::Offset(seconds) => seconds,
            Kind::Named(zone) => match chrono::DateTime::from_timestamp_micros(micros) {
                Some(time) => zone.offset_from_utc_datetime(&time.naive_utc()).fix().local_minus_utc(),
                // Infinity and times beyond the calendar have no local time.
                None => 0,
            },
        }
    }
}

impl TimeZone {
    /// Appends the text of a value as [`text::print`] does, and moments as the zone's clocks show them.
    pub fn print(self, ty: &DataType, value: &Datum, out: &mut String) {
        match (ty, value) {
            (_, Datum::TimestampTz(moment)) => temporal::print_timestamptz(*moment, self.offset_at(*moment), out),
            (DataType::Array(ElementType::TimestampTz), Datum::Array(items)) => {
                let mut print = |item: &Datum, out: &mut String| self.print(&DataType::TimestampTz, item, out);
                print_array_by(items, &mut print, out);
            }
            _ => text::print(ty, value, out),
        }
    }

    /// A moment as the zone's clocks show it, or what they show as a moment, where an assignment to a column of type
    /// `ty` goes from one to the other. Any other value stays as it is.
    pub(crate) fn seen_as(self, ty: &DataType, value: Datum) -> Datum {
        let shifted = |micros: i64, seconds: i32| micros.saturating_add(i64::from(seconds) * SECOND);
        match (ty, value) {
            (_, value @ Datum::TimestampTz(i64::MIN | i64::MAX)) => value,
            (DataType::Timestamp | DataType::Date | DataType::Time, Datum::TimestampTz(moment)) => {
                Datum::Timestamp(shifted(moment, self.offset_at(moment)))
            }
            (ty, Datum::TimestampTz(moment)) if ty.is_text() => {
                let mut text = String::new();
                self.print(&DataType::TimestampTz, &Datum::TimestampTz(moment), &mut text);
                Datum::Text(text)
            }
            (DataType::TimestampTz, Datum::Timestamp(local)) if local != i64::MIN && local != i64::MAX => {
                Datum::TimestampTz(shifted(local, -self.offset_at_local(None, local).unwrap_or(0)))
            }
            (DataType::TimestampTz, value @ Datum::Date(_)) => {
                match coerce::assign(&DataType::Timestamp, value.clone()) {
                    Ok(midnight) => self.seen_as(ty, midnight),
                    Err(_) => value,
                }
            }
            (_, value) => value,
        }
    }
}

impl ZoneRules for TimeZone {
    fn offset_at_local(&self, name: Option<&str>, local_micros: i64) -> Option<i32> {
        let zone = match name {
            Some(name) => parse_zone(name)?,
            None => *self,
        };
        let named = match zone.0 {
            Kind::Offset(seconds) => return Some(seconds),
            Kind::Named(named) => named,
        };
        let Some(local) = chrono::DateTime::from_timestamp_micros(local_micros) else { return Some(0) };
        let local = local.naive_utc();
        // Twice in autumn: the second, standard time, as PostgreSQL takes it. Never in spring: as it was before.
        match named.offset_from_local_datetime(&local) {
            chrono::LocalResult::Single(offset) | chrono::LocalResult::Ambiguous(_, offset) => {
                Some(offset.fix().local_minus_utc())
            }
            chrono::LocalResult::None => {
                let before = local.checked_sub_signed(chrono::TimeDelta::hours(3))?;
                Some(named.offset_from_local_datetime(&before).earliest()?.fix().local_minus_utc())
            }
        }
    }
}

/// Reads a zone; `None`: there is none of that name.
pub(crate) fn parse_zone(value: &str) -> Option<TimeZone> {
    let value = value.trim();
    if ["utc", "gmt", "z", "zulu", "default", "local"].contains(&value.to_ascii_lowercase().as_str()) {
        return Some(TimeZone::UTC);
    }
    if let Some(offset) = parse_offset(value) {
        return Some(TimeZone(Kind::Offset(offset)));
    }
    let named = chrono_tz::TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(value));
    named.map(|zone| TimeZone(Kind::Named(*zone)))
}

/// `+02`, `-03:30`, `+0530`, `2`: hours east of UTC, as PostgreSQL takes it in SET TIME ZONE.
fn parse_offset(value: &str) -> Option<i32> {
    let (sign, digits) = match value.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, value.strip_prefix('+').unwrap_or(value)),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "0"),
    };
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<i32>().ok()).flatten();
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 15 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}
