//! Patterns of SIMILAR TO.

use super::flags::Flags;
use super::pattern::compiled;
use crate::Refusal;
use crate::error::QueryResult;
use crate::functions::sql::arguments;
use types::Datum;

/// `substring(text SIMILAR pattern ESCAPE escape)`: the text between the two `escape "` separators.
pub(in crate::functions) fn substring_similar(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(whole), Datum::Text(pattern), Datum::Text(escape)]);
    let mut letters = escape.chars();
    let (Some(escape), None) = (letters.next(), letters.next()) else {
        return Err(Refusal::EscapeString.because("invalid escape string"));
    };
    let mark = format!("{escape}\"");
    let parts: Vec<&str> = pattern.split(mark.as_str()).collect();
    let regex = match parts.as_slice() {
        [all] => format!("^({})$", similar(all, Some(escape))),
        [before, inside, after] => {
            let part = |part: &str| similar(part, Some(escape));
            format!("^(?:{})({})(?:{})$", part(before), part(inside), part(after))
        }
        [before, inside] => {
            // The second separator may be omitted.
            let part = |part: &str| similar(part, Some(escape));
            format!("^(?:{})({})$", part(before), part(inside))
        }
        _ => {
            let message = "SQL regular expression may not contain more than two escape-double-quote separators";
            return Err(Refusal::Separators.because(message));
        }
    };
    let regex = compiled(&regex, Flags::default())?;
    let found =
        regex.captures_at(whole, 0)?.and_then(|captures| captures.get(1).map(|group| group.as_str().to_owned()));
    Ok(found.map_or(Datum::Null, Datum::Text))
}

/// Converts a SIMILAR TO pattern to a regular expression without anchors: `%` and `_` are LIKE's wildcards; `|`, `*`,
/// `+`, `?`, braces, brackets and parentheses mean the same in both.
pub(crate) fn similar(pattern: &str, escape: Option<char>) -> String {
    let mut out = String::new();
    let mut letters = pattern.chars();
    let mut in_brackets = false;
    while let Some(letter) = letters.next() {
        match letter {
            letter if Some(letter) == escape => {
                match letters.next() {
                    // Escapes of regular expressions for classes and constraints: `\d`, `\m`.
                    Some(letter) if letter.is_ascii_alphanumeric() => out.extend(['\\', letter]),
                    Some(letter) => out.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4]))),
                    None => {}
                }
            }
            '[' => {
                in_brackets = true;
                out.push('[');
            }
            ']' => {
                in_brackets = false;
                out.push(']');
            }
            letter if in_brackets => out.push(letter),
            '%' => out.push_str(".*"),
            '_' => out.push('.'),
            '(' => out.push_str("(?:"),
            '.' | '^' | '$' | '\\' => out.extend(['\\', letter]),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_keep_their_meaning() {
        assert_eq!(similar("a%(b|c)_.d", Some('\\')), r"a.*(?:b|c).\.d");
    }
}
