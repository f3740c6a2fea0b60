//! Daylight saving time beyond the last year of the time zone database.

use super::{Civil, DAY, civil_from_days, days_from_civil};

/// The first year without rules in the time zone database.
const FIRST_UNKNOWN: i64 = 2100;

/// Returns a time with known rules at which every zone has the same offset: the time itself, or in the far future the
/// same day of a year that has rules and the same calendar. Rules say "the last Sunday of March", so clocks change on
/// the same days in both years.
pub fn with_known_rules(micros: i64) -> i64 {
    let year = civil_from_days(micros.div_euclid(DAY)).year;
    if year < FIRST_UNKNOWN {
        return micros;
    }
    let (first, length) = calendar(year);
    // Calendars recur within 28 years, unless a century year is between them.
    let alike = (FIRST_UNKNOWN - 28..FIRST_UNKNOWN)
        .map(calendar)
        .find(|(known, known_length)| known.rem_euclid(7) == first.rem_euclid(7) && *known_length == length);
    alike.map_or(micros, |(known, _)| micros - (first - known) * DAY)
}

/// Returns the year's first day, and its number of days.
fn calendar(year: i64) -> (i64, i64) {
    let first = |year| days_from_civil(Civil { year, month: 1, day: 1 });
    (first(year), first(year + 1) - first(year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_year_has_one_with_its_calendar() {
        for year in (2100..2600).chain([10_000, 294_246]) {
            for (month, day) in [(1, 1), (2, 28), (12, 31)] {
                let days = days_from_civil(Civil { year, month, day });
                let known = with_known_rules(days * DAY + 5).div_euclid(DAY);
                let date = civil_from_days(known);
                assert_eq!((date.month, date.day), (month, day), "{year}");
                assert_eq!(known.rem_euclid(7), days.rem_euclid(7), "{year}");
                assert!((2072..2100).contains(&date.year), "{year}");
            }
        }
        assert_eq!(with_known_rules(5), 5);
    }
}
