//! LIKE and ILIKE with a backslash to escape. Of a `char(n)` only its column knows the blanks that a pattern sees: that
//! is DataFusion's.

use super::wrong;
use crate::{Body, EvalError, LikePattern};
use types::Datum;

pub(super) fn find(name: &str) -> Option<Body> {
    Some(match name {
        "textlike" | "namelike" => |_, args| matched(args, false, false),
        "textnlike" | "namenlike" => |_, args| matched(args, false, true),
        "texticlike" | "nameiclike" => |_, args| matched(args, true, false),
        "texticnlike" | "nameicnlike" => |_, args| matched(args, true, true),
        _ => return None,
    })
}

fn matched(args: &[Datum], fold: bool, negated: bool) -> Result<Datum, EvalError> {
    let [Datum::Text(text), Datum::Text(pattern)] = args else { return Err(wrong(args)) };
    let found = match fold {
        true => LikePattern::new(&pattern.to_lowercase()).matches(&text.to_lowercase())?,
        false => LikePattern::new(pattern).matches(text)?,
    };
    Ok(Datum::Bool(found != negated))
}
