//! LIKE and ILIKE with the backslash as escape character, and `like_escape`, which replaces another escape character by
//! it. Only DataFusion computes LIKE of `char(n)`, because a pattern sees blanks that are in the type of a column but
//! not in its values.

use super::wrong;
use crate::like_pattern::{bytes_of, chars_of_bytes, with_escape};
use crate::{Body, EvalError, LikePattern};
use types::Datum;

pub(super) fn find(name: &str) -> Option<Body> {
    Some(match name {
        "textlike" | "namelike" => |_, args| matched(args, false, false),
        "textnlike" | "namenlike" => |_, args| matched(args, false, true),
        "texticlike" | "nameiclike" => |_, args| matched(args, true, false),
        "texticnlike" | "nameicnlike" => |_, args| matched(args, true, true),
        "bytealike" => |_, args| like_of_bytes(args).map(Datum::Bool),
        "byteanlike" => |_, args| Ok(Datum::Bool(!like_of_bytes(args)?)),
        "like_escape" => |_, args| like_escape(args),
        _ => return None,
    })
}

/// LIKE of two `bytea`.
///
/// # Errors
/// As [`LikePattern::matches`].
pub fn like_of_bytes(args: &[Datum]) -> Result<bool, EvalError> {
    let [Datum::Bytes(value), Datum::Bytes(pattern)] = args else { return Err(wrong(args)) };
    LikePattern::new(&chars_of_bytes(pattern)).matches(&chars_of_bytes(value))
}

/// `like_escape(pattern, escape)` of texts and of `bytea`.
///
/// # Errors
/// As [`with_escape`].
pub fn like_escape(args: &[Datum]) -> Result<Datum, EvalError> {
    match args {
        [Datum::Text(pattern), Datum::Text(escape)] => Ok(Datum::Text(with_escape(pattern, escape)?)),
        [Datum::Bytes(pattern), Datum::Bytes(escape)] => {
            Ok(Datum::Bytes(bytes_of(&with_escape(&chars_of_bytes(pattern), &chars_of_bytes(escape))?)))
        }
        _ => Err(wrong(args)),
    }
}

fn matched(args: &[Datum], fold: bool, negated: bool) -> Result<Datum, EvalError> {
    let [Datum::Text(text), Datum::Text(pattern)] = args else { return Err(wrong(args)) };
    let found = match fold {
        true => LikePattern::new(&pattern.to_lowercase()).matches(&text.to_lowercase())?,
        false => LikePattern::new(pattern).matches(text)?,
    };
    Ok(Datum::Bool(found != negated))
}
