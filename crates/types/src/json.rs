//! The type `json`: a text that is JSON, stored as written. This module checks and builds JSON.
//!
//! The check of nested values needs no stack, so there is no limit of depth.

use crate::{DataType, Datum, TypeError, text};
use std::fmt::Write;

/// Checks that the text is one JSON value.
///
/// # Errors
/// [`TypeError::BadJson`] with PostgreSQL's message.
pub fn check(input: &str) -> Result<(), TypeError> {
    let mut lexer = Lexer { input, at: 0 };
    let mut open = Vec::new();
    let mut state = State::Value;
    loop {
        let (token, shown) = lexer.token()?;
        state = match (state, token, open.last()) {
            (State::Value | State::FirstElement, Token::Mark(b'{'), _) => {
                open.push(b'}');
                State::FirstKey
            }
            (State::Value | State::FirstElement, Token::Mark(b'['), _) => {
                open.push(b']');
                State::FirstElement
            }
            (State::Value | State::FirstElement, Token::Text | Token::Other, _) => State::Next,
            (State::FirstKey | State::Key, Token::Text, _) => State::Colon,
            (State::Colon, Token::Mark(b':'), _) => State::Value,
            (State::FirstElement | State::FirstKey | State::Next, Token::Mark(mark), Some(closing))
                if mark == *closing =>
            {
                open.pop();
                State::Next
            }
            (State::Next, Token::Mark(b','), Some(b'}')) => State::Key,
            (State::Next, Token::Mark(b','), Some(_)) => State::Value,
            (State::Next, Token::End, None) => return Ok(()),
            (_, Token::End, _) => return Err(bad("The input string ended unexpectedly.")),
            (state, _, closing) => {
                return Err(bad(&format!("Expected {}, but found \"{shown}\".", state.expects(closing.copied()))));
            }
        };
    }
}

/// Which tokens can come next.
#[derive(Clone, Copy)]
enum State {
    Value,
    /// A value, or the end of an array.
    FirstElement,
    /// A key, or the end of an object.
    FirstKey,
    Key,
    Colon,
    /// After a value.
    Next,
}

impl State {
    fn expects(self, closing: Option<u8>) -> &'static str {
        match (self, closing) {
            (Self::Value | Self::FirstElement, _) => "JSON value",
            (Self::FirstKey, _) => "string or \"}\"",
            (Self::Key, _) => "string",
            (Self::Colon, _) => "\":\"",
            (Self::Next, Some(b'}')) => "\",\" or \"}\"",
            (Self::Next, Some(_)) => "\",\" or \"]\"",
            (Self::Next, None) => "end of input",
        }
    }
}

#[derive(Clone, Copy)]
enum Token {
    /// One of `{}[],:`.
    Mark(u8),
    Text,
    /// A number, true, false, null.
    Other,
    End,
}

struct Lexer<'a> {
    input: &'a str,
    at: usize,
}

fn bad(detail: &str) -> TypeError {
    TypeError::BadJson { detail: detail.to_owned() }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl<'a> Lexer<'a> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.input.as_bytes().get(at).copied()
    }

    /// Returns the position after the bytes from `at` on that satisfy `fits`.
    fn skip(&self, mut at: usize, fits: impl Fn(u8) -> bool) -> usize {
        while self.byte(at).is_some_and(&fits) {
            at += 1;
        }
        at
    }

    /// Returns the next token and its text.
    fn token(&mut self) -> Result<(Token, &'a str), TypeError> {
        let start = self.skip(self.at, |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        let (token, end) = match self.byte(start) {
            None => (Token::End, start),
            Some(mark @ (b'{' | b'}' | b'[' | b']' | b',' | b':')) => (Token::Mark(mark), start + 1),
            Some(b'"') => (Token::Text, self.string(start)?),
            Some(b'-') => (Token::Other, self.number(start, start + 1)?),
            Some(digit) if digit.is_ascii_digit() => (Token::Other, self.number(start, start)?),
            Some(_) => (Token::Other, self.word(start)?),
        };
        self.at = end;
        Ok((token, self.input.get(start..end).unwrap_or_default()))
    }

    fn invalid(&self, start: usize, end: usize) -> TypeError {
        let token = self.input.get(start..end).unwrap_or_default();
        bad(&format!("Token \"{token}\" is invalid."))
    }

    fn word(&self, start: usize) -> Result<usize, TypeError> {
        let end = self.skip(start, is_word);
        match self.input.get(start..end) {
            Some("true" | "false" | "null") => Ok(end),
            _ => Err(self.invalid(start, end.max(start + 1))),
        }
    }

    fn number(&self, start: usize, digits: usize) -> Result<usize, TypeError> {
        let several = |from: usize| (self.skip(from, |byte| byte.is_ascii_digit()), from);
        let (mut end, first) = if self.byte(digits) == Some(b'0') { (digits + 1, digits) } else { several(digits) };
        let mut right = end > first;
        if self.byte(end) == Some(b'.') {
            let (behind, first) = several(end + 1);
            right &= behind > first;
            end = behind;
        }
        if matches!(self.byte(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.byte(end + 1), Some(b'+' | b'-')));
            let (behind, first) = several(end + 1 + sign);
            right &= behind > first;
            end = behind;
        }
        let behind = self.skip(end, is_word);
        if right && behind == end { Ok(end) } else { Err(self.invalid(start, behind)) }
    }

    fn string(&self, start: usize) -> Result<usize, TypeError> {
        let mut at = start + 1;
        loop {
            match self.byte(at) {
                None => return Err(self.invalid(start, at)),
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') => at = self.escape(start, at + 1)?,
                Some(control) if control < b' ' => {
                    return Err(bad(&format!("Character with value 0x{control:02x} must be escaped.")));
                }
                Some(_) => at += 1,
            }
        }
    }

    /// Checks the escape sequence after a backslash.
    fn escape(&self, start: usize, at: usize) -> Result<usize, TypeError> {
        match self.byte(at) {
            None => Err(self.invalid(start, at)),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 1),
            Some(b'u') if (1..=4).all(|n| self.byte(at + n).is_some_and(|byte| byte.is_ascii_hexdigit())) => Ok(at + 5),
            Some(b'u') => Err(bad("\"\\u\" must be followed by four hexadecimal digits.")),
            Some(_) => {
                let letter = self.input.get(at..).and_then(|rest| rest.chars().next()).unwrap_or_default();
                Err(bad(&format!("Escape sequence \"\\{letter}\" is invalid.")))
            }
        }
    }
}

