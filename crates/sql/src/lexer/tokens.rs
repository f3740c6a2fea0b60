//! Tokenizes in steps: parsing a long text can be cancelled between two steps, and a text that is nested too deeply is
//! refused before its tokens fill the memory.
//!
//! A step reads a part of the text. The last tokens of the part may continue after its end, so they are read again with
//! the next part. That begins at a token whose meaning does not depend on the previous one, and in which no other token
//! ends:
//!
//! ```text
//!   SELECT f(1, 'ab          part: ends within a string
//!             ^ ,            the last border: `SELECT f(1` is kept, the next part begins here
//! ```

use super::place::{byte_of, position_at, position_of};
use super::{depth, escape, unicode};
use crate::SqlError;
use crate::dialect::BennuDialect;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, TokenizerError, Whitespace};
use types::interrupt;

/// Bytes of a step. A step without a border is doubled.
const STEP: usize = 64 * 1024;
/// Maximum number of characters of an unterminated token in an error.
const MAX_SHOWN: usize = 60;

/// Tokenizes a text. The error of an unterminated token is at its beginning, and has PostgreSQL's message.
///
/// # Errors
/// [`SqlError::Invalid`], [`SqlError::Type`], [`SqlError::TooDeep`], [`SqlError::Stopped`].
pub(super) fn tokenize(text: &str) -> Result<Vec<TokenWithSpan>, SqlError> {
    let mut lexing = Lexing { text, tokens: Vec::new(), begin: 0, origin: Location::new(1, 1) };
    let mut nesting = depth::Nesting::default();
    let mut step = STEP;
    while lexing.begin < text.len() {
        interrupt::spend(step)?;
        let seen = lexing.tokens.len();
        step = if lexing.step(step)? { STEP } else { step.saturating_mul(2) };
        for token in lexing.tokens.get(seen..).unwrap_or_default() {
            nesting.see(&token.token).map_err(|limit| depth::nested_too_deeply(text, token, limit))?;
        }
    }
    Ok(lexing.tokens)
}

struct Lexing<'t> {
    text: &'t str,
    tokens: Vec<TokenWithSpan>,
    /// Start of the next part: the byte, and its location.
    begin: usize,
    origin: Location,
}

impl Lexing<'_> {
    /// Reads a part of that many bytes. Returns false if the part has no border; then nothing is read.
    fn step(&mut self, bytes: usize) -> Result<bool, SqlError> {
        let rest = self.text.get(self.begin..).unwrap_or_default();
        let part = rest.get(..rest.floor_char_boundary(bytes)).unwrap_or(rest);
        let mut found = Vec::new();
        let dialect = BennuDialect::for_tokens(&[]);
        let outcome = Tokenizer::new(&dialect, part).tokenize_with_location_into_buf(&mut found);
        if let Some(at) = self.continued_at(&found, part) {
            found.truncate(at);
            return self.continue_string(part, found).map(|()| true);
        }
        if outcome.is_err() && self.read_string(part, &mut found)? {
            return Ok(true);
        }
        if part.len() == rest.len() {
            self.take(found, part);
            return outcome.map(|()| true).map_err(|error| unterminated(self.text, self.end_of_last(), error));
        }
        let border =
            found.iter().rposition(|token| matches!(token.token, Token::Comma | Token::LParen | Token::RParen));
        let Some(border) = border.filter(|border| *border > 0) else { return Ok(false) };
        let begins = found.get(border).map_or(0, |token| byte_of(part, token.span.start));
        found.truncate(border);
        self.take(found, part.get(..begins).unwrap_or(part));
        Ok(true)
    }

    /// Reads the string after `found` if the tokenizer cannot read it. Returns whether it is read, along with `found`.
    fn read_string(&mut self, part: &str, found: &mut Vec<TokenWithSpan>) -> Result<bool, SqlError> {
        let start = self.begin + found.last().map_or(0, |last| byte_of(part, last.span.end));
        let rest = self.text.get(start..).unwrap_or_default();
        let (token, length) = match escape::read(rest) {
            Some(Ok((value, length))) => (Token::EscapedStringLiteral(value), length),
            Some(Err(source)) => return Err(SqlError::Type { source, position: position_at(self.text, start) }),
            // A part may have cut off the end of a string that the tokenizer can read.
            None if part.len() + self.begin < self.text.len() => return Ok(false),
            None => match unicode::with_backslashes(rest) {
                Some(read) => read,
                None => return Ok(false),
            },
        };
        let before = part.get(..start - self.begin).unwrap_or(part);
        self.take(std::mem::take(found), before);
        let end = escape::after(self.origin, rest.get(..length).unwrap_or_default());
        self.tokens.push(TokenWithSpan::new(token, Span::new(self.origin, end)));
        (self.begin, self.origin) = (start + length, end);
        Ok(true)
    }

    /// Returns where `found` has, or ends before, the first string that continues an `E'…'` across a line break. The
    /// tokenizer reads it as a string without escapes.
    fn continued_at(&self, found: &[TokenWithSpan], part: &str) -> Option<usize> {
        let (mut escaped, mut new_line) = (false, false);
        let mut see = |token: &Token| {
            match token {
                Token::Whitespace(Whitespace::Newline | Whitespace::SingleLineComment { .. }) => new_line = true,
                Token::Whitespace(Whitespace::Space | Whitespace::Tab) => {}
                Token::SingleQuotedString(_) if escaped && new_line => return true,
                token => (escaped, new_line) = (matches!(token, Token::EscapedStringLiteral(_)), false),
            }
            false
        };
        let before = self.tokens.iter().rposition(|token| !matches!(token.token, Token::Whitespace(_)));
        for token in before.and_then(|at| self.tokens.get(at..)).unwrap_or_default() {
            see(&token.token);
        }
        if let Some(at) = found.iter().position(|token| see(&token.token)) {
            return Some(at);
        }
        let end = found.last().map_or(0, |last| byte_of(part, last.span.end));
        let quoted = part.get(end..).is_some_and(|rest| rest.starts_with('\''));
        (quoted && escaped && new_line).then_some(found.len())
    }

    /// Adds the string after `found` to the `E'…'` that it continues, the last token that is no whitespace.
    fn continue_string(&mut self, part: &str, found: Vec<TokenWithSpan>) -> Result<(), SqlError> {
        let length = found.last().map_or(0, |last| byte_of(part, last.span.end));
        self.take(found, part.get(..length).unwrap_or(part));
        while matches!(self.tokens.last(), Some(token) if matches!(token.token, Token::Whitespace(_))) {
            self.tokens.pop();
        }
        let rest = self.text.get(self.begin..).unwrap_or_default();
        let (more, length) = match escape::read_quoted(rest) {
            Some(Ok(read)) => read,
            Some(Err(source)) => return Err(SqlError::Type { source, position: position_at(self.text, self.begin) }),
            None => return Err(unterminated_string(self.text, self.begin)),
        };
        self.origin = escape::after(self.origin, rest.get(..length).unwrap_or_default());
        self.begin += length;
        if let Some(TokenWithSpan { token: Token::EscapedStringLiteral(value), span }) = self.tokens.last_mut() {
            value.push_str(&more);
            span.end = self.origin;
        }
        Ok(())
    }

    /// Takes the tokens of `part`, which begins at the start of the next part.
    fn take(&mut self, found: Vec<TokenWithSpan>, part: &str) {
        let origin = self.origin;
        self.tokens.extend(found.into_iter().map(|token| escape::moved(token, origin)));
        self.begin += part.len();
        self.origin = escape::after(origin, part);
    }

    fn end_of_last(&self) -> usize {
        self.tokens.last().map_or(0, |last| byte_of(self.text, last.span.end))
    }
}

