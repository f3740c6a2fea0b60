//! `E'\xc3\xa4'`: strings whose escapes are bytes of multi-byte characters. sqlparser's tokenizer reads each byte as a
//! character and fails.

use sqlparser::tokenizer::{Location, Span, TokenWithSpan};
use types::TypeError;

/// Reads the string at the start of `text`. Returns its value and its length in bytes; `None` if it is not such a
/// string or is unterminated.
///
/// # Errors
/// [`TypeError::InvalidEncoding`] for bytes that are not valid text.
pub(super) fn read(text: &str) -> Option<Result<(String, usize), TypeError>> {
    let read = read_quoted(text.strip_prefix(['e', 'E'])?)?;
    Some(read.map(|(value, length)| (value, length + 1)))
}

/// As [`read`], for a string without the letter, which continues another one.
///
/// # Errors
/// As [`read`].
pub(super) fn read_quoted(text: &str) -> Option<Result<(String, usize), TypeError>> {
    let mut rest = text.strip_prefix('\'')?.as_bytes();
    let mut value = Vec::new();
    loop {
        let (first, tail) = rest.split_first()?;
        rest = match (first, tail) {
            (b'\'', [b'\'', tail @ ..]) => {
                value.push(b'\'');
                tail
            }
            (b'\'', tail) => {
                let length = text.len() - tail.len();
                return Some(as_text(value).map(|value| (value, length)));
            }
            (b'\\', tail) => escaped(tail, &mut value)?,
            (byte, tail) => {
                value.push(*byte);
                tail
            }
        };
    }
}

fn as_text(value: Vec<u8>) -> Result<String, TypeError> {
    if value.contains(&0) {
        return Err(TypeError::InvalidEncoding { detail: "0x00".to_owned() });
    }
    String::from_utf8(value).map_err(|error| TypeError::not_utf8(error.as_bytes(), error.utf8_error().valid_up_to()))
}

/// Reads the escape after a backslash; returns the rest.
fn escaped<'t>(text: &'t [u8], value: &mut Vec<u8>) -> Option<&'t [u8]> {
    let (kind, rest) = text.split_first()?;
    match kind {
        b'0'..=b'7' => {
            let (byte, rest) = digits(text, 8, 3);
            // PostgreSQL keeps the last eight bits.
            value.push((byte & 0xff) as u8);
            Some(rest)
        }
        b'x' if rest.first().is_some_and(u8::is_ascii_hexdigit) => {
            let (byte, rest) = digits(rest, 16, 2);
            value.push((byte & 0xff) as u8);
            Some(rest)
        }
        b'u' | b'U' => {
            let length = if *kind == b'u' { 4 } else { 8 };
            let (code, behind) = digits(rest, 16, length);
            let whole = rest.len() - behind.len() == length;
            let (letter, behind) = match char::from_u32(code) {
                Some(letter) => (letter, behind),
                None => second_half(code, behind)?,
            };
            value.extend(letter.encode_utf8(&mut [0; 4]).as_bytes());
            whole.then_some(behind)
        }
        letter => {
            value.push(match letter {
                b'b' => 8,
                b'f' => 12,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                other => *other,
            });
            Some(rest)
        }
    }
}

/// Returns the character of a surrogate pair, `\uD83D\uDE00`, whose first half has been read.
fn second_half(first: u32, text: &[u8]) -> Option<(char, &[u8])> {
    let (length, rest) = match text {
        [b'\\', b'u', rest @ ..] => (4, rest),
        [b'\\', b'U', rest @ ..] => (8, rest),
        _ => return None,
    };
    let (second, behind) = digits(rest, 16, length);
    let is_pair = (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(&second);
    if !is_pair || rest.len() - behind.len() != length {
        return None;
    }
    let letter = char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))?;
    Some((letter, behind))
}

/// Reads up to `most` digits. Returns the number and the rest.
fn digits(text: &[u8], base: u32, most: usize) -> (u32, &[u8]) {
    let (mut number, mut rest) = (0, text);
    for _ in 0..most {
        let Some((first, tail)) = rest.split_first() else { break };
        let Some(digit) = char::from(*first).to_digit(base) else { break };
        number = number * base + digit;
        rest = tail;
    }
    (number, rest)
}

/// Moves a token of a text that begins at `origin`.
pub(super) fn moved(token: TokenWithSpan, origin: Location) -> TokenWithSpan {
    let place = |place: Location| match place.line {
        1 => Location::new(origin.line, origin.column + place.column - 1),
        line => Location::new(origin.line + line - 1, place.column),
    };
    TokenWithSpan { span: Span::new(place(token.span.start), place(token.span.end)), token: token.token }
}

/// Returns the location after `text`, which begins at `from`.
pub(super) fn after(from: Location, text: &str) -> Location {
    text.chars().fold(from, |place, letter| match letter {
        '\n' => Location::new(place.line + 1, 1),
        _ => Location::new(place.line, place.column + 1),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bytes_make_letters() {
        for (text, value, length) in [
            (r"E'\xc3\xa4'", "ä", 11),
            (r"e'a\303\244''b' x", "aä'b", 15),
            (r"E'\u00e4\xe2\x82\xac\n\q'", "ä€\nq", 25),
            (r"E'\x4g'", "\u{4}g", 7),
        ] {
            assert_eq!(read(text).unwrap().unwrap(), (value.to_owned(), length), "{text}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        for (text, shown) in [(r"E'\xff'", "0xff"), (r"E'a\xc3b'", "0xc3 0x62"), (r"E'\x00'", "0x00")] {
            let error = read(text).unwrap().unwrap_err().to_string();
            assert_eq!(error, format!("invalid byte sequence for encoding \"UTF8\": {shown}"));
        }
        assert!(read(r"E'\xc3\xa4").is_none());
        assert!(read("'a'").is_none());
    }
}
