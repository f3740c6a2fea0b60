//! Operators that are functions with PostgreSQL's overloads: dates, times and intervals, bits, arrays, `||`, `^`.

use super::clocks::{TIME, TIMESTAMP, TIMESTAMPTZ};
use super::sql::{Body, Definition, Overload, arguments, call_of, define, strict, wrong};
use super::{array_operators, math, numeric};
use crate::error::{QueryError, QueryResult};
use datafusion::logical_expr::Expr;
use types::DataType::{self, BigInt, Date, Double, Integer, Interval as Span, SmallInt};
use types::temporal::DAY;
use types::{Datum, Interval};

/// The operator of that sign.
pub(crate) fn operator(sign: &str) -> Option<&'static Definition> {
    all().find(|definition| definition.name.strip_prefix("operator ") == Some(sign))
}

/// The quotient of two numerics.
pub(crate) fn numeric_quotient(left: Expr, right: Expr) -> Expr {
    let args = vec![left, right];
    call_of(&DIVIDE, args)
}

/// The length of an interval as a number.
pub(crate) fn interval_span(interval: Expr) -> Expr {
    let span = super::datetime::FUNCTIONS.iter().find(|definition| definition.name == "interval span");
    match span {
        Some(span) => call_of(span, vec![interval]),
        None => interval,
    }
}

static DIVIDE: Definition = define("operator /", OVER);

/// All of them. Their names are such that no query can write them as a function's.
pub(super) fn all() -> impl Iterator<Item = &'static Definition> {
    OPERATORS.iter().chain(array_operators::OPERATORS)
}

static OPERATORS: &[Definition] = &[
    define("operator +", PLUS),
    define("operator -", MINUS),
    define("operator *", TIMES),
    define("operator /", OVER),
    define("operator ^", math::POWER),
    define("operator &", BIT_AND),
    define("operator |", BIT_OR),
    define("operator #", BIT_XOR),
    define("operator <<", SHIFT_LEFT),
    define("operator >>", SHIFT_RIGHT),
    define("prefix ~", BIT_NOT),
    define("operator ^@", super::text::STARTS_WITH),
];

const PLUS: &[Overload] = &[
    strict(&[TIMESTAMP, Span], TIMESTAMP, plus_interval),
    strict(&[TIMESTAMPTZ, Span], TIMESTAMPTZ, plus_interval),
    strict(&[Span, Span], Span, add_intervals),
    strict(&[TIME, Span], TIME, plus_interval),
    strict(&[Date, Span], TIMESTAMP, plus_interval),
    strict(&[Date, Integer], Date, date_plus_days),
    strict(&[Integer, Date], Date, |args| flipped(args, date_plus_days)),
    strict(&[Span, TIMESTAMP], TIMESTAMP, |args| flipped(args, plus_interval)),
    strict(&[Span, TIMESTAMPTZ], TIMESTAMPTZ, |args| flipped(args, plus_interval)),
    strict(&[Span, Date], TIMESTAMP, |args| flipped(args, plus_interval)),
    strict(&[Span, TIME], TIME, |args| flipped(args, plus_interval)),
    strict(&[Date, TIME], TIMESTAMP, date_plus_time),
    strict(&[TIME, Date], TIMESTAMP, |args| flipped(args, date_plus_time)),
];

const MINUS: &[Overload] = &[
    strict(&[TIMESTAMP, Span], TIMESTAMP, minus_interval),
    strict(&[TIMESTAMPTZ, Span], TIMESTAMPTZ, minus_interval),
    strict(&[TIMESTAMP, TIMESTAMP], Span, difference),
    strict(&[TIMESTAMPTZ, TIMESTAMPTZ], Span, difference),
    strict(&[Span, Span], Span, |args| {
        arguments!(args, [Datum::Interval(a), Datum::Interval(b)]);
        b.checked_neg().and_then(|b| a.checked_add(b)).map(Datum::Interval).ok_or(QueryError::IntervalRange)
    }),
    strict(&[TIME, TIME], Span, difference),
    strict(&[TIME, Span], TIME, minus_interval),
    strict(&[Date, Span], TIMESTAMP, minus_interval),
    strict(&[Date, Integer], Date, date_minus_days),
    strict(&[Date, Date], Integer, days_between),
];

const TIMES: &[Overload] =
    &[strict(&[Span, Double], Span, times), strict(&[Double, Span], Span, |args| flipped(args, times))];

