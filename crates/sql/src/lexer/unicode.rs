//! `U&'d\0061t'` and `U&"d!0061t" UESCAPE '!'`: strings and names with Unicode escapes.
//!
//! The tokenizer reads such strings in part, and such names as three tokens; here both are read from the text.

use super::place::{byte_of, end_of, position_at, position_of};
use super::token_text;
use super::word::is_word;
use crate::SqlError;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Reads such strings and names; each becomes one token.
///
/// # Errors
/// [`SqlError::Invalid`] for invalid escapes.
pub(super) fn replace(text: &str, tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>, SqlError> {
    let is_escaped = |at: usize| tokens.get(at..).is_some_and(|rest| is_string(rest) || is_name(rest));
    if !(0..tokens.len()).any(is_escaped) {
        return Ok(tokens);
    }
    let mut out = Vec::with_capacity(tokens.len());
    let mut rest = tokens.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        let (quote, length) = match rest {
            tokens if is_string(tokens) => ('\'', 1),
            tokens if is_name(tokens) => ('"', 3),
            _ => {
                out.push(first.clone());
                rest = behind;
                continue;
            }
        };
        let (own, mut behind) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        let mut token = first.clone();
        token.span.end = own.last().map_or(token.span.end, |last| last.span.end);
        let body = Body::of(text, &token, quote);
        let mut escape = '\\';
        if behind.first().is_some_and(|next| is_word(&next.token, "UESCAPE")) {
            escape = escape_of(text, behind.get(1))?;
            token.span.end = behind.get(1).map_or(token.span.end, |last| last.span.end);
            behind = behind.get(2..).unwrap_or_default();
        }
        let value = body.read(escape)?;
        token.token = match quote {
            '"' => Token::make_word(&value, Some('"')),
            _ => Token::UnicodeStringLiteral(value),
        };
        out.push(token);
        rest = behind;
    }
    Ok(out)
}

fn is_string(tokens: &[TokenWithSpan]) -> bool {
    matches!(tokens.first(), Some(token) if matches!(token.token, Token::UnicodeStringLiteral(_)))
}

/// `U`, `&` and a quoted name, without whitespace.
fn is_name(tokens: &[TokenWithSpan]) -> bool {
    let [letter, and, name, ..] = tokens else { return false };
    let touch = letter.span.end == and.span.start && and.span.end == name.span.start;
    let is_quoted = matches!(&name.token, Token::Word(word) if word.quote_style == Some('"'));
    touch && is_word(&letter.token, "U") && and.token == Token::Ampersand && is_quoted
}

/// Returns the single character of the string after UESCAPE.
fn escape_of(text: &str, token: Option<&TokenWithSpan>) -> Result<char, SqlError> {
    let message = "UESCAPE must be followed by a simple string literal";
    let Some(token) = token else {
        return Err(SqlError::Invalid { message: format!("{message} at end of input"), position: end_of(text) });
    };
    let near = |message: &str| SqlError::Invalid {
        message: format!("{message} at or near \"{}\"", token_text(text, token)),
        position: position_of(text, token.span.start),
    };
    let Token::SingleQuotedString(escape) = &token.token else { return Err(near(message)) };
    let mut letters = escape.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None)
            if letter.is_ascii()
                && !letter.is_ascii_hexdigit()
                && !letter.is_whitespace()
                && !"+'\"".contains(letter) =>
        {
            Ok(letter)
        }
        _ => Err(near("invalid Unicode escape character")),
    }
}

/// The content between the quotes.
struct Body<'t> {
    text: &'t str,
    start: usize,
    body: &'t str,
    /// The quote, which is doubled in the content.
    quote: char,
}

impl<'t> Body<'t> {
    fn of(text: &'t str, token: &TokenWithSpan, quote: char) -> Self {
        const OPENING: usize = "U&'".len();
        let start = byte_of(text, token.span.start) + OPENING;
        let end = byte_of(text, token.span.end).saturating_sub(1);
        Self { text, start, body: text.get(start..end).unwrap_or_default(), quote }
    }

    fn read(&self, escape: char) -> Result<String, SqlError> {
        let mut value = String::with_capacity(self.body.len());
        // The first half of a surrogate pair.
        let mut half = None;
        let mut at = 0;
        while let Some(next) = self.body.get(at..).and_then(|rest| rest.chars().next()) {
            let behind = self.body.get(at + next.len_utf8()..).unwrap_or_default();
            if next != escape || behind.starts_with(escape) {
                if half.is_some() {
                    return Err(self.invalid("invalid Unicode surrogate pair", at));
                }
                value.push(next);
                // Quotes and escapes are doubled.
                at += next.len_utf8() * if next == self.quote || next == escape { 2 } else { 1 };
                continue;
            }
            let (code, length) = code(behind).ok_or_else(|| self.invalid("invalid Unicode escape", at))?;
            let letter = match (half.take(), code) {
                (None, first @ 0xD800..=0xDBFF) => {
                    half = Some(first);
                    at += next.len_utf8() + length;
                    continue;
                }
                (Some(first), second @ 0xDC00..=0xDFFF) => {
                    char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
                }
                (Some(_), _) | (None, 0xDC00..=0xDFFF) => {
                    return Err(self.invalid("invalid Unicode surrogate pair", at));
                }
                (None, code) => char::from_u32(code).filter(|letter| *letter != '\0'),
            };
            value.push(letter.ok_or_else(|| self.invalid("invalid Unicode escape value", at))?);
            at += next.len_utf8() + length;
        }
        match half {
            Some(_) => Err(self.invalid("invalid Unicode surrogate pair", self.body.len())),
            None => Ok(value),
        }
    }

    fn invalid(&self, message: &str, at: usize) -> SqlError {
        SqlError::Invalid { message: message.to_owned(), position: position_at(self.text, self.start + at) }
    }
}

/// Reads `0061` or `+000061`. Returns the number and its length.
fn code(text: &str) -> Option<(u32, usize)> {
    let (digits, length) = match text.strip_prefix('+') {
        Some(long) => (long.get(..6)?, 7),
        None => (text.get(..4)?, 4),
    };
    let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| all).map(|code| (code, length))
}

/// Reads such a string at the start of `text` whose backslashes the tokenizer cannot read. Returns a placeholder token
/// and the string's length in bytes; `None` if it is not such a string or is unterminated.
pub(super) fn with_backslashes(text: &str) -> Option<(Token, usize)> {
    let body = text.strip_prefix(['u', 'U'])?.strip_prefix("&'")?;
    let mut quotes = body.match_indices('\'').map(|(at, _)| at).peekable();
    let end = loop {
        let at = quotes.next()?;
        if quotes.next_if_eq(&(at + 1)).is_none() {
            break at;
        }
    };
    Some((Token::UnicodeStringLiteral(String::new()), text.len() - body.len() + end + 1))
}