/// Appends a value of type `ty` as JSON: numbers and booleans plain, JSON unchanged, arrays as arrays, others as
/// strings.
pub fn print(ty: &DataType, value: &Datum, out: &mut String) {
    match (ty, value) {
        (_, Datum::Null) => out.push_str("null"),
        (DataType::Json, Datum::Text(json)) => out.push_str(json),
        (_, Datum::Bool(value)) => out.push_str(if *value { "true" } else { "false" }),
        (ty, Datum::Array(items)) => {
            let nested = items.iter().any(|item| matches!(item, Datum::Array(_)));
            let element = ty.item().filter(|_| !nested).unwrap_or(*ty);
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                print(&element, item, out);
            }
            out.push(']');
        }
        (ty, value) => {
            let mut shown = String::new();
            text::print(ty, value, &mut shown);
            match value {
                Datum::Int2(_) | Datum::Int4(_) | Datum::Int8(_) | Datum::Numeric(_) => out.push_str(&shown),
                Datum::Float4(_) | Datum::Float8(_) if !shown.ends_with(['N', 'y']) => out.push_str(&shown),
                Datum::Timestamp(_) => quote(&shown.replacen(' ', "T", 1), out),
                // PostgreSQL's JSON has the minutes of the zone.
                Datum::TimestampTz(_) if shown.ends_with("+00") => {
                    quote(&format!("{}:00", shown.replacen(' ', "T", 1)), out);
                }
                _ => quote(&shown, out),
            }
        }
    }
}

/// Appends a text as a JSON string.
pub fn quote(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            // Writing to a String cannot fail.
            control if control < ' ' => drop(write!(out, "\\u{:04x}", u32::from(control))),
            _ => out.push(letter),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(text: &str) -> Option<String> {
        check(text).err().and_then(|error| error.detail())
    }

    #[test]
    fn json_is_told_from_what_is_not() {
        for text in
            ["1", " -0.5e+3 ", "\"a\\u00e9\\n\"", "[]", "{}", "[1, [true, {\"a\" : null}]]", "{\"a\":1,\"b\":[]}"]
        {
            assert_eq!(detail(text), None, "{text}");
        }
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(detail(&deep), None);
    }

    #[test]
    fn what_is_wrong_is_said_as_postgresql_says_it() {
        let ended = "The input string ended unexpectedly.";
        for (text, wanted) in [
            ("", ended),
            ("{\"a\":", ended),
            ("[1", ended),
            ("nul", "Token \"nul\" is invalid."),
            ("01", "Token \"01\" is invalid."),
            ("1.x", "Token \"1.x\" is invalid."),
            ("\"a", "Token \"\"a\" is invalid."),
            ("'a'", "Token \"'\" is invalid."),
            ("[1,]", "Expected JSON value, but found \"]\"."),
            ("[1 2]", "Expected \",\" or \"]\", but found \"2\"."),
            ("{1:2}", "Expected string or \"}\", but found \"1\"."),
            ("{\"a\" 1}", "Expected \":\", but found \"1\"."),
            ("{\"a\":1,}", "Expected string, but found \"}\"."),
            ("{\"a\":1]", "Expected \",\" or \"}\", but found \"]\"."),
            ("1 2", "Expected end of input, but found \"2\"."),
            ("\"\\x\"", "Escape sequence \"\\x\" is invalid."),
            ("\"\\u12\"", "\"\\u\" must be followed by four hexadecimal digits."),
            ("\"a\nb\"", "Character with value 0x0a must be escaped."),
        ] {
            assert_eq!(detail(text).as_deref(), Some(wanted), "{text}");
        }
    }
}
