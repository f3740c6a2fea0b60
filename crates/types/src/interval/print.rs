//! Prints intervals in PostgreSQL's four styles.

use super::Interval;
use crate::IntervalStyle;
use crate::temporal::SECOND;
use std::fmt::Write;

/// Prints `1 year 2 mons 3 days 04:05:06.5`; the empty interval is `00:00:00`.
pub fn print_interval(interval: Interval, out: &mut String) {
    let start = out.len();
    // A positive part after a negative one has a plus sign.
    let mut negative = false;
    let units = [(interval.months / 12, "year"), (interval.months % 12, "mon"), (interval.days, "day")];
    for (count, unit) in units.into_iter().filter(|(count, _)| *count != 0) {
        let blank = if out.len() > start { " " } else { "" };
        let sign = if negative && count > 0 { "+" } else { "" };
        let plural = if count == 1 { "" } else { "s" };
        // Writing to a String cannot fail.
        let _ = write!(out, "{blank}{sign}{count} {unit}{plural}");
        negative = count < 0;
    }
    if interval.micros != 0 || out.len() == start {
        if out.len() > start {
            out.push(' ');
        }
        push_time(interval.micros, negative, out);
    }
}

fn push_time(micros: i64, after_negative: bool, out: &mut String) {
    out.push_str(match (micros < 0, after_negative) {
        (true, _) => "-",
        (false, true) => "+",
        (false, false) => "",
    });
    let second = SECOND.unsigned_abs();
    let (seconds, fraction) = (micros.unsigned_abs() / second, micros.unsigned_abs() % second);
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction != 0 {
        out.push('.');
        out.push_str(format!("{fraction:06}").trim_end_matches('0'));
    }
}

/// Prints an interval in a style.
pub(crate) fn print_styled(interval: Interval, style: IntervalStyle, out: &mut String) {
    match style {
        IntervalStyle::Postgres => print_interval(interval, out),
        IntervalStyle::PostgresVerbose => print_verbose(&Parts::of(interval), out),
        IntervalStyle::SqlStandard => print_standard(interval, out),
        IntervalStyle::Iso8601 => print_iso(&Parts::of(interval), out),
    }
}

/// An interval by units, each with its sign.
struct Parts {
    years: i32,
    months: i32,
    days: i32,
    hours: i64,
    minutes: i64,
    seconds: i64,
    micros: i64,
}

impl Parts {
    fn of(interval: Interval) -> Self {
        let Interval { months, days, micros } = interval;
        Self {
            years: months / 12,
            months: months % 12,
            days,
            hours: micros / (3600 * SECOND),
            minutes: micros / (60 * SECOND) % 60,
            seconds: micros / SECOND % 60,
            micros: micros % SECOND,
        }
    }
}

/// Appends the seconds without sign, and their fraction without trailing zeros.
fn push_seconds(parts: &Parts, two_digits: bool, out: &mut String) {
    let (seconds, fraction) = (parts.seconds.unsigned_abs(), parts.micros.unsigned_abs());
    let _ = if two_digits { write!(out, "{seconds:02}") } else { write!(out, "{seconds}") };
    if fraction != 0 {
        out.push('.');
        out.push_str(format!("{fraction:06}").trim_end_matches('0'));
    }
}

/// Prints `@ 1 year 2 mons -3 days 4 hours ago`: `ago` if the first part is negative; the signs of other parts are
/// relative to it.
fn print_verbose(parts: &Parts, out: &mut String) {
    out.push('@');
    let mut ago = None;
    let mut sign_of = |value: i64| *ago.get_or_insert(value < 0) != (value < 0);
    let units = [
        (i64::from(parts.years), "year"),
        (i64::from(parts.months), "mon"),
        (i64::from(parts.days), "day"),
        (parts.hours, "hour"),
        (parts.minutes, "min"),
    ];
    for (value, unit) in units.into_iter().filter(|(value, _)| *value != 0) {
        let sign = if sign_of(value) { "-" } else { "" };
        // As in PostgreSQL, -1 of the other parts is plural, too.
        let plural = if value.unsigned_abs() == 1 && sign.is_empty() { "" } else { "s" };
        let _ = write!(out, " {sign}{} {unit}{plural}", value.unsigned_abs());
    }
    let second = if parts.seconds == 0 { parts.micros } else { parts.seconds };
    if second != 0 {
        out.push_str(if sign_of(second) { " -" } else { " " });
        push_seconds(parts, false, out);
        let one = parts.seconds.unsigned_abs() == 1 && parts.micros == 0;
        out.push_str(if one { " sec" } else { " secs" });
    }
    match ago {
        None => out.push_str(" 0"),
        Some(true) => out.push_str(" ago"),
        Some(false) => {}
    }
}

/// Prints `1-2`, `3 4:05:06`; with a sign for each part if one sign for all is not enough.
fn print_standard(interval: Interval, out: &mut String) {
    let signs =
        [interval.months.signum(), interval.days.signum(), i32::try_from(interval.micros.signum()).unwrap_or(0)];
    let negative = signs.contains(&-1);
    let positive = signs.contains(&1);
    let (has_months, has_days) = (interval.months != 0, interval.days != 0);
    let parts = Parts::of(interval);
    let years = |out: &mut String| {
        let _ = write!(out, "{}-{}", parts.years.unsigned_abs(), parts.months.unsigned_abs());
    };
    let days = |out: &mut String| {
        let _ = write!(out, "{} ", parts.days.unsigned_abs());
    };
    let clock = |out: &mut String| {
        let _ = write!(out, "{}:{:02}:", parts.hours.unsigned_abs(), parts.minutes.unsigned_abs());
        push_seconds(&parts, true, out);
    };
    if !negative && !positive {
        return out.push('0');
    }
    if negative && positive || has_months && (has_days || interval.micros != 0) {
        let sign = |negative: bool| if negative { '-' } else { '+' };
        out.push(sign(interval.months < 0));
        years(out);
        out.extend([' ', sign(interval.days < 0)]);
        days(out);
        out.push(sign(interval.micros < 0));
        return clock(out);
    }
    if negative {
        out.push('-');
    }
    if has_months {
        return years(out);
    }
    if has_days {
        days(out);
    }
    clock(out);
}

/// Prints `P1Y2M-3DT4H5M6.5S`; the empty interval is `PT0S`.
fn print_iso(parts: &Parts, out: &mut String) {
    let start = out.len();
    out.push('P');
    let put = |value: i64, unit: char, out: &mut String| {
        if value != 0 {
            let _ = write!(out, "{value}{unit}");
        }
    };
    put(parts.years.into(), 'Y', out);
    put(parts.months.into(), 'M', out);
    put(parts.days.into(), 'D', out);
    let time = out.len();
    put(parts.hours, 'H', out);
    put(parts.minutes, 'M', out);
    if parts.seconds != 0 || parts.micros != 0 {
        out.push_str(if parts.seconds < 0 || parts.micros < 0 { "-" } else { "" });
        push_seconds(parts, false, out);
        out.push('S');
    }
    if out.len() > time {
        out.insert(time, 'T');
    } else if time == start + 1 {
        out.push_str("T0S");
    }
}
