//! `make_date`, `make_time`, `make_timestamp` and `make_interval`: values made of their fields.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::sql::wrong;
use types::temporal::{self, Civil, DAY, SECOND, days_from_civil, days_in_month};
use types::{Datum, Interval};

/// Returns the days since 1970.
pub(super) fn make_days(year: i32, month: i32, day: i32) -> QueryResult<i32> {
    let bad = || Refusal::DateTime.because(format!("date field value out of range: {year}-{month:02}-{day:02}"));
    // Negative years are BC; there is no year 0.
    let astronomical = match year {
        0 => return Err(bad()),
        year if year < 0 => i64::from(year) + 1,
        year => i64::from(year),
    };
    let (month, day) = u8::try_from(month).ok().zip(u8::try_from(day).ok()).ok_or_else(bad)?;
    if day == 0 || day > days_in_month(astronomical, month) {
        return Err(bad());
    }
    let days = days_from_civil(Civil { year: astronomical, month, day });
    let days = i32::try_from(days).ok().filter(|days| temporal::in_range(&Datum::Date(*days)));
    days.ok_or_else(|| Refusal::DateTime.because(format!("date out of range: {year}-{month:02}-{day:02}")))
}

pub(super) fn make_micros(hour: i32, minute: i32, second: f64) -> QueryResult<i64> {
    let shown = if second.fract() == 0.0 { format!("{second:02}") } else { second.to_string() };
    let bad = || Refusal::DateTime.because(format!("time field value out of range: {hour}:{minute:02}:{shown}"));
    let micros = (second * 1e6).round_ties_even();
    if !(0..=24).contains(&hour) || !(0..60).contains(&minute) || !(0.0..=60e6).contains(&micros) {
        return Err(bad());
    }
    let all = (i64::from(hour) * 60 + i64::from(minute)) * 60 * SECOND + micros as i64;
    if all > DAY { Err(bad()) } else { Ok(all) }
}

pub(super) fn make_timestamp(args: &[Datum]) -> QueryResult<i64> {
    let [
        Datum::Int4(year),
        Datum::Int4(month),
        Datum::Int4(day),
        Datum::Int4(hour),
        Datum::Int4(minute),
        Datum::Float8(second),
    ] = args
    else {
        return Err(wrong(args));
    };
    let (days, micros) = (make_days(*year, *month, *day)?, make_micros(*hour, *minute, *second)?);
    i64::from(days).checked_mul(DAY).and_then(|days| days.checked_add(micros)).ok_or(QueryError::TimestampRange)
}

/// Arguments are years, months, weeks, days, hours, minutes and seconds; omitted ones are zero.
pub(super) fn make_interval(args: &[Datum]) -> QueryResult<Datum> {
    let number = |at: usize| args.get(at).and_then(Datum::as_i64).unwrap_or(0);
    let seconds = match args.get(6) {
        Some(Datum::Float8(seconds)) => *seconds,
        _ => 0.0,
    };
    let small = |value: i64| i32::try_from(value).map_err(|_| QueryError::IntervalRange);
    let of_seconds = (seconds * 1e6).round_ties_even();
    // The limit is the first double that is out of range.
    if of_seconds.is_nan() || of_seconds.abs() >= -(i64::MIN as f64) {
        return Err(QueryError::IntervalRange);
    }
    let of_clock = (number(4) * 3_600 + number(5) * 60) * SECOND;
    let micros = of_clock.checked_add(of_seconds as i64).ok_or(QueryError::IntervalRange)?;
    let (months, days) = (small(number(0) * 12 + number(1))?, small(number(2) * 7 + number(3))?);
    Ok(Datum::Interval(Interval { months, days, micros }))
}