const OVER: &[Overload] = &[
    strict(&[Span, Double], Span, over),
    strict(&[DataType::Numeric(None), DataType::Numeric(None)], DataType::Numeric(None), numeric::divide),
];

const BIT_AND: &[Overload] = &[
    strict(&[Integer, Integer], Integer, |args| bits(args, |a, b| a & b)),
    strict(&[BigInt, BigInt], BigInt, |args| bits(args, |a, b| a & b)),
    strict(&[SmallInt, SmallInt], SmallInt, |args| bits(args, |a, b| a & b)),
];
const BIT_OR: &[Overload] = &[
    strict(&[Integer, Integer], Integer, |args| bits(args, |a, b| a | b)),
    strict(&[BigInt, BigInt], BigInt, |args| bits(args, |a, b| a | b)),
    strict(&[SmallInt, SmallInt], SmallInt, |args| bits(args, |a, b| a | b)),
];
const BIT_XOR: &[Overload] = &[
    strict(&[Integer, Integer], Integer, |args| bits(args, |a, b| a ^ b)),
    strict(&[BigInt, BigInt], BigInt, |args| bits(args, |a, b| a ^ b)),
    strict(&[SmallInt, SmallInt], SmallInt, |args| bits(args, |a, b| a ^ b)),
];
const SHIFT_LEFT: &[Overload] = &[
    strict(&[Integer, Integer], Integer, |args| shift(args, true)),
    strict(&[BigInt, Integer], BigInt, |args| shift(args, true)),
    strict(&[SmallInt, Integer], SmallInt, |args| shift(args, true)),
];
const SHIFT_RIGHT: &[Overload] = &[
    strict(&[Integer, Integer], Integer, |args| shift(args, false)),
    strict(&[BigInt, Integer], BigInt, |args| shift(args, false)),
    strict(&[SmallInt, Integer], SmallInt, |args| shift(args, false)),
];
const BIT_NOT: &[Overload] =
    &[strict(&[Integer], Integer, bit_not), strict(&[BigInt], BigInt, bit_not), strict(&[SmallInt], SmallInt, bit_not)];

/// The body with its two arguments the other way round.
fn flipped(args: &[Datum], body: Body) -> QueryResult<Datum> {
    arguments!(args, [a, b]);
    body(&[b.clone(), a.clone()])
}

/// The moment, later by the interval.
pub(super) fn shift_by(moment: &Datum, interval: &Datum) -> QueryResult<Datum> {
    plus_interval(&[moment.clone(), interval.clone()])
}

fn plus_interval(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [moment, Datum::Interval(interval)]);
    shifted(moment, *interval)
}

fn minus_interval(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [moment, Datum::Interval(interval)]);
    shifted(moment, interval.checked_neg().ok_or(QueryError::IntervalRange)?)
}

fn shifted(moment: &Datum, by: Interval) -> QueryResult<Datum> {
    let add = |micros: i64| by.add_to(micros).ok_or(QueryError::TimestampRange);
    Ok(match moment {
        Datum::Timestamp(micros) => Datum::Timestamp(add(*micros)?),
        Datum::TimestampTz(micros) => Datum::TimestampTz(add(*micros)?),
        Datum::Date(_) => {
            let Datum::Timestamp(micros) = types::coerce::assign(&DataType::Timestamp(None), moment.clone())? else {
                return Err(wrong(std::slice::from_ref(moment)));
            };
            Datum::Timestamp(add(micros)?)
        }
        // Only the time of the interval counts, and midnight follows the last second of the day.
        Datum::Time(micros) => {
            Datum::Time((i128::from(*micros) + i128::from(by.micros)).rem_euclid(i128::from(DAY)) as i64)
        }
        other => return Err(wrong(std::slice::from_ref(other))),
    })
}

fn add_intervals(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Interval(a), Datum::Interval(b)]);
    a.checked_add(*b).map(Datum::Interval).ok_or(QueryError::IntervalRange)
}

fn date_plus_days(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Date(date), Datum::Int4(days)]);
    add_days(*date, i64::from(*days))
}

fn date_minus_days(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Date(date), Datum::Int4(days)]);
    add_days(*date, -i64::from(*days))
}

