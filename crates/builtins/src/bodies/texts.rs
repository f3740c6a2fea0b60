//! Functions of texts, by characters.

use super::wrong;
use crate::{Body, Env, EvalError, Reason, TypeId};
use types::Datum;

pub(super) fn find(name: &str, args: &[u32]) -> Option<Body> {
    let args: Vec<TypeId> = args.iter().copied().map(TypeId).collect();
    Some(match (name, args.as_slice()) {
        ("textcat", _) => |_, args| two(args, |a, b| Ok(Datum::Text(a.to_owned() + b))),
        ("byteacat", _) => joined_bytes,
        ("upper", [TypeId::TEXT]) => |_, args| one(args, |text| Datum::Text(text.to_uppercase())),
        ("lower", [TypeId::TEXT]) => |_, args| one(args, |text| Datum::Text(text.to_lowercase())),
        ("reverse", [TypeId::TEXT]) => |_, args| one(args, |text| Datum::Text(text.chars().rev().collect())),
        ("length" | "char_length" | "character_length", [TypeId::TEXT]) => {
            |_, args| one(args, |text| count(text.chars().count()))
        }
        ("octet_length", [TypeId::TEXT]) => |_, args| one(args, |text| count(text.len())),
        ("substr" | "substring", [TypeId::TEXT, TypeId::INT4] | [TypeId::TEXT, TypeId::INT4, TypeId::INT4]) => part,
        ("left", [TypeId::TEXT, TypeId::INT4]) => left,
        ("right", [TypeId::TEXT, TypeId::INT4]) => right,
        ("btrim", [TypeId::TEXT] | [TypeId::TEXT, TypeId::TEXT]) => |_, args| trimmed(args, true, true),
        ("ltrim", [TypeId::TEXT] | [TypeId::TEXT, TypeId::TEXT]) => |_, args| trimmed(args, true, false),
        ("rtrim", [TypeId::TEXT] | [TypeId::TEXT, TypeId::TEXT]) => |_, args| trimmed(args, false, true),
        ("strpos" | "position", [TypeId::TEXT, TypeId::TEXT]) => {
            |_, args| two(args, |text, part| Ok(place(text, part)))
        }
        ("starts_with", [TypeId::TEXT, TypeId::TEXT]) => {
            |_, args| two(args, |text, start| Ok(Datum::Bool(text.starts_with(start))))
        }
        ("split_part", [TypeId::TEXT, TypeId::TEXT, TypeId::INT4]) => split_part,
        _ => return None,
    })
}

fn one(args: &[Datum], op: fn(&str) -> Datum) -> Result<Datum, EvalError> {
    let [Datum::Text(text)] = args else { return Err(wrong(args)) };
    Ok(op(text))
}

fn two(args: &[Datum], op: fn(&str, &str) -> Result<Datum, EvalError>) -> Result<Datum, EvalError> {
    let [Datum::Text(a), Datum::Text(b)] = args else { return Err(wrong(args)) };
    op(a, b)
}

fn count(count: usize) -> Datum {
    Datum::Int4(i32::try_from(count).unwrap_or(i32::MAX))
}

fn joined_bytes(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Bytes(a), Datum::Bytes(b)] = args else { return Err(wrong(args)) };
    Ok(Datum::Bytes([a.as_slice(), b.as_slice()].concat()))
}

/// Places count from 1; those in front of the text count as letters that are not there.
fn part(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let (text, start, end) = match args {
        [Datum::Text(text), Datum::Int4(start)] => (text, i64::from(*start), i64::MAX),
        [Datum::Text(_), Datum::Int4(_), Datum::Int4(..=-1)] => {
            return Err(Reason::Substring.because("negative substring length not allowed"));
        }
        [Datum::Text(text), Datum::Int4(start), Datum::Int4(length)] => {
            (text, i64::from(*start), i64::from(*start) + i64::from(*length))
        }
        _ => return Err(wrong(args)),
    };
    let place = |at: i64| usize::try_from(at.saturating_sub(1)).unwrap_or(0);
    let (first, end) = (place(start), place(end));
    Ok(Datum::Text(text.chars().skip(first).take(end.saturating_sub(first)).collect()))
}

/// The first letters, or all but the last.
fn left(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Text(text), Datum::Int4(count)] = args else { return Err(wrong(args)) };
    let kept = match usize::try_from(*count) {
        Ok(count) => count,
        Err(_) => text.chars().count().saturating_sub(count.unsigned_abs() as usize),
    };
    Ok(Datum::Text(text.chars().take(kept).collect()))
}

/// The last letters, or all but the first.
fn right(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Text(text), Datum::Int4(count)] = args else { return Err(wrong(args)) };
    let skipped = match usize::try_from(*count) {
        Ok(count) => text.chars().count().saturating_sub(count),
        Err(_) => count.unsigned_abs() as usize,
    };
    Ok(Datum::Text(text.chars().skip(skipped).collect()))
}

/// Without letters of the second argument (blanks, if there is none) at the wanted ends.
fn trimmed(args: &[Datum], front: bool, back: bool) -> Result<Datum, EvalError> {
    let (text, set) = match args {
        [Datum::Text(text)] => (text, " "),
        [Datum::Text(text), Datum::Text(set)] => (text, set.as_str()),
        _ => return Err(wrong(args)),
    };
    let drop = |letter: char| set.contains(letter);
    let mut rest = text.as_str();
    if front {
        rest = rest.trim_start_matches(drop);
    }
    if back {
        rest = rest.trim_end_matches(drop);
    }
    Ok(Datum::Text(rest.to_owned()))
}

fn place(text: &str, part: &str) -> Datum {
    let before = text.find(part).and_then(|at| text.get(..at));
    count(before.map_or(0, |before| before.chars().count() + 1))
}

fn split_part(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Text(text), Datum::Text(separator), Datum::Int4(number)] = args else { return Err(wrong(args)) };
    if *number == 0 {
        return Err(Reason::Argument.because("field position must not be zero"));
    }
    let parts: Vec<&str> = if separator.is_empty() { vec![text] } else { text.split(separator.as_str()).collect() };
    let distance = number.unsigned_abs() as usize;
    let at = if *number > 0 { distance.checked_sub(1) } else { parts.len().checked_sub(distance) };
    Ok(Datum::Text(at.and_then(|at| parts.get(at)).copied().unwrap_or_default().to_owned()))
}
