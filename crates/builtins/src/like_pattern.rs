//! Patterns of LIKE with the backslash as escape character.
//!
//! ```text
//!   a_c%d%%e   ──>   [a _ c] [d] [] [e]    literals and `_` between the `%`s
//! ```
//! The text must begin with the first run and end with the last one; the runs between them are searched from left to
//! right: each `%` matches as little as possible, since a later `%` can match the rest. So a text is scanned once
//! unless runs have `_` in them. Long scans check for cancellation.

use crate::{EvalError, Reason};
use memchr::memmem::Finder;
use types::interrupt;

/// A compiled pattern, for many texts.
#[derive(Debug)]
pub struct LikePattern {
    runs: Vec<Run>,
    /// The pattern ends with its escape character, which is an error if the text goes on there.
    unfinished: bool,
}

/// The part of a pattern between two `%`.
#[derive(Debug)]
enum Run {
    Text(Box<Finder<'static>>),
    /// `None` is `_`.
    Places(Vec<Option<char>>),
}

/// How many bytes of text cost one step of [`interrupt::spend`].
const BYTES_OF_A_STEP: usize = 16;

impl LikePattern {
    /// Compiles a pattern.
    pub fn new(pattern: &str) -> Self {
        let (mut runs, mut run, mut unfinished) = (Vec::new(), Vec::new(), false);
        let mut rest = pattern.chars();
        while let Some(next) = rest.next() {
            match next {
                '%' => runs.push(Run::of(&mut run)),
                '_' => run.push(None),
                '\\' => match rest.next() {
                    Some(escaped) => run.push(Some(escaped)),
                    None => unfinished = true,
                },
                other => run.push(Some(other)),
            }
        }
        runs.push(Run::of(&mut run));
        Self { runs, unfinished }
    }

    /// Returns whether the pattern matches the whole of `text`.
    ///
    /// # Errors
    /// 22025 for a pattern that ends with its escape character, if the text goes on there; an error if the statement is
    /// cancelled.
    pub fn matches(&self, text: &str) -> Result<bool, EvalError> {
        let Some((first, others)) = self.runs.split_first() else { return Ok(text.is_empty()) };
        let Some(mut rest) = first.begins(text) else { return Ok(false) };
        let Some((last, between)) = others.split_last() else { return self.ends(rest.is_empty(), !rest.is_empty()) };
        for run in between {
            match run.find(rest)? {
                Some(behind) => rest = behind,
                None => return Ok(false),
            }
        }
        if self.unfinished {
            // The text goes on after the first match of the last run, unless that match ends the text.
            let goes_on = last.find(rest)?.is_some_and(|behind| !behind.is_empty());
            return self.ends(false, goes_on);
        }
        last.ends(rest)
    }

    /// Returns `matches`, unless the pattern ends with its escape character.
    fn ends(&self, matches: bool, goes_on: bool) -> Result<bool, EvalError> {
        match self.unfinished {
            false => Ok(matches),
            true if goes_on => Err(Reason::Escape.because("LIKE pattern must not end with escape character")),
            true => Ok(false),
        }
    }
}

impl Run {
    fn of(places: &mut Vec<Option<char>>) -> Self {
        let places = std::mem::take(places);
        let text: Option<String> = places.iter().copied().collect();
        text.map_or(Self::Places(places), |text| Self::Text(Box::new(Finder::new(&text).into_owned())))
    }

