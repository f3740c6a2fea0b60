//! The current time, and arithmetic of dates, times, timestamps and intervals; arithmetic of `timestamptz` uses the
//! session's zone.
//!
//! Plans use the public functions, too.

use super::wrong;
use crate::{Body, Env, EvalError, Reason};
use types::temporal::{self, DAY};
use types::{DataType, Datum, Interval, coerce};

pub(super) fn find(name: &str) -> Option<Body> {
    Some(match name {
        "timestamp_pl_interval" | "date_pl_interval" | "time_pl_interval" | "datetime_pl" => |_, args| plus(args),
        "interval_pl_timestamp" | "interval_pl_date" | "interval_pl_time" | "timedate_pl" => {
            |_, args| flipped(args, plus)
        }
        "timestamp_mi_interval" | "date_mi_interval" | "time_mi_interval" => |_, args| minus(args),
        "timestamptz_pl_interval" => moment_plus,
        "interval_pl_timestamptz" => plus_moment,
        "timestamptz_mi_interval" => moment_minus,
        "timestamp_mi" | "timestamptz_mi" | "time_mi_time" => |_, args| difference(args),
        "interval_pl" => |_, args| sum(args),
        "interval_mi" => |_, args| rest(args),
        "interval_um" => negated,
        "interval_mul" => |_, args| times(args),
        "interval_div" => |_, args| over(args),
        "mul_d_interval" => |_, args| flipped(args, times),
        "date_pli" => |_, args| days_later(args),
        "date_mii" => |_, args| days_earlier(args),
        "integer_pl_date" => |_, args| flipped(args, days_later),
        "date_mi" => |_, args| days_between(args),
        "now" | "transaction_timestamp" => |env, _| Ok(Datum::TimestampTz(env.transaction_time)),
        "statement_timestamp" => |env, _| Ok(Datum::TimestampTz(env.statement_time)),
        _ => return None,
    })
}

fn range() -> EvalError {
    Reason::DateTime.because("interval out of range")
}

/// Calls the body with its two arguments swapped.
///
/// # Errors
/// Errors of the body.
pub fn flipped(args: &[Datum], body: fn(&[Datum]) -> Result<Datum, EvalError>) -> Result<Datum, EvalError> {
    let [a, b] = args else { return Err(wrong(args)) };
    body(&[b.clone(), a.clone()])
}

/// Adds an interval to a date, a time or a timestamp, or a time to a date.
///
/// # Errors
/// A result out of range.
pub fn plus(args: &[Datum]) -> Result<Datum, EvalError> {
    match args {
        [moment, Datum::Interval(interval)] => shifted(moment, *interval),
        [date @ Datum::Date(_), Datum::Time(micros)] => shifted(date, Interval { months: 0, days: 0, micros: *micros }),
        _ => Err(wrong(args)),
    }
}

/// Subtracts an interval from a date, a time or a timestamp.
///
/// # Errors
/// A result out of range.
pub fn minus(args: &[Datum]) -> Result<Datum, EvalError> {
    let [moment, Datum::Interval(interval)] = args else { return Err(wrong(args)) };
    shifted(moment, interval.checked_neg().ok_or_else(range)?)
}

fn shifted(moment: &Datum, by: Interval) -> Result<Datum, EvalError> {
    let add = |micros: i64| by.add_to(micros).ok_or_else(|| Reason::DateTime.because("timestamp out of range"));
    match moment {
        Datum::Timestamp(micros) => add(*micros).map(Datum::Timestamp),
        // In UTC: plans call other functions if the session has another zone.
        Datum::TimestampTz(micros) => add(*micros).map(Datum::TimestampTz),
        Datum::Date(_) => match coerce::assign(&DataType::Timestamp(None), moment.clone())? {
            Datum::Timestamp(micros) => add(micros).map(Datum::Timestamp),
            other => Err(wrong(&[other])),
        },
        // Only the interval's time counts, and the result wraps at midnight.
        Datum::Time(micros) => {
            Ok(Datum::Time((i128::from(*micros) + i128::from(by.micros)).rem_euclid(i128::from(DAY)) as i64))
        }
        other => Err(wrong(std::slice::from_ref(other))),
    }
}

/// Adds an interval to a `timestamptz` in the session's zone.
fn moment_plus(env: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::TimestampTz(micros), Datum::Interval(by)] = args else { return Err(wrong(args)) };
    Ok(Datum::TimestampTz(env.zone.plus(*micros, *by)?))
}

