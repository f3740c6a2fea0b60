//! Arithmetic of floats: an infinity that no operand had is an overflow, nothing is divided by zero, a NaN has no sign.

use super::wrong;
use crate::{Body, EvalError, Reason};
use types::Datum;

pub(super) fn find(name: &str, args: &[u32]) -> Option<Body> {
    let operation = name.strip_prefix("float")?.trim_start_matches(|digit: char| digit.is_ascii_digit());
    Some(match (operation, args.len()) {
        ("pl", 2) => |_, args| binary(args, |a, b| a + b, |a, b| a + b),
        ("mi", 2) => |_, args| binary(args, |a, b| a - b, |a, b| a - b),
        ("mul", 2) => |_, args| binary(args, |a, b| a * b, |a, b| a * b),
        ("div", 2) => |_, args| {
            if matches!(args, [_, Datum::Float4(0.0) | Datum::Float8(0.0)]) {
                return Err(EvalError::DivisionByZero);
            }
            binary(args, |a, b| a / b, |a, b| a / b)
        },
        ("um", 1) => |_, args| unary(args, |a| -a, |a| -a),
        ("up", 1) => |_, args| unary(args, |a| a, |a| a),
        ("abs", 1) => |_, args| unary(args, f32::abs, f64::abs),
        _ => return None,
    })
}

fn binary(args: &[Datum], short: fn(f32, f32) -> f32, long: fn(f64, f64) -> f64) -> Result<Datum, EvalError> {
    match args {
        [Datum::Float4(a), Datum::Float4(b)] => {
            let result = short(*a, *b);
            check(f64::from(result), f64::from(*a), f64::from(*b))?;
            Ok(Datum::Float4(if result.is_nan() { f32::NAN } else { result }))
        }
        [Datum::Float4(a), Datum::Float8(b)] => double(f64::from(*a), *b, long),
        [Datum::Float8(a), Datum::Float4(b)] => double(*a, f64::from(*b), long),
        [Datum::Float8(a), Datum::Float8(b)] => double(*a, *b, long),
        _ => Err(wrong(args)),
    }
}

fn double(a: f64, b: f64, op: fn(f64, f64) -> f64) -> Result<Datum, EvalError> {
    let result = op(a, b);
    check(result, a, b)?;
    Ok(Datum::Float8(if result.is_nan() { f64::NAN } else { result }))
}

fn check(result: f64, a: f64, b: f64) -> Result<(), EvalError> {
    if result.is_infinite() && !a.is_infinite() && !b.is_infinite() {
        return Err(Reason::Range.because("value out of range: overflow"));
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
