//! Parts of texts and bytes, by position.

use crate::Refusal;
use crate::error::QueryResult;
use crate::functions::pattern::regex;
use crate::functions::sql::{Overload, strict, wrong};
use crate::functions::text::size;
use types::DataType::{Bytea, Integer, Text};
use types::Datum;

pub(in crate::functions) const SUBSTR: &[Overload] = &[
    strict(&[Text, Integer], Text, substring),
    strict(&[Text, Integer, Integer], Text, substring),
    strict(&[Bytea, Integer], Bytea, substring),
    strict(&[Bytea, Integer, Integer], Bytea, substring),
];

pub(in crate::functions) const SUBSTRING: &[Overload] = &[
    strict(&[Text, Integer], Text, substring),
    strict(&[Text, Integer, Integer], Text, substring),
    strict(&[Bytea, Integer], Bytea, substring),
    strict(&[Bytea, Integer, Integer], Bytea, substring),
    strict(&[Text, Text], Text, regex::substring),
    strict(&[Text, Text, Text], Text, crate::functions::pattern::regex::substring_similar),
];

pub(in crate::functions) const OVERLAY: &[Overload] = &[
    strict(&[Text, Text, Integer], Text, overlay),
    strict(&[Text, Text, Integer, Integer], Text, overlay),
    strict(&[Bytea, Bytea, Integer], Bytea, overlay),
    strict(&[Bytea, Bytea, Integer, Integer], Bytea, overlay),
];

fn substring(args: &[Datum]) -> QueryResult<Datum> {
    Ok(builtins::bodies::texts::substring(args)?)
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
