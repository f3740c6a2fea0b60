//! The present time, and arithmetic of dates, times, timestamps and intervals; what needs a time zone's rules is DataFusion's.

use super::wrong;
use crate::{Body, Env, EvalError, Reason};
use types::temporal::{self, DAY};
use types::{DataType, Datum, Interval, coerce};

pub(super) fn find(name: &str) -> Option<Body> {
    Some(match name {
        "timestamp_pl_interval" | "date_pl_interval" | "time_pl_interval" | "datetime_pl" => plus,
        "interval_pl_timestamp" | "interval_pl_date" | "interval_pl_time" | "timedate_pl" => plus_flipped,
        "timestamp_mi_interval" | "date_mi_interval" | "time_mi_interval" => minus,
        "timestamp_mi" | "timestamptz_mi" | "time_mi_time" => difference,
        "interval_pl" => |_, args| pair(args, |a, b| a.checked_add(b)),
        "interval_mi" => |_, args| pair(args, |a, b| a.checked_add(b.checked_neg()?)),
        "interval_um" => negated,
        "interval_mul" => |_, args| scaled(args, |interval, factor| Ok(interval.checked_mul(factor))),
        "interval_div" => |_, args| scaled(args, divided),
        "mul_d_interval" => |env, args| flipped(env, args, |_, args| scaled(args, |i, by| Ok(i.checked_mul(by)))),
        "date_pli" => |_, args| days_later(args, 1),
        "date_mii" => |_, args| days_later(args, -1),
        "integer_pl_date" => |env, args| flipped(env, args, |_, args| days_later(args, 1)),
        "date_mi" => days_between,
        "now" | "transaction_timestamp" => |env, _| Ok(Datum::TimestampTz(env.transaction_time)),
        "statement_timestamp" => |env, _| Ok(Datum::TimestampTz(env.statement_time)),
        _ => return None,
    })
}

fn range() -> EvalError {
    Reason::DateTime.because("interval out of range")
}

fn flipped(env: &Env, args: &[Datum], body: Body) -> Result<Datum, EvalError> {
    let [a, b] = args else { return Err(wrong(args)) };
    body(env, &[b.clone(), a.clone()])
}

fn plus(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    match args {
        [moment, Datum::Interval(interval)] => shifted(moment, *interval),
        [date @ Datum::Date(_), Datum::Time(micros)] => shifted(date, Interval { months: 0, days: 0, micros: *micros }),
        _ => Err(wrong(args)),
    }
}

fn plus_flipped(env: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    flipped(env, args, plus)
}

fn minus(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [moment, Datum::Interval(interval)] = args else { return Err(wrong(args)) };
    shifted(moment, interval.checked_neg().ok_or_else(range)?)
}

fn shifted(moment: &Datum, by: Interval) -> Result<Datum, EvalError> {
    let add = |micros: i64| by.add_to(micros).ok_or_else(|| Reason::DateTime.because("timestamp out of range"));
    match moment {
        Datum::Timestamp(micros) => add(*micros).map(Datum::Timestamp),
        Datum::Date(_) => match coerce::assign(&DataType::Timestamp(None), moment.clone())? {
            Datum::Timestamp(micros) => add(micros).map(Datum::Timestamp),
            other => Err(wrong(&[other])),
        },
        // Only the time of the interval counts, and midnight follows the last second of the day.
        Datum::Time(micros) => {
            Ok(Datum::Time((i128::from(*micros) + i128::from(by.micros)).rem_euclid(i128::from(DAY)) as i64))
        }
        other => Err(wrong(std::slice::from_ref(other))),
    }
}

fn pair(args: &[Datum], op: fn(Interval, Interval) -> Option<Interval>) -> Result<Datum, EvalError> {
    let [Datum::Interval(a), Datum::Interval(b)] = args else { return Err(wrong(args)) };
    op(*a, *b).map(Datum::Interval).ok_or_else(range)
}

fn negated(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Interval(value)] = args else { return Err(wrong(args)) };
    value.checked_neg().map(Datum::Interval).ok_or_else(range)
}

fn scaled(args: &[Datum], op: fn(Interval, f64) -> Result<Option<Interval>, EvalError>) -> Result<Datum, EvalError> {
    let [Datum::Interval(interval), Datum::Float8(factor)] = args else { return Err(wrong(args)) };
    op(*interval, *factor)?.map(Datum::Interval).ok_or_else(range)
}

fn divided(interval: Interval, by: f64) -> Result<Option<Interval>, EvalError> {
    if by == 0.0 { Err(EvalError::DivisionByZero) } else { Ok(interval.checked_div(by)) }
}

fn days_later(args: &[Datum], sign: i64) -> Result<Datum, EvalError> {
    let [Datum::Date(date), Datum::Int4(days)] = args else { return Err(wrong(args)) };
    if *date == i32::MIN || *date == i32::MAX {
        return Ok(Datum::Date(*date));
    }
    let sum = i32::try_from(i64::from(*date) + sign * i64::from(*days)).ok().map(Datum::Date);
    let sum = sum.filter(|sum| temporal::in_range(sum) && !matches!(sum, Datum::Date(i32::MIN | i32::MAX)));
    sum.ok_or_else(|| Reason::DateTime.because("date out of range"))
}

fn days_between(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Date(a), Datum::Date(b)] = args else { return Err(wrong(args)) };
    let infinite = |date: &i32| *date == i32::MIN || *date == i32::MAX;
    match a.checked_sub(*b) {
        Some(days) if !infinite(a) && !infinite(b) => Ok(Datum::Int4(days)),
        _ => Err(Reason::DateTime.because("cannot subtract infinite dates")),
    }
}

/// Days and time; `age` gives months.
fn difference(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
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
