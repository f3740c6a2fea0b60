//! Functions for patterns that are computed: ESCAPE, LIKE of bytes, SIMILAR TO.

pub(super) mod like;
pub(super) mod like_lists;
pub(super) mod regex;

use crate::Refusal;
use crate::error::QueryResult;
use crate::functions::pattern::regex::similar;
use crate::functions::sql::{Definition, define, strict, wrong};
use builtins::{like_escape, like_of_bytes};
use types::DataType::{Boolean, Bytea, Text};
use types::Datum;

/// LIKE of `bytea`, under a name that no query can write.
pub(crate) const LIKE_OF_BYTES: &str = "operator LIKE of bytes";
/// Replaces the escape character of a pattern by the backslash.
pub(crate) const LIKE_ESCAPE: &str = "like escape";
/// Converts a SIMILAR TO pattern to a regular expression.
pub(crate) const SIMILAR_TO_ESCAPE: &str = "similar to escape";

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define(LIKE_OF_BYTES, &[strict(&[Bytea, Bytea], Boolean, |args| Ok(Datum::Bool(like_of_bytes(args)?)))]),
    define(LIKE_ESCAPE, &[strict(&[Text, Text], Text, escaped), strict(&[Bytea, Bytea], Bytea, escaped)]),
    define(SIMILAR_TO_ESCAPE, &[strict(&[Text], Text, similar_to), strict(&[Text, Text], Text, similar_to)]),
];

fn escaped(args: &[Datum]) -> QueryResult<Datum> {
    Ok(like_escape(args)?)
}

fn similar_to(args: &[Datum]) -> QueryResult<Datum> {
    let (pattern, escape) = match args {
        [Datum::Text(pattern)] => (pattern, Some('\\')),
        [Datum::Text(pattern), Datum::Text(escape)] => {
            let mut letters = escape.chars();
            let escape = letters.next();
            if letters.next().is_some() {
                return Err(Refusal::EscapeString.because("invalid escape string"));
            }
            (pattern, escape)
        }
        _ => return Err(wrong(args)),
    };
    Ok(Datum::Text(format!("^(?:{})$", similar(pattern, escape))))
}
