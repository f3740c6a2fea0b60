//! Splits an interval's text into tokens by their first character, as PostgreSQL's parser of dates and times does.
//!
//! ```text
//!   - 1 year 2 mons 04:05    Signed("-1") Word("year") Number("2") Word("mons") Clock("04:05")
//! ```

use super::sum::Fault;

/// A token, in lower case.
pub(super) enum Token {
    /// `1`, `1.5`, `1-2`.
    Number(String),
    /// A number with a sign, or a time with a sign.
    Signed(String),
    /// `1:02:03`.
    Clock(String),
    /// A unit, or `ago`.
    Word(String),
}

impl Token {
    /// Returns the sign of a signed token.
    pub(super) fn sign(&self) -> Option<char> {
        match self {
            Self::Signed(text) => text.chars().next(),
            _ => None,
        }
    }
}

/// Maximum tokens of an interval.
const MOST_TOKENS: usize = 25;
/// Units that a digit may follow directly, `1h30m`; after other letters, a digit belongs to a name.
const UNITS_BEFORE_DIGITS: [&str; 7] = ["d", "dec", "h", "m", "mon", "s", "y"];

/// Splits a text; other punctuation separates tokens.
///
/// # Errors
/// [`Fault::Form`] for a character that begins no token.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let mut rest = Rest { text };
    let mut all = Vec::new();
    while let Some(first) = rest.peek() {
        if is_space(first) || (first.is_ascii_punctuation() && !matches!(first, '.' | '+' | '-')) {
            rest.skip();
            continue;
        }
        if all.len() == MOST_TOKENS {
            return Err(Fault::Form);
        }
        all.push(match first {
            '0'..='9' => rest.number(),
            '.' => Token::Number(rest.take_first() + rest.digits()),
            '+' | '-' => rest.signed()?,
            'a'..='z' | 'A'..='Z' => rest.word()?,
            _ => return Err(Fault::Form),
        });
    }
    Ok(all)
}

fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\u{b}'
}

struct Rest<'a> {
    text: &'a str,
}

impl<'a> Rest<'a> {
    fn peek(&self) -> Option<char> {
        self.text.chars().next()
    }

    fn skip(&mut self) {
        let mut chars = self.text.chars();
        chars.next();
        self.text = chars.as_str();
    }

    fn take_first(&mut self) -> String {
        let first = self.peek().map(String::from).unwrap_or_default();
        self.skip();
        first
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.text.find(|c| !wanted(c)).unwrap_or(self.text.len());
        let (taken, rest) = self.text.split_at_checked(end).unwrap_or((self.text, ""));
        self.text = rest;
        taken
    }

    fn digits(&mut self) -> &'a str {
        self.take(|c| c.is_ascii_digit())
    }

    /// Reads `1`, `1.5`, `1-2`, `1:02:03`: only the delimiter that was read may occur again.
    fn number(&mut self) -> Token {
        let mut text = self.digits().to_owned();
        match self.peek() {
            Some(':') => {
                text += self.take(|c| c.is_ascii_digit() || matches!(c, ':' | '.'));
                return Token::Clock(text);
            }
            Some(delimiter @ ('-' | '/' | '.')) => {
                text += &self.take_first();
                if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
                    text += self.take(|c| c.is_ascii_alphanumeric() || c == delimiter);
                } else {
                    text += self.digits();
                    if self.peek() == Some(delimiter) {
                        text += self.take(|c| c.is_ascii_digit() || c == delimiter);
                    }
                }
            }
            _ => {}
        }
        Token::Number(text)
    }

    /// Reads a sign and its number, with optional blanks between them.
    fn signed(&mut self) -> Result<Token, Fault> {
        let mut text = self.take_first();
        self.take(is_space);
        match self.peek() {
            Some('0'..='9') => {
                text += self.take(|c| c.is_ascii_digit() || matches!(c, ':' | '.' | '-'));
                Ok(Token::Signed(text))
            }
            _ => Err(Fault::Form),
        }
    }

    fn word(&mut self) -> Result<Token, Fault> {
        let word = self.take(|c| c.is_ascii_alphabetic()).to_ascii_lowercase();
        match self.peek() {
            // Part of a name that occurs only in dates or zones.
            Some('-' | '/' | '.') => Err(Fault::Form),
            Some('0'..='9' | '+') if !UNITS_BEFORE_DIGITS.contains(&word.as_str()) => Err(Fault::Form),
            _ => Ok(Token::Word(word)),
        }
    }
}
