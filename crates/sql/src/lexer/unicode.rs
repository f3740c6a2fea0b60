//! `U&'d!0061t' UESCAPE '!'`: Unicode escapes that begin with another character than the backslash.

use super::place::{byte_of, end_of, position_at, position_of};
use super::token_text;
use crate::SqlError;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Reads such strings anew; each becomes one token.
///
/// # Errors
/// [`SqlError::Invalid`] for escapes that are none.
pub(super) fn replace(text: &str, tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>, SqlError> {
    let begins = |pair: &[TokenWithSpan]| matches!(pair, [string, word] if is_unicode(string) && is_uescape(word));
    if !tokens.windows(2).any(begins) {
        return Ok(tokens);
    }
    let mut out = Vec::with_capacity(tokens.len());
    let mut rest = tokens.into_iter().peekable();
    while let Some(mut token) = rest.next() {
        if is_unicode(&token) && rest.next_if(is_uescape).is_some() {
            let after = rest.next();
            let escape = escape_of(text, after.as_ref())?;
            let start = byte_of(text, token.span.start);
            token.token = Token::UnicodeStringLiteral(Body::of(text, start, &token).read(escape)?);
            token.span.end = after.map_or(token.span.end, |after| after.span.end);
        }
        out.push(token);
    }
    Ok(out)
}

fn is_unicode(token: &TokenWithSpan) -> bool {
    matches!(token.token, Token::UnicodeStringLiteral(_))
}

fn is_uescape(token: &TokenWithSpan) -> bool {
    matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("uescape"))
}

/// The one character of the string behind UESCAPE.
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

/// What stands between the quotes.
struct Body<'t> {
    text: &'t str,
    start: usize,
    body: &'t str,
}

impl<'t> Body<'t> {
    /// Of the token that begins at that byte.
    fn of(text: &'t str, start: usize, token: &TokenWithSpan) -> Self {
        const OPENING: usize = "U&'".len();
        let end = byte_of(text, token.span.end).saturating_sub(1);
        Self { text, start: start + OPENING, body: text.get(start + OPENING..end).unwrap_or_default() }
    }

    fn read(&self, escape: char) -> Result<String, SqlError> {
        let mut value = String::with_capacity(self.body.len());
        // The first half of a letter beyond 16 bits.
        let mut half = None;
        let mut at = 0;
        while let Some(next) = self.body.get(at..).and_then(|rest| rest.chars().next()) {
            let behind = self.body.get(at + next.len_utf8()..).unwrap_or_default();
            if next != escape || behind.starts_with(escape) {
                if half.is_some() {
                    return Err(self.invalid("invalid Unicode surrogate pair", at));
                }
                value.push(next);
                // Quotes stand there twice, as escapes do.
                at += next.len_utf8() * if matches!(next, '\'') || next == escape { 2 } else { 1 };
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

/// `0061` or `+000061`: the number and its length.
fn code(text: &str) -> Option<(u32, usize)> {
    let (digits, length) = match text.strip_prefix('+') {
        Some(long) => (long.get(..6)?, 7),
        None => (text.get(..4)?, 4),
    };
    let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| all).map(|code| (code, length))
}

/// Such a string whose backslashes the tokenizer cannot read: a stand-in for it, and its bytes in the text that begins
/// with it. `None` for what is no such string, has no end or no UESCAPE behind it.
pub(super) fn with_backslashes(text: &str) -> Option<(Token, usize)> {
    let body = text.strip_prefix(['u', 'U'])?.strip_prefix("&'")?;
    let mut quotes = body.match_indices('\'').map(|(at, _)| at).peekable();
    let end = loop {
        let at = quotes.next()?;
        if quotes.next_if_eq(&(at + 1)).is_none() {
            break at;
        }
    };
    let behind = body.get(end + 1..)?.trim_start();
    let uescape = behind.get(.."uescape".len())?.eq_ignore_ascii_case("uescape");
    uescape.then(|| (Token::UnicodeStringLiteral(String::new()), text.len() - body.len() + end + 1))
}
