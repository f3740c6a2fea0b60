//! Arithmetic of floats: an infinite result of finite operands, or a zero result of nonzero ones, is out of range;
//! division by zero is an error; a NaN has no sign.
//!
//! Plans use the public functions, too.

use super::wrong;
use crate::{Body, EvalError, Reason};
use types::Datum;

pub(super) fn find(name: &str, args: &[u32]) -> Option<Body> {
    let operation = name.strip_prefix("float")?.trim_start_matches(|digit: char| digit.is_ascii_digit());
    Some(match (operation, args.len()) {
        ("pl", 2) => |_, args| plus(args),
        ("mi", 2) => |_, args| minus(args),
        ("mul", 2) => |_, args| times(args),
        ("div", 2) => |_, args| over(args),
        ("um", 1) => |_, args| unary(args, |a| -a, |a| -a),
        ("up", 1) => |_, args| unary(args, |a| a, |a| a),
        ("abs", 1) => |_, args| unary(args, f32::abs, f64::abs),
        _ => return None,
    })
}

/// Adds two floats.
///
/// # Errors
/// An overflow.
pub fn plus(args: &[Datum]) -> Result<Datum, EvalError> {
    binary(args, |a, b| a + b, |a, b| a + b, |_, _| false)
}

/// Subtracts two floats.
///
/// # Errors
/// An overflow.
pub fn minus(args: &[Datum]) -> Result<Datum, EvalError> {
    binary(args, |a, b| a - b, |a, b| a - b, |_, _| false)
}

/// Multiplies two floats.
///
/// # Errors
/// An overflow or an underflow.
pub fn times(args: &[Datum]) -> Result<Datum, EvalError> {
    binary(args, |a, b| a * b, |a, b| a * b, |a, b| a != 0.0 && b != 0.0)
}

/// Divides two floats.
///
/// # Errors
/// A division by zero, except of NaN; an overflow or an underflow.
pub fn over(args: &[Datum]) -> Result<Datum, EvalError> {
    if let [a, Datum::Float4(0.0) | Datum::Float8(0.0)] = args
        && !matches!(a, Datum::Float4(a) if a.is_nan())
        && !matches!(a, Datum::Float8(a) if a.is_nan())
    {
        return Err(EvalError::DivisionByZero);
    }
    binary(args, |a, b| a / b, |a, b| a / b, |a, b| a != 0.0 && !b.is_infinite())
}

/// `never_zero` returns whether a zero result of two operands is an underflow.
fn binary(
    args: &[Datum],
    short: fn(f32, f32) -> f32,
    long: fn(f64, f64) -> f64,
    never_zero: fn(f64, f64) -> bool,
) -> Result<Datum, EvalError> {
    let double = |a: f64, b: f64| {
        let result = long(a, b);
        check(result, a, b, never_zero)?;
        Ok(Datum::Float8(if result.is_nan() { f64::NAN } else { result }))
    };
    match args {
        [Datum::Float4(a), Datum::Float4(b)] => {
            let result = short(*a, *b);
            check(f64::from(result), f64::from(*a), f64::from(*b), never_zero)?;
            Ok(Datum::Float4(if result.is_nan() { f32::NAN } else { result }))
        }
        [Datum::Float4(a), Datum::Float8(b)] => double(f64::from(*a), *b),
        [Datum::Float8(a), Datum::Float4(b)] => double(*a, f64::from(*b)),
        [Datum::Float8(a), Datum::Float8(b)] => double(*a, *b),
        _ => Err(wrong(args)),
    }
}

fn check(result: f64, a: f64, b: f64, never_zero: fn(f64, f64) -> bool) -> Result<(), EvalError> {
    if result.is_infinite() && !a.is_infinite() && !b.is_infinite() {
        return Err(Reason::Range.because("value out of range: overflow"));
    }
    if result == 0.0 && never_zero(a, b) {
        return Err(Reason::Range.because("value out of range: underflow"));
    }
    Ok(())
}

fn unary(args: &[Datum], short: fn(f32) -> f32, long: fn(f64) -> f64) -> Result<Datum, EvalError> {
    match args {
        [Datum::Float4(value)] if value.is_nan() => Ok(Datum::Float4(f32::NAN)),
        [Datum::Float8(value)] if value.is_nan() => Ok(Datum::Float8(f64::NAN)),
        [Datum::Float4(value)] => Ok(Datum::Float4(short(*value))),
        [Datum::Float8(value)] => Ok(Datum::Float8(long(*value))),
        _ => Err(wrong(args)),
    }
}