fn unterminated(text: &str, start: usize, error: TokenizerError) -> SqlError {
    let rest = text.get(start..).unwrap_or_default();
    let what = if rest.starts_with("/*") {
        "unterminated /* comment"
    } else if rest.starts_with('$') {
        "unterminated dollar-quoted string"
    } else if rest.starts_with('"') {
        "unterminated quoted identifier"
    } else if rest.contains('\'') {
        "unterminated quoted string"
    } else {
        return SqlError::Invalid { message: error.message, position: position_of(text, error.location) };
    };
    unterminated_token(what, text, start)
}

fn unterminated_string(text: &str, start: usize) -> SqlError {
    unterminated_token("unterminated quoted string", text, start)
}

fn unterminated_token(what: &str, text: &str, start: usize) -> SqlError {
    let shown: String = text.get(start..).unwrap_or_default().chars().take(MAX_SHOWN).collect();
    SqlError::Invalid { message: format!("{what} at or near \"{shown}\""), position: position_at(text, start) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns the tokens of `text`, read in steps of `bytes`.
    fn in_steps(text: &str, bytes: usize) -> Vec<TokenWithSpan> {
        let mut lexing = Lexing { text, tokens: Vec::new(), begin: 0, origin: Location::new(1, 1) };
        let mut step = bytes;
        while lexing.begin < text.len() {
            step = if lexing.step(step).unwrap() { bytes } else { step * 2 };
        }
        lexing.tokens
    }

    #[test]
    fn the_second_part_of_an_escaped_string_has_escapes() {
        let strings = |text: &str| {
            let tokens = in_steps(text, text.len());
            let tokens = tokens.into_iter().map(|token| token.token);
            tokens.filter(|token| !matches!(token, Token::Whitespace(_))).collect::<Vec<_>>()
        };
        let escaped = |text: &str| Token::EscapedStringLiteral(text.to_owned());
        let plain = |text: &str| Token::SingleQuotedString(text.to_owned());
        assert_eq!(strings("E'a\\n'\n'b\\'c' -- x\n  '\\xc3\\xa4'"), [escaped("a\nb'cä")]);
        assert_eq!(strings("E'\\xc3\\xa4'\n'\\'', '\\'"), [escaped("ä'"), Token::Comma, plain("\\")]);
        assert_eq!(strings("E'a' 'b\\'"), [escaped("a"), plain("b\\")]);
        assert_eq!(strings("E'a'\nE'b'"), [escaped("a"), escaped("b")]);
        assert!(tokenize("E'a'\n'b\\'").is_err());
    }

    #[test]
    fn a_step_ends_in_the_middle_of_any_token() {
        let text = "SELECT a.b, .5, t.5, 'it''s (a, b)', E'\\n,(', e'\\xc3\\xa4', U&'\\0061,(', $x$ (, $$ ),( $x$,\n \
                    \"q,(\" -- c, (\n, E'(,'\n ',\\'' --,\n'\\xc3\\xa4,', /* (, /* , */ */ 1.5e3, a->>'b,', ä, x::int[], 1_000,\r\n(((7)))";
        let whole = in_steps(text, text.len());
        assert!(whole.len() > 60);
        for bytes in 1..text.len() {
            assert_eq!(in_steps(text, bytes), whole, "steps of {bytes}");
        }
    }
}
