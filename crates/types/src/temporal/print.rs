//! Prints dates and times in PostgreSQL's ISO style.

use super::{DAY, MAX_TIMESTAMP, SECOND, civil_from_days};
use std::fmt::Write;

/// Prints `2013-01-31`, `0044-03-15 BC`, `infinity`.
pub fn print_date(days: i32, out: &mut String) {
    match days {
        i32::MIN => out.push_str("-infinity"),
        i32::MAX => out.push_str("infinity"),
        _ => push_era(push_date(i64::from(days), out), out),
    }
}

/// Prints `05:15:00`, `05:15:00.25`.
pub fn print_time(micros: i64, out: &mut String) {
    let seconds = u32::try_from(micros / SECOND).unwrap_or(0);
    push_sixties(seconds, out);
    push_fraction(micros % SECOND, out);
}

/// Appends seconds as `hh:mm:ss`; at most 24 hours.
fn push_sixties(seconds: u32, out: &mut String) {
    let two = |value: u32| u8::try_from(value).unwrap_or(0);
    push_two(two(seconds / 3600), out);
    out.push(':');
    push_two(two(seconds / 60 % 60), out);
    out.push(':');
    push_two(two(seconds % 60), out);
}

/// Prints `2013-01-31 05:15:00`.
pub fn print_timestamp(micros: i64, out: &mut String) {
    if !push_infinity(micros, out) {
        let before_christ = push_date_time(micros, out);
        push_era(before_christ, out);
    }
}

/// Prints `2013-01-31 05:15:00+00`, in local time `offset` seconds east of UTC.
pub fn print_timestamptz(micros: i64, offset: i32, out: &mut String) {
    if push_infinity(micros, out) {
        return;
    }
    let local = micros.saturating_add(i64::from(offset) * SECOND).min(MAX_TIMESTAMP);
    let before_christ = push_date_time(local, out);
    push_offset(offset, out);
    push_era(before_christ, out);
}

fn push_infinity(micros: i64, out: &mut String) -> bool {
    match micros {
        i64::MIN => out.push_str("-infinity"),
        i64::MAX => out.push_str("infinity"),
        _ => return false,
    }
    true
}

fn push_date_time(micros: i64, out: &mut String) -> bool {
    let before_christ = push_date(micros.div_euclid(DAY), out);
    out.push(' ');
    print_time(micros.rem_euclid(DAY), out);
    before_christ
}

/// Appends the date without its era, and returns whether it is BC.
fn push_date(days: i64, out: &mut String) -> bool {
    let date = civil_from_days(days);
    let before_christ = date.year <= 0;
    let year = if before_christ { 1 - date.year } else { date.year };
    match u16::try_from(year) {
        Ok(year @ 0..=9999) => {
            push_two((year / 100) as u8, out);
            push_two((year % 100) as u8, out);
        }
        _ => push_padded(year, 4, out),
    }
    out.push('-');
    push_two(date.month, out);
    out.push('-');
    push_two(date.day, out);
    before_christ
}

fn push_era(before_christ: bool, out: &mut String) {
    if before_christ {
        out.push_str(" BC");
    }
}

/// Appends `+00`, `-03:30`, `+00:19:32`: as short as the offset allows.
fn push_offset(offset: i32, out: &mut String) {
    out.push(if offset < 0 { '-' } else { '+' });
    let seconds = i64::from(offset).abs();
    push_padded(seconds / 3600, 2, out);
    if seconds % 3600 != 0 {
        out.push(':');
        push_padded(seconds / 60 % 60, 2, out);
    }
    if seconds % 60 != 0 {
        out.push(':');
        push_padded(seconds % 60, 2, out);
    }
}

/// Appends `.25` for 250,000 microseconds, nothing for zero.
fn push_fraction(micros: i64, out: &mut String) {
    if micros == 0 {
        return;
    }
    let (mut digits, mut width) = (micros, 6);
    while digits % 10 == 0 {
        digits /= 10;
        width -= 1;
    }
    out.push('.');
    push_padded(digits, width, out);
}

/// Appends a number of two digits (0 to 99). Hand-written, because COPY TO and every result row use it.
fn push_two(value: u8, out: &mut String) {
    out.push(char::from(b'0' + value / 10));
    out.push(char::from(b'0' + value % 10));
}

/// Appends a number of at least `width` digits.
fn push_padded(value: i64, width: usize, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(out, "{value:0width$}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(print: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        print(&mut out);
        out
    }

    #[test]
    fn dates_print_with_their_era() {
        assert_eq!(shown(|out| print_date(0, out)), "1970-01-01");
        assert_eq!(shown(|out| print_date(super::super::MIN_DATE, out)), "4714-11-24 BC");
        assert_eq!(shown(|out| print_date(super::super::MAX_DATE, out)), "5874897-12-31");
        assert_eq!(shown(|out| print_date(i32::MIN, out)), "-infinity");
    }

    #[test]
    fn times_print_without_idle_zeros() {
        assert_eq!(shown(|out| print_time(0, out)), "00:00:00");
        assert_eq!(shown(|out| print_time(DAY, out)), "24:00:00");
        assert_eq!(shown(|out| print_time(62_000_120, out)), "00:01:02.00012");
    }

    #[test]
    fn timestamps_before_1970_borrow_from_the_day() {
        assert_eq!(shown(|out| print_timestamp(-1, out)), "1969-12-31 23:59:59.999999");
    }

    #[test]
    fn zones_print_as_short_as_they_can() {
        assert_eq!(shown(|out| print_timestamptz(0, 0, out)), "1970-01-01 00:00:00+00");
        assert_eq!(shown(|out| print_timestamptz(0, 5 * 3600 + 1800, out)), "1970-01-01 05:30:00+05:30");
        assert_eq!(shown(|out| print_timestamptz(0, -1172, out)), "1969-12-31 23:40:28-00:19:32");
    }
}
