//! Intervals to text, `IntervalStyle = postgres`.

use super::Interval;
use crate::temporal::SECOND;
use std::fmt::Write;

/// `1 year 2 mons 3 days 04:05:06.5`; the empty interval is `00:00:00`.
pub fn print_interval(interval: Interval, out: &mut String) {
    let start = out.len();
    // After a negative part a positive one shows its sign.
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
