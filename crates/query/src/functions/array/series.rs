//! `generate_series` as an array, which callers unnest.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::allowance::{check_allocation, size_of_items};
use crate::functions::number::numeric;
use crate::functions::operators::shift_by;
use crate::functions::sql::wrong;
use types::compare::compare;
use types::interrupt::spend;
use types::{Datum, Decimal, Interval};

/// The most values of a series.
const MOST: usize = 10_000_000;

fn too_many() -> QueryError {
    Refusal::Size.because(format!("generate_series() of more than {MOST} values"))
}

/// The cost of one value, in steps of [`spend`]: adding an interval to it, and copying it as the vector grows.
const STEPS: usize = 64;

/// Checks the memory each time the vector doubles.
fn may_grow(values: &[Datum]) -> QueryResult<()> {
    spend(STEPS)?;
    if values.len() == MOST {
        return Err(too_many());
    }
    if values.len().is_power_of_two() { check_allocation(size_of_items(2 * values.len())) } else { Ok(()) }
}

fn zero_step() -> QueryError {
    Refusal::Argument.because("step size cannot equal zero")
}

pub(in crate::functions) fn integers(args: &[Datum]) -> QueryResult<Datum> {
    let number = |at: usize| args.get(at).and_then(Datum::as_i64);
    let (Some(start), Some(stop)) = (number(0), number(1)) else { return Err(wrong(args)) };
    let step = number(2).unwrap_or(1);
    if step == 0 {
        return Err(zero_step());
    }
    let small = matches!(args.first(), Some(Datum::Int4(_)));
    let mut values = Vec::new();
    let mut next = Some(start);
    while let Some(value) = next.filter(|value| if step > 0 { *value <= stop } else { *value >= stop }) {
        may_grow(&values)?;
        // The value lies between two integers.
        values.push(if small { Datum::Int4(value as i32) } else { Datum::Int8(value) });
        next = value.checked_add(step);
    }
    Ok(Datum::Array(values))
}

pub(in crate::functions) fn numerics(args: &[Datum]) -> QueryResult<Datum> {
    let number = |at: usize| match args.get(at) {
        Some(Datum::Numeric(number)) => Some(*number),
        _ => None,
    };
    let (Some(start), Some(stop)) = (number(0), number(1)) else { return Err(wrong(args)) };
    let step = number(2).unwrap_or(Decimal { unscaled: 1, scale: 0 });
    if step.unscaled == 0 {
        return Err(zero_step());
    }
    let scale = start.scale.max(stop.scale).max(step.scale);
    let at = |number: Decimal| number.rescale(scale).map(|number| number.unscaled).ok_or_else(numeric::overflow);
    let (mut value, stop, step) = (at(start)?, at(stop)?, at(step)?);
    let mut values = Vec::new();
    while if step > 0 { value <= stop } else { value >= stop } {
        may_grow(&values)?;
        values.push(Datum::Numeric(Decimal { unscaled: value, scale }));
        value = value.checked_add(step).ok_or_else(numeric::overflow)?;
    }
    Ok(Datum::Array(values))
}

pub(in crate::functions) fn timestamps(args: &[Datum]) -> QueryResult<Datum> {
    let [start, stop, interval @ Datum::Interval(step)] = args else { return Err(wrong(args)) };
    by_steps(start, stop, step, |value| shift_by(value, interval))
}

/// Returns the values from `start` to `stop`; `next` adds `step` to a value.
pub(in crate::functions) fn by_steps(
    start: &Datum,
    stop: &Datum,
    step: &Interval,
    next: impl Fn(&Datum) -> QueryResult<Datum>,
) -> QueryResult<Datum> {
    if step.span() == 0 {
        return Err(zero_step());
    }
    let forward = step.span() > 0;
    let mut values = Vec::new();
    let mut value = start.clone();
    while if forward { compare(&value, stop).is_le() } else { compare(&value, stop).is_ge() } {
        may_grow(&values)?;
        let next = next(&value)?;
        values.push(std::mem::replace(&mut value, next));
    }
    Ok(Datum::Array(values))
}