fn add_days(date: i32, days: i64) -> QueryResult<Datum> {
    if date == i32::MIN || date == i32::MAX {
        return Ok(Datum::Date(date));
    }
    let sum = i32::try_from(i64::from(date) + days).ok().map(Datum::Date);
    let sum = sum.filter(|sum| types::temporal::in_range(sum) && !matches!(sum, Datum::Date(i32::MIN | i32::MAX)));
    sum.ok_or_else(|| crate::Refusal::DateTime.because("date out of range"))
}

fn days_between(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Date(a), Datum::Date(b)]);
    let infinite = |date: &i32| *date == i32::MIN || *date == i32::MAX;
    match a.checked_sub(*b) {
        Some(days) if !infinite(a) && !infinite(b) => Ok(Datum::Int4(days)),
        _ => Err(crate::Refusal::DateTime.because("cannot subtract infinite dates")),
    }
}

fn date_plus_time(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [date @ Datum::Date(_), Datum::Time(micros)]);
    shifted(date, Interval { months: 0, days: 0, micros: *micros })
}

/// Days and time: `age` gives months.
fn difference(args: &[Datum]) -> QueryResult<Datum> {
    match args {
        [Datum::Time(a), Datum::Time(b)] => Ok(Datum::Interval(Interval { months: 0, days: 0, micros: a - b })),
        [Datum::Timestamp(a), Datum::Timestamp(b)] | [Datum::TimestampTz(a), Datum::TimestampTz(b)] => {
            let infinite = |micros: &i64| *micros == i64::MIN || *micros == i64::MAX;
            if infinite(a) || infinite(b) {
                return Err(crate::Refusal::DateTime.because("cannot subtract infinite timestamps"));
            }
            let micros = a.checked_sub(*b).ok_or(QueryError::IntervalRange)?;
            let days = i32::try_from(micros / DAY).map_err(|_| QueryError::IntervalRange)?;
            Ok(Datum::Interval(Interval { months: 0, days, micros: micros % DAY }))
        }
        other => Err(wrong(other)),
    }
}

fn times(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Interval(interval), Datum::Float8(factor)]);
    interval.checked_mul(*factor).map(Datum::Interval).ok_or(QueryError::IntervalRange)
}

fn over(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Interval(interval), Datum::Float8(divisor)]);
    if *divisor == 0.0 {
        return Err(QueryError::DivisionByZero);
    }
    interval.checked_div(*divisor).map(Datum::Interval).ok_or(QueryError::IntervalRange)
}

fn bits(args: &[Datum], op: fn(i64, i64) -> i64) -> QueryResult<Datum> {
    match args {
        // On sign-extended operands these operators give sign-extended results.
        [Datum::Int2(a), Datum::Int2(b)] => Ok(Datum::Int2(op(i64::from(*a), i64::from(*b)) as i16)),
        [Datum::Int4(a), Datum::Int4(b)] => Ok(Datum::Int4(op(i64::from(*a), i64::from(*b)) as i32)),
        [Datum::Int8(a), Datum::Int8(b)] => Ok(Datum::Int8(op(*a, *b))),
        other => Err(wrong(other)),
    }
}

/// As C does it on the usual machines: the count is taken modulo the width (a smallint is shifted as an integer).
fn shift(args: &[Datum], left: bool) -> QueryResult<Datum> {
    match args {
        [Datum::Int2(a), Datum::Int4(n)] => {
            let (a, n) = (i32::from(*a), n.cast_unsigned());
            Ok(Datum::Int2(if left { a.wrapping_shl(n) } else { a.wrapping_shr(n) } as i16))
        }
        [Datum::Int4(a), Datum::Int4(n)] => {
            let n = n.cast_unsigned();
            Ok(Datum::Int4(if left { a.wrapping_shl(n) } else { a.wrapping_shr(n) }))
        }
        [Datum::Int8(a), Datum::Int4(n)] => {
            let n = n.cast_unsigned();
            Ok(Datum::Int8(if left { a.wrapping_shl(n) } else { a.wrapping_shr(n) }))
        }
        other => Err(wrong(other)),
    }
}

fn bit_not(args: &[Datum]) -> QueryResult<Datum> {
    match args {
        [Datum::Int2(a)] => Ok(Datum::Int2(!a)),
        [Datum::Int4(a)] => Ok(Datum::Int4(!a)),
        [Datum::Int8(a)] => Ok(Datum::Int8(!a)),
        other => Err(wrong(other)),
    }
}
