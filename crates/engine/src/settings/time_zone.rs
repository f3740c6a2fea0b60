//! Time zones: names of the IANA list and fixed offsets; and a session's way to read and print values.

use chrono::{Offset, TimeZone as _};
use chrono_tz::{OffsetComponents as _, OffsetName as _};
use pg_catalog::TimeZoneInfo;
use types::array::print_array_by;
use types::temporal::{self, SECOND, ZoneRules};
use types::{DataType, Datum, Style, coerce, text};

/// A session's time zone, with the style in which it reads and prints values: where one of them has a say the other has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeZone {
    kind: Kind,
    style: Style,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Seconds east of UTC.
    Offset(i32),
    Named(chrono_tz::Tz),
}

impl TimeZone {
    /// UTC.
    pub const UTC: Self = Self::of(Kind::Offset(0));

    const fn of(kind: Kind) -> Self {
        Self { kind, style: Style::POSTGRES }
    }

    /// The zone in a session of that style.
    pub(crate) fn with_style(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// Seconds east of UTC at a time in microseconds since 1970: what times are shown with.
    pub fn offset_at(self, micros: i64) -> i32 {
        match self.kind {
            Kind::Offset(seconds) => seconds,
            Kind::Named(zone) => match chrono::DateTime::from_timestamp_micros(temporal::with_known_rules(micros)) {
                Some(time) => zone.offset_from_utc_datetime(&time.naive_utc()).fix().local_minus_utc(),
                // Infinity and times beyond the calendar have no local time.
                None => 0,
            },
        }
    }
}

/// All zones as they are at a time in microseconds since 1970.
pub(crate) fn time_zones(now: i64) -> Vec<TimeZoneInfo> {
    let Some(now) = chrono::DateTime::from_timestamp_micros(now) else { return Vec::new() };
    let info = |zone: &chrono_tz::Tz| {
        let offset = zone.offset_from_utc_datetime(&now.naive_utc());
        let seconds = offset.fix().local_minus_utc();
        TimeZoneInfo {
            name: zone.name(),
            abbreviation: offset.abbreviation().map_or_else(|| shown_offset(seconds), str::to_owned),
            offset: seconds,
            is_dst: !offset.dst_offset().is_zero(),
        }
    };
    chrono_tz::TZ_VARIANTS.iter().map(info).collect()
}

/// The type of a value whose text depends on the session.
fn styled_type(value: &Datum) -> Option<DataType> {
    match value {
        Datum::TimestampTz(_) => Some(DataType::TimestampTz(None)),
        Datum::Float4(_) => Some(DataType::Real),
        Datum::Float8(_) => Some(DataType::Double),
        Datum::Interval(_) => Some(DataType::Interval),
        _ => None,
    }
}

/// What the time of a zone without letters is called: `+03`, `+0530`.
fn shown_offset(seconds: i32) -> String {
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
    match minutes % 60 {
        0 => format!("{sign}{:02}", minutes / 60),
        rest => format!("{sign}{:02}{rest:02}", minutes / 60),
    }
}

impl TimeZone {
    /// Appends the text of a value in the session's style, and moments as the zone's clocks show them.
    pub fn print(self, ty: &DataType, value: &Datum, out: &mut String) {
        match (ty, value) {
            (_, Datum::TimestampTz(moment)) => temporal::print_timestamptz(*moment, self.offset_at(*moment), out),
            (ty, Datum::Array(items)) if matches!(ty.item(), Some(DataType::TimestampTz(_))) => {
                let mut print = |item: &Datum, out: &mut String| self.print(&DataType::TimestampTz(None), item, out);
                print_array_by(items, &mut print, out);
            }
            _ => text::print_styled(ty, value, self.style, out),
        }
    }

    /// A moment as the zone's clocks show it, or what they show as a moment, where an assignment to a column of type
    /// `ty` goes from one to the other; in a column of text a value in the session's style. Any other stays as it is.
    pub(crate) fn seen_as(self, ty: &DataType, value: Datum) -> Datum {
        let shifted = |micros: i64, seconds: i32| micros.saturating_add(i64::from(seconds) * SECOND);
        match (ty, value) {
            (_, value @ Datum::TimestampTz(i64::MIN | i64::MAX)) => value,
            (DataType::Timestamp(_) | DataType::Date | DataType::Time(_), Datum::TimestampTz(moment)) => {
                Datum::Timestamp(shifted(moment, self.offset_at(moment)))
            }
            (ty, value) if ty.is_text() => match styled_type(&value) {
                Some(own) => {
                    let mut text = String::new();
                    self.print(&own, &value, &mut text);
                    Datum::Text(text)
                }
                None => value,
            },
            (DataType::TimestampTz(_), Datum::Timestamp(local)) if local != i64::MIN && local != i64::MAX => {
                Datum::TimestampTz(shifted(local, -self.offset_at_local(None, local).unwrap_or(0)))
            }
            (DataType::TimestampTz(_), value @ Datum::Date(_)) => {
                match coerce::assign(&DataType::Timestamp(None), value.clone()) {
                    Ok(midnight) => self.seen_as(ty, midnight),
                    Err(_) => value,
                }
            }
            (_, value) => value,
        }
    }
}

impl ZoneRules for TimeZone {
    fn style(&self) -> Style {
        self.style
    }

    fn offset_at_local(&self, name: Option<&str>, local_micros: i64) -> Option<i32> {
        let zone = match name {
            Some(name) => parse_zone(name)?,
            None => *self,
        };
        let named = match zone.kind {
            Kind::Offset(seconds) => return Some(seconds),
            Kind::Named(named) => named,
        };
        let known = temporal::with_known_rules(local_micros);
        let Some(local) = chrono::DateTime::from_timestamp_micros(known) else { return Some(0) };
        let local = local.naive_utc();
        // Twice in autumn: the second, standard time, as PostgreSQL takes it. Never in spring: as it was before.
        match named.offset_from_local_datetime(&local) {
            chrono::LocalResult::Single(offset) | chrono::LocalResult::Ambiguous(_, offset) => {
                Some(offset.fix().local_minus_utc())
            }
            chrono::LocalResult::None => {
                // Hours that never come are at most the day that some islands left out.
                let before = [3, 25].into_iter().find_map(|hours| {
                    let before = local.checked_sub_signed(chrono::TimeDelta::hours(hours))?;
                    named.offset_from_local_datetime(&before).earliest()
                });
                Some(before?.fix().local_minus_utc())
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
    let named = chrono_tz::TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(value));
    let named = named.map(|zone| Kind::Named(*zone));
    named.or_else(|| temporal::posix_zone(value).map(Kind::Offset)).map(TimeZone::of)
}

/// A plain number is one of hours east of UTC, `5` or `-3.5`, in seconds. Everything else counts as POSIX has it.
pub(super) fn hours_east(value: &str) -> Option<i32> {
    let value = value.trim();
    if !value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.')) {
        return None;
    }
    let hours: f64 = value.parse().ok()?;
    (hours.abs() <= 24.0).then_some((hours * 3_600.0) as i32)
}
