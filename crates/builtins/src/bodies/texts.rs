//! Functions of texts by characters, and of bytes.
//!
//! Plans use the public functions, too.

use super::wrong;
use crate::{Body, Env, EvalError, Reason, TypeId};
use std::collections::HashSet;
use types::Datum;

pub(super) fn find(name: &str, args: &[u32]) -> Option<Body> {
    let args: Vec<TypeId> = args.iter().copied().map(TypeId).collect();
    Some(match (name, args.as_slice()) {
        ("textcat", _) => joined,
        ("byteacat", _) => joined_bytes,
        ("upper", [TypeId::TEXT]) => |_, args| one(args, |text| Datum::Text(text.to_uppercase())),
        ("lower", [TypeId::TEXT]) => |_, args| one(args, |text| Datum::Text(text.to_lowercase())),
        ("reverse", [TypeId::TEXT]) => |_, args| one(args, |text| Datum::Text(text.chars().rev().collect())),
        ("length" | "char_length" | "character_length", [TypeId::TEXT]) => {
            |_, args| one(args, |text| count(text.chars().count()))
        }
        ("octet_length", [TypeId::TEXT]) => |_, args| one(args, |text| count(text.len())),
        ("substr" | "substring", [TypeId::TEXT, TypeId::INT4] | [TypeId::TEXT, TypeId::INT4, TypeId::INT4]) => {
            |_, args| substring(args)
        }
        ("left", [TypeId::TEXT, TypeId::INT4]) => |_, args| left(args),
        ("right", [TypeId::TEXT, TypeId::INT4]) => |_, args| right(args),
        ("btrim", [TypeId::TEXT] | [TypeId::TEXT, TypeId::TEXT]) => |_, args| trimmed(args, true, true),
        ("ltrim", [TypeId::TEXT] | [TypeId::TEXT, TypeId::TEXT]) => |_, args| trimmed(args, true, false),
        ("rtrim", [TypeId::TEXT] | [TypeId::TEXT, TypeId::TEXT]) => |_, args| trimmed(args, false, true),
        ("strpos" | "position", [TypeId::TEXT, TypeId::TEXT]) => |_, args| position(args),
        ("starts_with", [TypeId::TEXT, TypeId::TEXT]) => |_, args| starts_with(args),
        ("split_part", [TypeId::TEXT, TypeId::TEXT, TypeId::INT4]) => |_, args| split_part(args),
        _ => return None,
    })
}

fn one(args: &[Datum], op: fn(&str) -> Datum) -> Result<Datum, EvalError> {
    let [Datum::Text(text)] = args else { return Err(wrong(args)) };
    Ok(op(text))
}

fn count(count: usize) -> Datum {
    Datum::Int4(i32::try_from(count).unwrap_or(i32::MAX))
}

fn joined(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Text(a), Datum::Text(b)] = args else { return Err(wrong(args)) };
    Ok(Datum::Text(a.to_owned() + b))
}

fn joined_bytes(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Bytes(a), Datum::Bytes(b)] = args else { return Err(wrong(args)) };
    Ok(Datum::Bytes([a.as_slice(), b.as_slice()].concat()))
}

/// `substring(value, start [, length])`. Positions count from 1; positions before the value count towards the length.
///
/// # Errors
/// A negative length.
pub fn substring(args: &[Datum]) -> Result<Datum, EvalError> {
    let (value, start, end) = match args {
        [value, Datum::Int4(start)] => (value, i64::from(*start), i64::MAX),
        [_, Datum::Int4(_), Datum::Int4(..=-1)] => {
            return Err(Reason::Substring.because("negative substring length not allowed"));
        }
        [value, Datum::Int4(start), Datum::Int4(length)] => {
            (value, i64::from(*start), i64::from(*start) + i64::from(*length))
        }
        _ => return Err(wrong(args)),
    };
    let place = |at: i64| usize::try_from(at.saturating_sub(1)).unwrap_or(0);
    let (first, count) = (place(start), place(end).saturating_sub(place(start)));
    match value {
        Datum::Text(text) => Ok(Datum::Text(text.chars().skip(first).take(count).collect())),
        Datum::Bytes(bytes) => Ok(Datum::Bytes(bytes.iter().skip(first).take(count).copied().collect())),
        _ => Err(wrong(args)),
    }
}

