//! Arithmetic of integers, which fails on overflow, and bit operations.

use super::{out_of_range, wrong};
use crate::{Body, EvalError, TypeId};
use types::Datum;

/// Names are `int`, the sizes of both sides in bytes (`4`, `48`), and the operation.
pub(super) fn find(name: &str, args: &[u32], result: u32) -> Option<Body> {
    let integer = |oid: &u32| matches!(TypeId(*oid), TypeId::INT2 | TypeId::INT4 | TypeId::INT8);
    if args.is_empty() || !args.iter().all(integer) {
        return None;
    }
    let operation = name.strip_prefix("int").unwrap_or(name).trim_start_matches(|digit: char| digit.is_ascii_digit());
    Some(match (TypeId(result), operation) {
        (TypeId::INT2, operation) => sized::<2>(operation, args.len())?,
        (TypeId::INT4, operation) => sized::<4>(operation, args.len())?,
        (TypeId::INT8, operation) => sized::<8>(operation, args.len())?,
        _ => return None,
    })
}

fn sized<const BYTES: u8>(operation: &str, count: usize) -> Option<Body> {
    Some(match (operation, count) {
        ("pl", 2) => |_, args| binary::<BYTES>(args, |a, b| Ok(a + b)),
        ("mi", 2) => |_, args| binary::<BYTES>(args, |a, b| Ok(a - b)),
        ("mul", 2) => |_, args| binary::<BYTES>(args, |a, b| Ok(a * b)),
        ("div", 2) => |_, args| binary::<BYTES>(args, |a, b| a.checked_div(b).ok_or(EvalError::DivisionByZero)),
        ("mod", 2) => |_, args| binary::<BYTES>(args, |a, b| a.checked_rem(b).ok_or(EvalError::DivisionByZero)),
        ("and", 2) => |_, args| binary::<BYTES>(args, |a, b| Ok(a & b)),
        ("or", 2) => |_, args| binary::<BYTES>(args, |a, b| Ok(a | b)),
        ("xor", 2) => |_, args| binary::<BYTES>(args, |a, b| Ok(a ^ b)),
        ("um", 1) => |_, args| unary::<BYTES>(args, |a| -a),
        ("up", 1) => |_, args| unary::<BYTES>(args, |a| a),
        ("abs", 1) => |_, args| unary::<BYTES>(args, i128::abs),
        ("not", 1) => |_, args| unary::<BYTES>(args, |a| !a),
        ("shl", 2) => |_, args| shift_left(args),
        ("shr", 2) => |_, args| shift_right(args),
        _ => return None,
    })
}

/// Sums and products of two 8-byte values fit 16 bytes.
fn binary<const BYTES: u8>(args: &[Datum], op: fn(i128, i128) -> Result<i128, EvalError>) -> Result<Datum, EvalError> {
    let [left, right] = args else { return Err(wrong(args)) };
    let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) else { return Err(wrong(args)) };
    narrow::<BYTES>(op(i128::from(left), i128::from(right))?)
}

fn unary<const BYTES: u8>(args: &[Datum], op: fn(i128) -> i128) -> Result<Datum, EvalError> {
    let [value] = args else { return Err(wrong(args)) };
    narrow::<BYTES>(op(i128::from(value.as_i64().ok_or_else(|| wrong(args))?)))
}

fn narrow<const BYTES: u8>(value: i128) -> Result<Datum, EvalError> {
    match BYTES {
        2 => i16::try_from(value).map(Datum::Int2).map_err(|_| out_of_range("smallint")),
        4 => i32::try_from(value).map(Datum::Int4).map_err(|_| out_of_range("integer")),
        _ => i64::try_from(value).map(Datum::Int8).map_err(|_| out_of_range("bigint")),
    }
}

/// Shifts left as C does on common machines: the count is taken modulo the width, and a smallint is shifted as an
/// integer.
///
/// # Errors
/// None for an integer and a count.
pub fn shift_left(args: &[Datum]) -> Result<Datum, EvalError> {
    shift(args, i32::wrapping_shl, i64::wrapping_shl)
}

/// Shifts right, as [`shift_left`] does.
///
/// # Errors
/// None for an integer and a count.
pub fn shift_right(args: &[Datum]) -> Result<Datum, EvalError> {
    shift(args, i32::wrapping_shr, i64::wrapping_shr)
}

fn shift(args: &[Datum], small: fn(i32, u32) -> i32, large: fn(i64, u32) -> i64) -> Result<Datum, EvalError> {
    match args {
        [Datum::Int2(value), Datum::Int4(by)] => Ok(Datum::Int2(small(i32::from(*value), by.cast_unsigned()) as i16)),
        [Datum::Int4(value), Datum::Int4(by)] => Ok(Datum::Int4(small(*value, by.cast_unsigned()))),
        [Datum::Int8(value), Datum::Int4(by)] => Ok(Datum::Int8(large(*value, by.cast_unsigned()))),
        _ => Err(wrong(args)),
    }
}
