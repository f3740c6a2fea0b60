//! Translates patterns to the syntax of the `regex` crate and compiles them.

use super::flags::Flags;
use super::found::Found;
use super::steps;
use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use regex::{Regex, RegexBuilder};
use regex_automata::nfa::thompson::NFA;
use regex_automata::util::syntax;
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};
use types::interrupt;

thread_local! {
    /// The patterns that were used last, which the next row nearly always uses again.
    static LAST: RefCell<Vec<(String, Flags, Pattern)>> = const { RefCell::new(Vec::new()) };
}

/// Maximum nesting of parentheses: more than the default of the `regex` crate, and far less than a stack holds.
const MAX_DEPTH: u32 = 1_000;

/// Maximum length of a pattern in bytes. Its compilation cannot be cancelled.
const MAX_LENGTH: usize = 1 << 15;

/// A search takes at most as many steps per byte as the pattern has states. A search that may take more steps than this
/// (tens of milliseconds) first yields its thread.
const LONG: usize = 1 << 25;

/// A search that may take more steps than this (a second) goes step by step (`steps.rs`), which is slower and can be
/// cancelled.
const TOO_LONG: usize = 1 << 27;

/// The states of a pattern are not counted for shorter texts: the `regex` crate compiles at most a million states.
const SHORT: usize = 1 << 7;

/// How many patterns are cached: as many as a list of patterns in a query usually has.
const KEPT: usize = 16;

/// A compiled pattern. Searches check for cancellation before they begin, and long ones while they run.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    regex: Regex,
    spelled: Arc<str>,
    flags: Flags,
    /// The NFA, built for the first text that is not short.
    nfa: Arc<OnceLock<Option<NFA>>>,
}

impl Pattern {
    pub(super) fn is_match(&self, text: &str) -> QueryResult<bool> {
        match self.too_long(text.len())? {
            Some(nfa) => Ok(steps::search(nfa, text, 0, false)?.is_some()),
            None => Ok(self.regex.is_match(text)),
        }
    }

    /// Returns the first match from a byte offset on.
    pub(super) fn captures_at<'t>(&self, text: &'t str, start: usize) -> QueryResult<Option<Found<'t>>> {
        match self.too_long(text.len().saturating_sub(start))? {
            Some(nfa) => Ok(steps::search(nfa, text, start, true)?.map(|slots| Found::InSteps(text, slots))),
            None => Ok(self.regex.captures_at(text, start).map(Found::AtOnce)),
        }
    }

    /// Checks for cancellation before a search of so many bytes; returns the NFA if the search must go step by step.
    fn too_long(&self, letters: usize) -> QueryResult<Option<&NFA>> {
        interrupt::spend(letters.min(SHORT))?;
        if letters <= SHORT {
            return Ok(None);
        }
        let Some(nfa) = self.nfa.get_or_init(|| automaton(&self.spelled, self.flags)) else { return Ok(None) };
        let most = letters.saturating_mul(nfa.states().len());
        if most > TOO_LONG {
            return Ok(Some(nfa));
        }
        if most > LONG {
            interrupt::long()?;
        }
        Ok(None)
    }
}

/// Builds the NFA that the `regex` crate uses, too; `None` if it would be too large.
fn automaton(spelled: &str, flags: Flags) -> Option<NFA> {
    let syntax = syntax::Config::new()
        .nest_limit(MAX_DEPTH)
        .case_insensitive(flags.ignore_case)
        .multi_line(flags.anchors)
        .dot_matches_new_line(!flags.dots)
        .ignore_whitespace(flags.expanded);
    NFA::compiler().syntax(syntax).build(spelled).ok()
}

/// Compiles a pattern, or returns it from the cache.
pub(super) fn compiled(pattern: &str, flags: Flags) -> QueryResult<Pattern> {
    let known = LAST.with_borrow(|last| {
        let found = last.iter().find(|(text, own, _)| text == pattern && *own == flags);
        found.map(|(_, _, regex)| regex.clone())
    });
    if let Some(regex) = known {
        return Ok(regex);
    }
    if pattern.len() > MAX_LENGTH {
        let message = "invalid regular expression: regular expression is too complex";
        return Err(Refusal::Pattern.because(message));
    }
    interrupt::check()?;
    let (own, spelled) = spelled(pattern, flags)?;
    let regex = RegexBuilder::new(&spelled)
        .nest_limit(MAX_DEPTH)
        .case_insensitive(own.ignore_case)
        .multi_line(own.anchors)
        // A dot matches line ends, unless matching is newline-sensitive.
        .dot_matches_new_line(!own.dots)
        .ignore_whitespace(own.expanded)
        .build()
        .map_err(|error| invalid(&error))?;
    let regex = Pattern { regex, spelled: spelled.into(), flags: own, nfa: Arc::default() };
    LAST.with_borrow_mut(|last| {
        if last.len() == KEPT {
            last.remove(0);
        }
        last.push((pattern.to_owned(), flags, regex.clone()));
    });
    Ok(regex)
}