    /// Returns the text after the run, if `text` begins with the run.
    fn begins<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Text(finder) => {
                let behind = text.as_bytes().strip_prefix(finder.needle())?;
                text.get(text.len() - behind.len()..)
            }
            Self::Places(places) => {
                let mut letters = text.chars();
                for place in places {
                    let letter = letters.next()?;
                    if place.is_some_and(|wanted| wanted != letter) {
                        return None;
                    }
                }
                Some(letters.as_str())
            }
        }
    }

    /// Returns the text after the first match of the run.
    fn find<'t>(&self, text: &'t str) -> Result<Option<&'t str>, EvalError> {
        match self {
            Self::Text(finder) => {
                let found = finder.find(text.as_bytes());
                interrupt::spend(found.unwrap_or(text.len()) / BYTES_OF_A_STEP + 1)?;
                Ok(found.and_then(|at| text.get(at + finder.needle().len()..)))
            }
            Self::Places(places) => {
                let mut letters = text.chars();
                loop {
                    interrupt::spend(places.len())?;
                    if let Some(behind) = self.begins(letters.as_str()) {
                        return Ok(Some(behind));
                    }
                    if letters.next().is_none() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Returns whether `text` ends with the run.
    fn ends(&self, text: &str) -> Result<bool, EvalError> {
        match self {
            Self::Text(finder) => Ok(text.as_bytes().ends_with(finder.needle())),
            Self::Places(places) => {
                interrupt::spend(places.len())?;
                let Some(before_last) = places.len().checked_sub(1) else { return Ok(true) };
                let begin = text.char_indices().rev().nth(before_last).and_then(|(at, _)| text.get(at..));
                Ok(begin.and_then(|end| self.begins(end)).is_some_and(str::is_empty))
            }
        }
    }
}

/// Replaces the escape character of a pattern by the backslash, as PostgreSQL's `like_escape()` does. If `escape` is
/// empty, no character is an escape.
///
/// # Errors
/// 22025 for an escape of several characters.
pub fn with_escape(pattern: &str, escape: &str) -> Result<String, EvalError> {
    let mut letters = escape.chars();
    let escape = letters.next();
    if letters.next().is_some() {
        return Err(Reason::EscapeString.because("invalid escape string"));
    }
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern.chars();
    while let Some(letter) = rest.next() {
        match letter {
            letter if Some(letter) == escape => {
                out.push('\\');
                out.extend(rest.next());
            }
            '\\' => out.push_str("\\\\"),
            letter => out.push(letter),
        }
    }
    Ok(out)
}

/// Converts bytes to characters of these code points, on which LIKE has the same result as on the bytes.
pub(crate) fn chars_of_bytes(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Converts the characters of [`chars_of_bytes`] back to bytes.
pub(crate) fn bytes_of(letters: &str) -> Vec<u8> {
    letters.chars().filter_map(|letter| u8::try_from(letter).ok()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{LikePattern, bytes_of, chars_of_bytes, with_escape};

    #[test]
    fn an_escape_becomes_a_backslash() {
        let cases = [
            ("10!%", "!", r"10\%"),
            (r"a\b!!", "!", r"a\\b\!"),
            (r"!\x", "!", r"\\x"),
            (r"a\%", "", r"a\\%"),
            (r"a\%", "\\", r"a\%"),
            ("a!", "!", r"a\"),
        ];
        for (pattern, escape, wanted) in cases {
            assert_eq!(with_escape(pattern, escape).unwrap(), wanted, "{pattern} ESCAPE {escape}");
        }
        assert!(with_escape("a", "xy").is_err());
    }

    #[test]
    fn bytes_are_letters_and_back() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        assert_eq!(bytes_of(&chars_of_bytes(&all)), all);
    }

    fn like(text: &str, pattern: &str) -> Option<bool> {
        LikePattern::new(pattern).matches(text).ok()
    }

    #[test]
    fn patterns_match_as_in_postgresql() {
        let cases = [
            ("", "", true),
            ("", "%", true),
            ("", "_", false),
            ("abc", "a%", true),
            ("abc", "%b%", true),
            ("abc", "_b_", true),
            ("abc", "a_", false),
            ("abc", "abc_", false),
            ("abcabc", "%abc", true),
            ("aab", "%ab", true),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("ä", "_", true),
            ("aäb", "%_b", true),
            ("abc", "abc%_", false),
            ("abab", "ab%ab", true),
            ("aba", "ab%ba", false),
            ("mississippi", "%iss%ip%i", true),
            ("mississippi", "%i_s%_p%_i", true),
        ];
        for (text, pattern, wanted) in cases {
            assert_eq!(like(text, pattern), Some(wanted), "{text} LIKE {pattern}");
        }
    }

    #[test]
    fn a_pattern_that_ends_in_its_escape_is_wrong_where_the_text_goes_on() {
        assert_eq!(like("ab", "a\\"), None);
        assert_eq!(like("a", "a\\"), Some(false));
        assert_eq!(like("b", "a\\"), Some(false));
        assert_eq!(like("xab", "%a\\"), None);
        assert_eq!(like("xa", "%a\\"), Some(false));
    }

    /// All short patterns on all short texts, against the definition.
    #[test]
    fn short_patterns_match_what_their_definition_says() {
        fn defined(text: &[char], pattern: &[char]) -> bool {
            match (pattern, text) {
                ([], _) => text.is_empty(),
                (['%', more @ ..], _) => (0..=text.len()).any(|at| defined(&text[at..], more)),
                (['_', more @ ..], [_, rest @ ..]) => defined(rest, more),
                ([letter, more @ ..], [found, rest @ ..]) if letter == found => defined(rest, more),
                _ => false,
            }
        }
        let words = |letters: &[char], longest: usize| {
            let mut all = vec![String::new()];
            let mut from = 0;
            for _ in 0..longest {
                let until = all.len();
                for at in from..until {
                    all.extend(letters.iter().map(|letter| format!("{}{letter}", all[at])).collect::<Vec<_>>());
                }
                from = until;
            }
            all
        };
        for pattern in words(&['a', 'ß', '_', '%'], 5) {
            let compiled = LikePattern::new(&pattern);
            let letters: Vec<char> = pattern.chars().collect();
            for text in words(&['a', 'ß'], 5) {
                let wanted = defined(&text.chars().collect::<Vec<_>>(), &letters);
                assert_eq!(compiled.matches(&text).unwrap(), wanted, "{text} LIKE {pattern}");
            }
        }
    }
}
