//! Time zones: names of the IANA database and fixed offsets. No other module reads the time zone database.

mod values;

use chrono::{DateTime, Duration, NaiveDateTime, Offset, TimeZone as _};
use chrono_tz::{OffsetComponents as _, OffsetName as _};
use types::temporal::{self, SECOND, ZoneRules};
use types::{Interval, Style, TypeError};

/// A time zone, with the style in which a session reads and prints values: both are needed in the same places.
///
/// Times are microseconds since 1970-01-01; infinite times are equal in all zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeZone {
    kind: Kind,
    style: Style,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// Seconds east of UTC.
    Offset(i32),
    Named(chrono_tz::Tz),
}

impl TimeZone {
    /// UTC.
    pub const UTC: Self = Self { kind: Kind::Offset(0), style: Style::POSTGRES };

    /// Returns a zone by its name in any case, or by an offset in POSIX syntax; `None` for an unknown name.
    pub fn named(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("utc") || name.eq_ignore_ascii_case("z") {
            return Some(Self::UTC);
        }
        let kind = zone_of_list(name).map(Kind::Named).or_else(|| temporal::posix_zone(name).map(Kind::Offset))?;
        Some(Self { kind, ..Self::UTC })
    }

    /// Returns a zone that is always so many seconds east of UTC.
    pub const fn east(seconds: i32) -> Self {
        Self { kind: Kind::Offset(seconds), ..Self::UTC }
    }

    /// Returns whether its local time is UTC.
    pub fn is_utc(self) -> bool {
        use chrono_tz::Tz;
        match self.kind {
            Kind::Offset(seconds) => seconds == 0,
            Kind::Named(zone) => matches!(zone, Tz::UTC | Tz::Etc__UTC | Tz::Zulu | Tz::Etc__Zulu | Tz::Universal),
        }
    }

    /// Returns all named zones, with their names.
    pub fn all() -> impl Iterator<Item = (&'static str, Self)> {
        chrono_tz::TZ_VARIANTS.iter().map(|zone| (zone.name(), Self { kind: Kind::Named(*zone), ..Self::UTC }))
    }

    /// Returns its name in the IANA database; `None` for a fixed offset.
    pub fn name(self) -> Option<&'static str> {
        match self.kind {
            Kind::Named(zone) => Some(zone.name()),
            Kind::Offset(_) => None,
        }
    }

    /// Returns the zone with another style.
    pub fn with_style(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// Returns how a session with the zone reads and prints values.
    pub fn style(self) -> Style {
        self.style
    }

    /// Returns the seconds east of UTC at a time in UTC; 0 beyond the calendar's range.
    pub fn offset_at(self, micros: i64) -> i32 {
        match self.kind {
            Kind::Offset(seconds) => seconds,
            Kind::Named(zone) => {
                date_time(micros).map_or(0, |moment| zone.offset_from_utc_datetime(&moment).fix().local_minus_utc())
            }
        }
    }

    /// Returns the seconds east of UTC at a local time. A local time that occurs twice is taken as the later one
    /// (standard time); one in a gap has the offset before the gap.
    fn offset_at_local_time(self, local: i64) -> i32 {
        match self.kind {
            Kind::Offset(seconds) => seconds,
            Kind::Named(zone) => date_time(local).map_or(0, |local| offset_before_gap(zone, local)),
        }
    }

    /// Converts a time in UTC to local time.
    ///
    /// # Errors
    /// [`TypeError::MomentRange`].
    pub fn local_of(self, micros: i64) -> Result<i64, TypeError> {
        if is_infinite(micros) { Ok(micros) } else { later(micros, self.offset_at(micros)) }
    }

    /// Converts local time to a time in UTC.
    ///
    /// # Errors
    /// [`TypeError::MomentRange`].
    pub fn moment_of(self, local: i64) -> Result<i64, TypeError> {
        if is_infinite(local) { Ok(local) } else { later(local, -self.offset_at_local_time(local)) }
    }

    /// Adds an interval to a time in UTC: days and months by local time, hours as elapsed time.
    ///
    /// # Errors
    /// [`TypeError::MomentRange`].
    pub fn plus(self, micros: i64, by: Interval) -> Result<i64, TypeError> {
        let plus = |micros: i64, by: Interval| by.add_to(micros).ok_or_else(out_of_range);
        let days_later = match by.months == 0 && by.days == 0 {
            true => micros,
            false => self.moment_of(plus(self.local_of(micros)?, Interval { micros: 0, ..by })?)?,
        };
        plus(days_later, Interval { months: 0, days: 0, ..by })
    }

    /// Returns whether daylight saving time applies at a time in UTC.
    pub fn is_dst_at(self, micros: i64) -> bool {
        match (self.kind, date_time(micros)) {
            (Kind::Named(zone), Some(moment)) => !zone.offset_from_utc_datetime(&moment).dst_offset().is_zero(),
            _ => false,
        }
    }

    /// Returns the abbreviation of a named zone at a time in UTC: `CEST`, `-03`; `None` for a fixed offset.
    pub fn abbreviation_at(self, micros: i64) -> Option<String> {
        let (Kind::Named(zone), Some(moment)) = (self.kind, date_time(micros)) else { return None };
        let offset = zone.offset_from_utc_datetime(&moment);
        let seconds = offset.fix().local_minus_utc();
        Some(offset.abbreviation().map_or_else(|| shown_offset(seconds), str::to_owned))
    }
}

impl ZoneRules for TimeZone {
    fn style(&self) -> Style {
        self.style
    }

    fn offset_at_local(&self, name: Option<&str>, local_micros: i64) -> Option<i32> {
        let zone = name.map_or(Some(*self), Self::named)?;
        Some(zone.offset_at_local_time(local_micros))
    }
}

/// Returns a named zone. Most names are in the case of the database, which needs no search.
fn zone_of_list(name: &str) -> Option<chrono_tz::Tz> {
    let in_any_case = || chrono_tz::TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(name)).copied();
    name.parse().ok().or_else(in_any_case)
}

fn offset_before_gap(zone: chrono_tz::Tz, local: NaiveDateTime) -> i32 {
    // The longest gap is the day that some islands skipped.
    let found = [0, 1, 3, 25].into_iter().find_map(|hours| {
        let before = local.checked_sub_signed(Duration::hours(hours))?;
        zone.offset_from_local_datetime(&before).latest()
    });
    found.map_or(0, |offset| offset.fix().local_minus_utc())
}

fn date_time(micros: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp_micros(temporal::with_known_rules(micros)).map(|time| time.naive_utc())
}

fn later(micros: i64, seconds: i32) -> Result<i64, TypeError> {
    let later = micros.checked_add(i64::from(seconds) * SECOND).filter(|micros| !is_infinite(*micros));
    later.ok_or_else(out_of_range)
}

fn is_infinite(micros: i64) -> bool {
    micros == temporal::TIMESTAMP_INFINITIES.0 || micros == temporal::TIMESTAMP_INFINITIES.1
}

fn out_of_range() -> TypeError {
    TypeError::MomentRange { what: "timestamp".to_owned() }
}

/// Formats `+03`, `+0530`: the abbreviation of an offset without letters.
fn shown_offset(seconds: i32) -> String {
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
    match minutes % 60 {
        0 => format!("{sign}{:02}", minutes / 60),
        rest => format!("{sign}{:02}{rest:02}", minutes / 60),
    }
}
