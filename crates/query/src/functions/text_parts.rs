//! Parts of texts and bytes, by their places.

use super::sql::{Overload, arguments, strict, wrong};
use super::text::size;
use crate::Refusal;
use crate::error::QueryResult;
use types::DataType::{Bytea, Integer, Text};
use types::Datum;

pub(super) const SUBSTR: &[Overload] = &[
    strict(&[Text, Integer], Text, substring),
    strict(&[Text, Integer, Integer], Text, substring),
    strict(&[Bytea, Integer], Bytea, substring),
    strict(&[Bytea, Integer, Integer], Bytea, substring),
];

pub(super) const SUBSTRING: &[Overload] = &[
    strict(&[Text, Integer], Text, substring),
    strict(&[Text, Integer, Integer], Text, substring),
    strict(&[Bytea, Integer], Bytea, substring),
    strict(&[Bytea, Integer, Integer], Bytea, substring),
    strict(&[Text, Text], Text, super::regex::substring),
    strict(&[Text, Text, Text], Text, super::regex::substring_similar),
];

pub(super) const POSITION: &[Overload] =
    &[strict(&[Text, Text], Integer, position), strict(&[Bytea, Bytea], Integer, position)];

pub(super) const OVERLAY: &[Overload] = &[
    strict(&[Text, Text, Integer], Text, overlay),
    strict(&[Text, Text, Integer, Integer], Text, overlay),
    strict(&[Bytea, Bytea, Integer], Bytea, overlay),
    strict(&[Bytea, Bytea, Integer, Integer], Bytea, overlay),
];

/// First and one past the last of `count` items from `start`, both counted from 0.
fn window(start: i32, count: Option<i32>) -> QueryResult<(usize, usize)> {
    let first = i64::from(start) - 1;
    let end = match count {
        Some(count) if count < 0 => return Err(Refusal::Substring.because("negative substring length not allowed")),
        Some(count) => first + i64::from(count),
        None => i64::MAX,
    };
    Ok((usize::try_from(first.max(0)).unwrap_or(0), usize::try_from(end.max(0)).unwrap_or(usize::MAX)))
}

fn substring(args: &[Datum]) -> QueryResult<Datum> {
    let (value, start, count) = match args {
        [value, Datum::Int4(start)] => (value, *start, None),
        [value, Datum::Int4(start), Datum::Int4(count)] => (value, *start, Some(*count)),
        other => return Err(wrong(other)),
    };
    let (first, end) = window(start, count)?;
    let count = end.saturating_sub(first);
    match value {
        Datum::Text(text) => Ok(Datum::Text(text.chars().skip(first).take(count).collect())),
        Datum::Bytes(bytes) => Ok(Datum::Bytes(bytes.iter().skip(first).take(count).copied().collect())),
        _ => Err(wrong(args)),
    }
}

/// The first letters, or all but the last.
pub(super) fn left(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(text), Datum::Int4(count)]);
    let kept = match usize::try_from(*count) {
        Ok(count) => count,
        Err(_) => text.chars().count().saturating_sub(count.unsigned_abs() as usize),
    };
    Ok(Datum::Text(text.chars().take(kept).collect()))
}

/// The last letters, or all but the first.
pub(super) fn right(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(text), Datum::Int4(count)]);
    let skipped = match usize::try_from(*count) {
        Ok(count) => text.chars().count().saturating_sub(count),
        Err(_) => count.unsigned_abs() as usize,
    };
    Ok(Datum::Text(text.chars().skip(skipped).collect()))
}

/// `position(part IN text)`, counted from 1.
pub(super) fn position(args: &[Datum]) -> QueryResult<Datum> {
    let found = match args {
        [Datum::Text(part), Datum::Text(text)] => {
            text.find(part.as_str()).and_then(|at| text.get(..at)).map(|before| before.chars().count() + 1)
        }
        [Datum::Bytes(part), Datum::Bytes(_)] if part.is_empty() => Some(1),
        [Datum::Bytes(part), Datum::Bytes(bytes)] => memchr::memmem::find(bytes, part).map(|at| at + 1),
        other => return Err(wrong(other)),
    };
    Ok(Datum::Int4(size(found.unwrap_or(0))))
}

fn overlay(args: &[Datum]) -> QueryResult<Datum> {
    let (value, new, start) = match args {
        [value, new, Datum::Int4(start), ..] => (value, new, *start),
        other => return Err(wrong(other)),
    };
    let length = match (args.get(3), new) {
        (Some(Datum::Int4(length)), _) => *length,
        (_, Datum::Text(new)) => size(new.chars().count()),
        (_, Datum::Bytes(new)) => size(new.len()),
        _ => return Err(wrong(args)),
    };
    if start <= 0 {
        return Err(Refusal::Substring.because("negative substring length not allowed"));
    }
    let before = usize::try_from(start - 1).unwrap_or(0);
    let after = usize::try_from(i64::from(start) - 1 + i64::from(length)).unwrap_or(0);
    match (value, new) {
        (Datum::Text(text), Datum::Text(new)) => {
            let mut out: String = text.chars().take(before).collect();
            out.push_str(new);
            out.extend(text.chars().skip(after));
            Ok(Datum::Text(out))
        }
        (Datum::Bytes(bytes), Datum::Bytes(new)) => {
            let head = bytes.iter().take(before);
            Ok(Datum::Bytes(head.chain(new).chain(bytes.iter().skip(after)).copied().collect()))
        }
        _ => Err(wrong(args)),
    }
}