fn plus_moment(env: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [by, moment] = args else { return Err(wrong(args)) };
    moment_plus(env, &[moment.clone(), by.clone()])
}

fn moment_minus(env: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [moment, Datum::Interval(by)] = args else { return Err(wrong(args)) };
    moment_plus(env, &[moment.clone(), Datum::Interval(by.checked_neg().ok_or_else(range)?)])
}

/// Adds two intervals.
///
/// # Errors
/// A result out of range.
pub fn sum(args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Interval(a), Datum::Interval(b)] = args else { return Err(wrong(args)) };
    a.checked_add(*b).map(Datum::Interval).ok_or_else(range)
}

/// Subtracts an interval from another.
///
/// # Errors
/// A result out of range.
pub fn rest(args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Interval(a), Datum::Interval(b)] = args else { return Err(wrong(args)) };
    b.checked_neg().and_then(|b| a.checked_add(b)).map(Datum::Interval).ok_or_else(range)
}

fn negated(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Interval(value)] = args else { return Err(wrong(args)) };
    value.checked_neg().map(Datum::Interval).ok_or_else(range)
}

/// Multiplies an interval by a number.
///
/// # Errors
/// A result out of range.
pub fn times(args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Interval(interval), Datum::Float8(factor)] = args else { return Err(wrong(args)) };
    interval.checked_mul(*factor).map(Datum::Interval).ok_or_else(range)
}

/// Divides an interval by a number.
///
/// # Errors
/// A division by zero, and a result out of range.
pub fn over(args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Interval(interval), Datum::Float8(divisor)] = args else { return Err(wrong(args)) };
    if *divisor == 0.0 {
        return Err(EvalError::DivisionByZero);
    }
    interval.checked_div(*divisor).map(Datum::Interval).ok_or_else(range)
}

/// Adds days to a date.
///
/// # Errors
/// A result out of range.
pub fn days_later(args: &[Datum]) -> Result<Datum, EvalError> {
    moved_by_days(args, 1)
}

/// Subtracts days from a date.
///
/// # Errors
/// A result out of range.
pub fn days_earlier(args: &[Datum]) -> Result<Datum, EvalError> {
    moved_by_days(args, -1)
}

fn moved_by_days(args: &[Datum], sign: i64) -> Result<Datum, EvalError> {
    let [Datum::Date(date), Datum::Int4(days)] = args else { return Err(wrong(args)) };
    if *date == i32::MIN || *date == i32::MAX {
        return Ok(Datum::Date(*date));
    }
    let sum = i32::try_from(i64::from(*date) + sign * i64::from(*days)).ok().map(Datum::Date);
    let sum = sum.filter(|sum| temporal::in_range(sum) && !matches!(sum, Datum::Date(i32::MIN | i32::MAX)));
    sum.ok_or_else(|| Reason::DateTime.because("date out of range"))
}

/// Returns the days from the second date to the first.
///
/// # Errors
/// An infinite date.
pub fn days_between(args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Date(a), Datum::Date(b)] = args else { return Err(wrong(args)) };
    let infinite = |date: &i32| *date == i32::MIN || *date == i32::MAX;
    match a.checked_sub(*b) {
        Some(days) if !infinite(a) && !infinite(b) => Ok(Datum::Int4(days)),
        _ => Err(Reason::DateTime.because("cannot subtract infinite dates")),
    }
}

/// Returns the interval from the second time or timestamp to the first, in days and time; `age` also has months.
///
/// # Errors
/// An infinite timestamp, and a result out of range.
pub fn difference(args: &[Datum]) -> Result<Datum, EvalError> {
    match args {
        [Datum::Time(a), Datum::Time(b)] => Ok(Datum::Interval(Interval { months: 0, days: 0, micros: a - b })),
        [Datum::Timestamp(a), Datum::Timestamp(b)] | [Datum::TimestampTz(a), Datum::TimestampTz(b)] => {
            let infinite = |micros: &i64| *micros == i64::MIN || *micros == i64::MAX;
            if infinite(a) || infinite(b) {
                return Err(Reason::DateTime.because("cannot subtract infinite timestamps"));
            }
            let micros = a.checked_sub(*b).ok_or_else(range)?;
            let days = i32::try_from(micros / DAY).map_err(|_| range())?;
            Ok(Datum::Interval(Interval { months: 0, days, micros: micros % DAY }))
        }
        _ => Err(wrong(args)),
    }
}
