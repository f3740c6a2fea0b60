//! Patterns in the library's spelling, compiled.

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
    /// The patterns used last: nearly always they are those of the next row too.
    static LAST: RefCell<Vec<(String, Flags, Pattern)>> = const { RefCell::new(Vec::new()) };
}

/// Parentheses within each other: beyond what the library takes by itself, and far from what a stack holds.
const MAX_DEPTH: u32 = 1_000;

/// Bytes of a pattern. The library does not compile in steps, so that nobody is heard meanwhile.
const MAX_LENGTH: usize = 1 << 15;

/// A search takes the library at most as many steps for a letter as the pattern has states. One that may take more steps
/// than this (tens of milliseconds) leaves its thread to others first.
const LONG: usize = 1 << 25;

/// And one of more steps than this, a second of them, goes step by step (`steps.rs`), which takes longer and can be stopped.
const TOO_LONG: usize = 1 << 27;

/// The states of a pattern are not counted for shorter texts: the library compiles no more than a million of them.
const SHORT: usize = 1 << 7;

/// As many as a list of patterns in a query mostly has.
const KEPT: usize = 16;

/// A compiled pattern, whose searches ask before they begin, and long ones all the while.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    regex: Regex,
    spelled: Arc<str>,
    flags: Flags,
    /// Its automaton, made for the first text that is not short.
    nfa: Arc<OnceLock<Option<NFA>>>,
}

impl Pattern {
    pub(super) fn is_match(&self, text: &str) -> QueryResult<bool> {
        match self.too_long(text.len())? {
            Some(nfa) => Ok(steps::search(nfa, text, 0, false)?.is_some()),
            None => Ok(self.regex.is_match(text)),
        }
    }

    /// The first match from that byte on.
    pub(super) fn captures_at<'t>(&self, text: &'t str, start: usize) -> QueryResult<Option<Found<'t>>> {
        match self.too_long(text.len().saturating_sub(start))? {
            Some(nfa) => Ok(steps::search(nfa, text, start, true)?.map(|slots| Found::InSteps(text, slots))),
            None => Ok(self.regex.captures_at(text, start).map(Found::AtOnce)),
        }
    }

    /// Asks before a search of so many letters; the automaton for one that is to go in steps.
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

/// The automaton that the library walks, too. `None`: it is larger than the library takes.
fn automaton(spelled: &str, flags: Flags) -> Option<NFA> {
    let syntax = syntax::Config::new()
        .nest_limit(MAX_DEPTH)
        .case_insensitive(flags.ignore_case)
        .multi_line(flags.anchors)
        .dot_matches_new_line(!flags.dots)
        .ignore_whitespace(flags.expanded);
    NFA::compiler().syntax(syntax).build(spelled).ok()
}

/// Compiles a pattern, or takes it from the row before.
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
        // A dot is any character, line ends too, unless lines count.
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

/// The pattern of `x ~ 'pattern'` in the library's spelling; `None` for one that DataFusion's own operator does not
/// take, which compiles it without our limits.
///
/// # Errors
/// 2201B for one that is none.
pub(crate) fn operator_pattern(pattern: &str) -> QueryResult<Option<String>> {
    compiled(pattern, Flags::default())?;
    let (flags, spelled) = spelled(pattern, Flags::default())?;
    // Only a dot and a negated class care for line ends; all else stays simple enough to become LIKE.
    let any = !flags.dots && spelled.contains('.');
    let letters = [(any, 's'), (flags.anchors, 'm'), (flags.ignore_case, 'i'), (flags.expanded, 'x')];
    let letters: String = letters.iter().filter(|(set, _)| *set).map(|(_, letter)| *letter).collect();
    let spelled = if letters.is_empty() { spelled } else { format!("(?{letters}){spelled}") };
    Ok(Regex::new(&spelled).is_ok().then_some(spelled))
}

/// A pattern in the library's spelling, with the options that it begins with: `***=`, `***:`, `(?in)`.
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

/// In PostgreSQL's words.
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

/// Escapes and brackets of PostgreSQL in the library's spelling; with `dots`, `[^a]` stops at line ends.
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
            // A bracket in brackets is a plain one unless it begins a class; `&&` and `--` mean nothing there.
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