/// Returns the first characters, or all but the last if the count is negative.
///
/// # Errors
/// None for a text and a count.
pub fn left(args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Text(text), Datum::Int4(count)] = args else { return Err(wrong(args)) };
    let kept = match usize::try_from(*count) {
        Ok(count) => count,
        Err(_) => text.chars().count().saturating_sub(count.unsigned_abs() as usize),
    };
    Ok(Datum::Text(text.chars().take(kept).collect()))
}

/// Returns the last characters, or all but the first if the count is negative.
///
/// # Errors
/// None for a text and a count.
pub fn right(args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Text(text), Datum::Int4(count)] = args else { return Err(wrong(args)) };
    let skipped = match usize::try_from(*count) {
        Ok(count) => text.chars().count().saturating_sub(count),
        Err(_) => count.unsigned_abs() as usize,
    };
    Ok(Datum::Text(text.chars().skip(skipped).collect()))
}

/// Sets of characters up to so many bytes are searched linearly.
const FEW: usize = 16;

/// Removes characters or bytes of the second argument (blanks by default) from the given ends.
///
/// # Errors
/// None for one or two texts, or two `bytea`.
pub fn trimmed(args: &[Datum], front: bool, back: bool) -> Result<Datum, EvalError> {
    let (text, set) = match args {
        [Datum::Text(text)] => (text, " "),
        [Datum::Text(text), Datum::Text(set)] => (text, set.as_str()),
        [Datum::Bytes(bytes), Datum::Bytes(set)] => return Ok(Datum::Bytes(trimmed_bytes(bytes, set, front, back))),
        _ => return Err(wrong(args)),
    };
    let many: Option<HashSet<char>> = (set.len() > FEW).then(|| set.chars().collect());
    let drop = |letter: char| many.as_ref().map_or_else(|| set.contains(letter), |many| many.contains(&letter));
    let mut rest = text.as_str();
    if front {
        rest = rest.trim_start_matches(drop);
    }
    if back {
        rest = rest.trim_end_matches(drop);
    }
    Ok(Datum::Text(rest.to_owned()))
}

fn trimmed_bytes(bytes: &[u8], set: &[u8], front: bool, back: bool) -> Vec<u8> {
    let mut dropped = [false; 256];
    for byte in set {
        if let Some(dropped) = dropped.get_mut(usize::from(*byte)) {
            *dropped = true;
        }
    }
    let kept = |byte: &u8| !dropped.get(usize::from(*byte)).copied().unwrap_or_default();
    let start = if front { bytes.iter().position(kept).unwrap_or(bytes.len()) } else { 0 };
    let end = if back { bytes.iter().rposition(kept).map_or(0, |at| at + 1) } else { bytes.len() };
    bytes.get(start..end).unwrap_or_default().to_vec()
}

/// Returns the position of the second value in the first, counted from 1; 0 if it does not occur.
///
/// # Errors
/// None for two texts or two `bytea`.
pub fn position(args: &[Datum]) -> Result<Datum, EvalError> {
    let found = match args {
        [Datum::Text(text), Datum::Text(part)] => {
            text.find(part.as_str()).and_then(|at| text.get(..at)).map(|before| before.chars().count() + 1)
        }
        [Datum::Bytes(_), Datum::Bytes(part)] if part.is_empty() => Some(1),
        [Datum::Bytes(bytes), Datum::Bytes(part)] => memchr::memmem::find(bytes, part).map(|at| at + 1),
        _ => return Err(wrong(args)),
    };
    Ok(count(found.unwrap_or(0)))
}

/// Returns whether the first text starts with the second.
///
/// # Errors
/// None for two texts.
pub fn starts_with(args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Text(text), Datum::Text(start)] = args else { return Err(wrong(args)) };
    Ok(Datum::Bool(text.starts_with(start.as_str())))
}

/// `split_part(text, separator, number)`; a negative number counts from the end.
///
/// # Errors
/// A number that is zero.
pub fn split_part(args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Text(text), Datum::Text(separator), Datum::Int4(number)] = args else { return Err(wrong(args)) };
    if *number == 0 {
        return Err(Reason::Argument.because("field position must not be zero"));
    }
    let parts: Vec<&str> = if separator.is_empty() { vec![text] } else { text.split(separator.as_str()).collect() };
    let distance = number.unsigned_abs() as usize;
    let at = if *number > 0 { distance.checked_sub(1) } else { parts.len().checked_sub(distance) };
    Ok(Datum::Text(at.and_then(|at| parts.get(at)).copied().unwrap_or_default().to_owned()))
}