/// Returns the pattern of `x ~ 'pattern'` in the syntax of the `regex` crate; `None` if DataFusion's own operator,
/// which compiles it with the default limits, would refuse it.
///
/// # Errors
/// 2201B for an invalid pattern.
pub(crate) fn operator_pattern(pattern: &str) -> QueryResult<Option<String>> {
    compiled(pattern, Flags::default())?;
    let (flags, spelled) = spelled(pattern, Flags::default())?;
    // Only a dot depends on this flag. Without flags, DataFusion can rewrite a simple pattern to LIKE.
    let any = !flags.dots && spelled.contains('.');
    let letters = [(any, 's'), (flags.anchors, 'm'), (flags.ignore_case, 'i'), (flags.expanded, 'x')];
    let letters: String = letters.iter().filter(|(set, _)| *set).map(|(_, letter)| *letter).collect();
    let spelled = if letters.is_empty() { spelled } else { format!("(?{letters}){spelled}") };
    Ok(Regex::new(&spelled).is_ok().then_some(spelled))
}

/// Translates a pattern and the options that it begins with: `***=`, `***:`, `(?in)`.
fn spelled(pattern: &str, mut flags: Flags) -> QueryResult<(Flags, String)> {
    if flags.spelled {
        return Ok((flags, pattern.to_owned()));
    }
    let mut rest = pattern;
    if let Some(literal) = pattern.strip_prefix("***=") {
        (flags.literal, rest) = (true, literal);
    } else if !flags.literal {
        rest = rest.strip_prefix("***:").unwrap_or(rest);
        let options = rest.strip_prefix("(?").filter(|options| options.starts_with(|c: char| c.is_ascii_alphabetic()));
        if let Some((letters, behind)) = options.and_then(|options| options.split_once(')')) {
            for letter in letters.chars() {
                if !flags.set(letter)? {
                    return Err(Refusal::Pattern.because("invalid regular expression: invalid embedded option"));
                }
            }
            rest = behind;
        }
    }
    let spelled = if flags.literal { regex::escape(rest) } else { translated(rest, flags.dots)? };
    Ok((flags, spelled))
}

/// Returns the error with PostgreSQL's message.
fn invalid(error: &regex::Error) -> QueryError {
    let text = error.to_string();
    let reason = [
        ("unclosed group", "parentheses () not balanced"),
        ("unopened group", "parentheses () not balanced"),
        ("unclosed character class", "brackets [] not balanced"),
        ("repetition operator missing", "quantifier operand invalid"),
        ("unclosed counted repetition", "braces {} not balanced"),
        ("repetition quantifier", "invalid repetition count(s)"),
        ("character class range", "invalid character range"),
        ("incomplete escape", "invalid escape \\ sequence"),
        ("unrecognized escape", "invalid escape \\ sequence"),
    ];
    let reason = reason.iter().find(|(sign, _)| text.contains(sign)).map(|(_, words)| (*words).to_owned());
    let reason = reason.unwrap_or_else(|| text.lines().last().unwrap_or_default().trim().to_owned());
    Refusal::Pattern.because(format!("invalid regular expression: {reason}"))
}

/// Translates PostgreSQL's escapes and brackets; with `dots`, `[^a]` does not match line ends.
fn translated(pattern: &str, dots: bool) -> QueryResult<String> {
    let pattern = pattern.replace("[[:<:]]", r"\m").replace("[[:>:]]", r"\M");
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    let mut in_brackets = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('y') => out.push_str(r"\b"),
                Some('Y') => out.push_str(r"\B"),
                Some('m') => out.push_str(r"\b{start}"),
                Some('M') => out.push_str(r"\b{end}"),
                Some('Z') => out.push_str(r"\z"),
                Some(digit @ '1'..='9') if !in_brackets => {
                    let feature = format!("a back reference (\\{digit}) in a regular expression");
                    return Err(QueryError::Unsupported { feature });
                }
                Some(escaped) => out.extend(['\\', escaped]),
                None => return Err(Refusal::Pattern.because("invalid regular expression: invalid escape \\ sequence")),
            },
            // In brackets, a bracket is literal unless it begins a class, and `&&` and `~~` are not operators.
            '[' if in_brackets => match letters.peek() {
                Some(':' | '.' | '=') => {
                    out.push('[');
                    for inner in letters.by_ref() {
                        out.push(inner);
                        if inner == ']' {
                            break;
                        }
                    }
                }
                _ => out.push_str(r"\["),
            },
            '[' => {
                in_brackets = true;
                out.push('[');
                if letters.next_if_eq(&'^').is_some() {
                    out.push_str(if dots { r"^\n" } else { "^" });
                }
                if letters.next_if_eq(&']').is_some() {
                    out.push_str(r"\]");
                }
            }
            ']' if in_brackets => {
                in_brackets = false;
                out.push(']');
            }
            '&' | '~' if in_brackets => out.extend(['\\', letter]),
            other => out.push(other),
        }
    }
    if out.contains("(?=") || out.contains("(?!") || out.contains("(?<") {
        return Err(QueryError::Unsupported { feature: "look-around in a regular expression".to_owned() });
    }
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn patterns_keep_their_meaning() {
        assert_eq!(translated(r"\mfoo\M[]a[:alpha:]]", false).unwrap(), r"\b{start}foo\b{end}[\]a[:alpha:]]");
        assert!(matches!(translated(r"(a)\1", false), Err(QueryError::Unsupported { .. })));
    }
}
