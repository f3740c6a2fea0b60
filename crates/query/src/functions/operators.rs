//! Operators that are functions with PostgreSQL's overloads: dates, times and intervals, bits, arrays, `||`, `^`.

use crate::error::QueryResult;
use crate::functions::array;
use crate::functions::datetime::moments::{TIME, TIMESTAMP, TIMESTAMPTZ};
use crate::functions::number;
use crate::functions::number::numeric;
use crate::functions::sql::{Definition, Form, Overload, call_form, define, strict, wrong};
use builtins::bodies::{integers, intervals};
use datafusion::logical_expr::Expr;
use types::DataType::{self, BigInt, Date, Double, Integer, Interval as Span, SmallInt};
use types::Datum;

/// Builds the quotient of two numerics.
pub(crate) fn numeric_quotient(left: Expr, right: Expr) -> Expr {
    call_form("operator /", Form::of(&QUOTIENT), vec![left, right])
}

const QUOTIENT: Overload = strict(&[NUMERIC, NUMERIC], NUMERIC, numeric::divide);

/// Builds the length of an interval as a number.
pub(crate) fn interval_span(interval: Expr) -> Expr {
    call_form("interval span", Form::of(&SPAN), vec![interval])
}

const SPAN: Overload = strict(&[Span], DataType::Numeric(Some((38, 0))), crate::functions::datetime::span);

const NUMERIC: DataType = DataType::Numeric(None);

/// Returns all operators, under names that no query can write as a function's.
pub(super) fn all() -> impl Iterator<Item = &'static Definition> {
    OPERATORS.iter().chain(array::operators::OPERATORS)
}

static OPERATORS: &[Definition] = &[
    define("operator +", PLUS),
    define("operator -", MINUS),
    define("operator *", TIMES),
    define("operator /", OVER),
    define("operator ^", number::POWER),
    define("operator &", BIT_AND),
    define("operator |", BIT_OR),
    define("operator #", BIT_XOR),
    define("operator <<", SHIFT_LEFT),
    define("operator >>", SHIFT_RIGHT),
    define("prefix ~", BIT_NOT),
    define("operator ^@", crate::functions::text::STARTS_WITH),
];

/// A body of `builtins`, which row programs use too.
macro_rules! body {
    ($body:path) => {
        |args| Ok($body(args)?)
    };
    (flipped $body:path) => {
        |args| Ok(intervals::flipped(args, $body)?)
    };
}

const PLUS: &[Overload] = &[
    strict(&[TIMESTAMP, Span], TIMESTAMP, body!(intervals::plus)),
    strict(&[TIMESTAMPTZ, Span], TIMESTAMPTZ, body!(intervals::plus)),
    strict(&[Span, Span], Span, body!(intervals::sum)),
    strict(&[TIME, Span], TIME, body!(intervals::plus)),
    strict(&[Date, Span], TIMESTAMP, body!(intervals::plus)),
    strict(&[Date, Integer], Date, body!(intervals::days_later)),
    strict(&[Integer, Date], Date, body!(flipped intervals::days_later)),
    strict(&[Span, TIMESTAMP], TIMESTAMP, body!(flipped intervals::plus)),
    strict(&[Span, TIMESTAMPTZ], TIMESTAMPTZ, body!(flipped intervals::plus)),
    strict(&[Span, Date], TIMESTAMP, body!(flipped intervals::plus)),
    strict(&[Span, TIME], TIME, body!(flipped intervals::plus)),
    strict(&[Date, TIME], TIMESTAMP, body!(intervals::plus)),
    strict(&[TIME, Date], TIMESTAMP, body!(flipped intervals::plus)),
];

const MINUS: &[Overload] = &[
    strict(&[TIMESTAMP, Span], TIMESTAMP, body!(intervals::minus)),
    strict(&[TIMESTAMPTZ, Span], TIMESTAMPTZ, body!(intervals::minus)),
    strict(&[TIMESTAMP, TIMESTAMP], Span, body!(intervals::difference)),
    strict(&[TIMESTAMPTZ, TIMESTAMPTZ], Span, body!(intervals::difference)),
    strict(&[Span, Span], Span, body!(intervals::rest)),
    strict(&[TIME, TIME], Span, body!(intervals::difference)),
    strict(&[TIME, Span], TIME, body!(intervals::minus)),
    strict(&[Date, Span], TIMESTAMP, body!(intervals::minus)),
    strict(&[Date, Integer], Date, body!(intervals::days_earlier)),
    strict(&[Date, Date], Integer, body!(intervals::days_between)),
];

const TIMES: &[Overload] = &[
    strict(&[Span, Double], Span, body!(intervals::times)),
    strict(&[Double, Span], Span, body!(flipped intervals::times)),
];

const OVER: &[Overload] = &[strict(&[Span, Double], Span, body!(intervals::over)), QUOTIENT];

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
    strict(&[Integer, Integer], Integer, body!(integers::shift_left)),
    strict(&[BigInt, Integer], BigInt, body!(integers::shift_left)),
    strict(&[SmallInt, Integer], SmallInt, body!(integers::shift_left)),
];
const SHIFT_RIGHT: &[Overload] = &[
    strict(&[Integer, Integer], Integer, body!(integers::shift_right)),
    strict(&[BigInt, Integer], BigInt, body!(integers::shift_right)),
    strict(&[SmallInt, Integer], SmallInt, body!(integers::shift_right)),
];
const BIT_NOT: &[Overload] =
    &[strict(&[Integer], Integer, bit_not), strict(&[BigInt], BigInt, bit_not), strict(&[SmallInt], SmallInt, bit_not)];

/// Adds an interval to a date or time.
pub(super) fn shift_by(moment: &Datum, interval: &Datum) -> QueryResult<Datum> {
    Ok(intervals::plus(&[moment.clone(), interval.clone()])?)
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

fn bit_not(args: &[Datum]) -> QueryResult<Datum> {
    match args {
        [Datum::Int2(a)] => Ok(Datum::Int2(!a)),
        [Datum::Int4(a)] => Ok(Datum::Int4(!a)),
        [Datum::Int8(a)] => Ok(Datum::Int8(!a)),
        other => Err(wrong(other)),
    }
}
