//! LIKE and ILIKE with a backslash to escape. Of a `char(n)` only its column knows the blanks that a pattern sees: that
//! is DataFusion's.

use super::wrong;
use crate::{Body, EvalError, Reason};
use types::{Datum, interrupt};

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
        true => like(&text.to_lowercase(), &pattern.to_lowercase())?,
        false => like(text, pattern)?,
    };
    Ok(Datum::Bool(found != negated))
}

/// A piece of a pattern.
#[derive(Clone, Copy, PartialEq)]
enum Piece {
    Any,
    One,
    Character(char),
    /// An escape at the end: wrong where a text goes on there.
    Unfinished,
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(pattern.len());
    let mut rest = pattern.chars();
    while let Some(next) = rest.next() {
        pieces.push(match next {
            '%' => Piece::Any,
            '_' => Piece::One,
            '\\' => rest.next().map_or(Piece::Unfinished, Piece::Character),
            other => Piece::Character(other),
        });
    }
    pieces
}

fn unfinished() -> EvalError {
    Reason::Escape.because("LIKE pattern must not end with escape character")
}

/// Goes back to the last `%` only: what an earlier one would match instead, the last one can match too.
fn like(text: &str, pattern: &str) -> Result<bool, EvalError> {
    let pieces = pieces(pattern);
    let (mut at, mut rest) = (0, text.chars());
    let mut back: Option<(usize, std::str::Chars<'_>)> = None;
    loop {
        interrupt::spend(1)?;
        let before = rest.clone();
        match (pieces.get(at), rest.next()) {
            (Some(Piece::Any), _) => {
                back = Some((at + 1, before.clone()));
                (at, rest) = (at + 1, before);
                if at == pieces.len() {
                    return Ok(true);
                }
            }
            (None, None) => return Ok(true),
            (Some(Piece::One), Some(_)) => at += 1,
            (Some(Piece::Unfinished), Some(_)) => return Err(unfinished()),
            (Some(Piece::Character(wanted)), Some(found)) if *wanted == found => at += 1,
            (_, None) => return Ok(false),
            _ => match &mut back {
                Some((piece, from)) => {
                    from.next();
                    (at, rest) = (*piece, from.clone());
                }
                None => return Ok(false),
            },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::like;

    #[test]
    fn patterns_match_as_in_postgresql() {
        let cases = [
            ("", "", true),
            ("", "%", true),
            ("abc", "a%", true),
            ("abc", "%b%", true),
            ("abc", "_b_", true),
            ("abc", "a_", false),
            ("abcabc", "%abc", true),
            ("aab", "%ab", true),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("ä", "_", true),
            ("abc", "abc%_", false),
            ("mississippi", "%iss%ip%i", true),
        ];
        for (text, pattern, wanted) in cases {
            assert_eq!(like(text, pattern).unwrap(), wanted, "{text} LIKE {pattern}");
        }
        assert!(like("ab", "a\\").is_err());
        assert!(!like("a", "a\\").unwrap());
    }
}
