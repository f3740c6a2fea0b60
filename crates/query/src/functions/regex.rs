//! Regular expressions with PostgreSQL's flags and escapes. Back references and look-ahead are refused.

use super::sql::{Definition, Overload, arguments, define, strict};
use super::text::{size, text};
use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use regex::{Captures, Regex, RegexBuilder};
use std::cell::RefCell;
use types::DataType::{self, Boolean, Integer, Text};
use types::{Datum, ElementType};

const TEXTS: DataType = DataType::Array(ElementType::Text);

pub(super) static FUNCTIONS: &[Definition] = &[
    define("regexp_match", &[strict(&[Text, Text], TEXTS, first), strict(&[Text, Text, Text], TEXTS, first)]),
    // `regexp_matches` is the set of these, each as an array's text.
    define("regexp_match_texts", &[strict(&[Text, Text], TEXTS, all), strict(&[Text, Text, Text], TEXTS, all)]),
    define("regexp_replace", REPLACE),
    define("regexp_split_to_array", &[strict(&[Text, Text], TEXTS, split), strict(&[Text, Text, Text], TEXTS, split)]),
    define("regexp_like", &[strict(&[Text, Text], Boolean, like), strict(&[Text, Text, Text], Boolean, like)]),
    define(
        "regexp_count",
        &[
            strict(&[Text, Text], Integer, count),
            strict(&[Text, Text, Integer], Integer, count),
            strict(&[Text, Text, Integer, Text], Integer, count),
        ],
    ),
    define(
        "regexp_substr",
        &[
            strict(&[Text, Text], Text, substr),
            strict(&[Text, Text, Integer], Text, substr),
            strict(&[Text, Text, Integer, Integer], Text, substr),
            strict(&[Text, Text, Integer, Integer, Text], Text, substr),
            strict(&[Text, Text, Integer, Integer, Text, Integer], Text, substr),
        ],
    ),
    define(
        "regexp_instr",
        &[
            strict(&[Text, Text], Integer, instr),
            strict(&[Text, Text, Integer], Integer, instr),
            strict(&[Text, Text, Integer, Integer], Integer, instr),
            strict(&[Text, Text, Integer, Integer, Integer], Integer, instr),
            strict(&[Text, Text, Integer, Integer, Integer, Text], Integer, instr),
            strict(&[Text, Text, Integer, Integer, Integer, Text, Integer], Integer, instr),
        ],
    ),
];

const REPLACE: &[Overload] = &[
    strict(&[Text, Text, Text], Text, replace),
    strict(&[Text, Text, Text, Text], Text, replace),
    strict(&[Text, Text, Text, Integer], Text, replace_from),
    strict(&[Text, Text, Text, Integer, Integer], Text, replace_from),
    strict(&[Text, Text, Text, Integer, Integer, Text], Text, replace_from),
];

/// What flags say.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Flags {
    global: bool,
    ignore_case: bool,
    /// Do `^` and `$` stand at the ends of lines?
    anchors: bool,
    /// Do `.` and brackets such as `[^a]` stop at line ends?
    dots: bool,
    literal: bool,
    expanded: bool,
}

impl Flags {
    fn parse(flags: &str, function: &str, global_allowed: bool) -> QueryResult<Self> {
        let mut all = Self::default();
        for flag in flags.chars() {
            match flag {
                'g' if global_allowed => all.global = true,
                'g' => {
                    let message = format!("{function}() does not support the \"global\" option");
                    return Err(Refusal::Argument.because(message));
                }
                flag if all.set(flag)? => {}
                other => {
                    let message = format!("invalid regular expression option: \"{other}\"");
                    return Err(Refusal::Argument.because(message));
                }
            }
        }
        Ok(all)
    }

    /// Sets what a letter says; false: it says nothing.
    fn set(&mut self, letter: char) -> QueryResult<bool> {
        match letter {
            'i' => self.ignore_case = true,
            'c' => self.ignore_case = false,
            'n' | 'm' => (self.anchors, self.dots) = (true, true),
            's' => (self.anchors, self.dots) = (false, false),
            'w' => (self.anchors, self.dots) = (true, false),
            'p' => (self.anchors, self.dots) = (false, true),
            'q' => self.literal = true,
            'x' => self.expanded = true,
            't' => self.expanded = false,
            'e' => {}
            'b' => return Err(QueryError::Unsupported { feature: "a basic regular expression".to_owned() }),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

thread_local! {
    /// The pattern used last: nearly always it is that of the next row too.
    static LAST: RefCell<Option<(String, Flags, Regex)>> = const { RefCell::new(None) };
}

/// Compiles a pattern, or takes it from the row before.
fn compiled(pattern: &str, flags: Flags) -> QueryResult<Regex> {
    let known = LAST.with_borrow(|last| match last {
        Some((text, own, regex)) if text == pattern && *own == flags => Some(regex.clone()),
        _ => None,
    });
    if let Some(regex) = known {
        return Ok(regex);
    }
    let (own, spelled) = spelled(pattern, flags)?;
    let regex = RegexBuilder::new(&spelled)
        .case_insensitive(own.ignore_case)
        .multi_line(own.anchors)
        // A dot is any character, line ends too, unless lines count.
        .dot_matches_new_line(!own.dots)
        .ignore_whitespace(own.expanded)
        .build()
        .map_err(|error| invalid(&error))?;
    LAST.set(Some((pattern.to_owned(), flags, regex.clone())));
    Ok(regex)
}

/// The pattern of `x ~ 'pattern'` in the library's spelling.
///
/// # Errors
/// 2201B for one that is none.
pub(crate) fn operator_pattern(pattern: &str) -> QueryResult<String> {
    compiled(pattern, Flags::default())?;
    let (flags, spelled) = spelled(pattern, Flags::default())?;
    // Only a dot and a negated class care for line ends; all else stays simple enough to become LIKE.
    let any = !flags.dots && spelled.contains('.');
    let letters = [(any, 's'), (flags.anchors, 'm'), (flags.ignore_case, 'i'), (flags.expanded, 'x')];
    let letters: String = letters.iter().filter(|(set, _)| *set).map(|(_, letter)| *letter).collect();
    Ok(if letters.is_empty() { spelled } else { format!("(?{letters}){spelled}") })
}

/// Is it a pattern?
///
/// # Errors
/// 2201B if not.
pub(crate) fn check_pattern(pattern: &str) -> QueryResult<()> {
    compiled(pattern, Flags::default()).map(|_| ())
}

/// A pattern in the library's spelling, with the options that it begins with: `***=`, `***:`, `(?in)`.
fn spelled(pattern: &str, mut flags: Flags) -> QueryResult<(Flags, String)> {
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

fn optional<'a>(args: &'a [Datum], at: usize, or: &'a str) -> &'a str {
    match args.get(at) {
        Some(Datum::Text(text)) => text,
        _ => or,
    }
}

fn number(args: &[Datum], at: usize, or: i32) -> i32 {
    match args.get(at) {
        Some(Datum::Int4(number)) => *number,
        _ => or,
    }
}

/// The groups, or the whole match if there are none.
fn groups(captures: &Captures<'_>) -> Datum {
    let all = captures.len() > 1;
    let items = captures.iter().skip(usize::from(all)).map(|group| match group {
        Some(group) => Datum::Text(group.as_str().to_owned()),
        None => Datum::Null,
    });
    Datum::Array(items.collect())
}

fn first(args: &[Datum]) -> QueryResult<Datum> {
    let flags = Flags::parse(optional(args, 2, ""), "regexp_match", false)?;
    let regex = compiled(text(args, 1)?, flags)?;
    Ok(regex.captures(text(args, 0)?).map_or(Datum::Null, |captures| groups(&captures)))
}

fn all(args: &[Datum]) -> QueryResult<Datum> {
    let flags = Flags::parse(optional(args, 2, ""), "regexp_matches", true)?;
    let regex = compiled(text(args, 1)?, flags)?;
    let most = if flags.global { usize::MAX } else { 1 };
    let matches = matches(&regex, text(args, 0)?, 0).take(most).map(|captures| {
        let mut shown = String::new();
        types::text::print(&TEXTS, &groups(&captures), &mut shown);
        Datum::Text(shown)
    });
    Ok(Datum::Array(matches.collect()))
}

/// Appends the replacement: `\1` is a group, `\&` the match, `\\` a backslash.
fn push_replacement(replacement: &str, captures: &Captures<'_>, out: &mut String) {
    let mut letters = replacement.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('&') => out.push_str(captures.get(0).map_or("", |whole| whole.as_str())),
            Some(digit @ '1'..='9') => {
                let group = digit.to_digit(10).and_then(|digit| captures.get(digit as usize));
                out.push_str(group.map_or("", |group| group.as_str()));
            }
            Some('\\') | None => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
        }
    }
}

/// The matches from that byte on. An empty one may stand right behind another.
fn matches<'t>(regex: &Regex, whole: &'t str, start: usize) -> impl Iterator<Item = Captures<'t>> {
    let mut next = Some(start);
    std::iter::from_fn(move || {
        let captures = regex.captures_at(whole, next?)?;
        let found = captures.get(0)?;
        next = match whole.get(found.end()..).and_then(|rest| rest.chars().next()) {
            _ if !found.is_empty() => Some(found.end()),
            Some(letter) => Some(found.end() + letter.len_utf8()),
            None => None,
        };
        Some(captures)
    })
}

/// Replaces the matches whose number, counted from 1, `wanted` takes.
fn replaced(regex: &Regex, whole: &str, replacement: &str, start: usize, wanted: impl Fn(i32) -> bool) -> String {
    let mut out = String::with_capacity(whole.len());
    let mut copied = 0;
    for (captures, number) in matches(regex, whole, start).zip(1..) {
        let Some(found) = captures.get(0) else { continue };
        if wanted(number) {
            out.push_str(whole.get(copied..found.start()).unwrap_or_default());
            push_replacement(replacement, &captures, &mut out);
            copied = found.end();
        }
    }
    out.push_str(whole.get(copied..).unwrap_or_default());
    out
}

fn replace(args: &[Datum]) -> QueryResult<Datum> {
    let flags = Flags::parse(optional(args, 3, ""), "regexp_replace", true)?;
    let regex = compiled(text(args, 1)?, flags)?;
    Ok(Datum::Text(replaced(&regex, text(args, 0)?, text(args, 2)?, 0, |n| flags.global || n == 1)))
}

fn replace_from(args: &[Datum]) -> QueryResult<Datum> {
    let start = byte_at(text(args, 0)?, number(args, 3, 1))?;
    let which = number(args, 4, 1);
    if which < 0 {
        return Err(bad_parameter("n", which));
    }
    let flags = Flags::parse(optional(args, 5, ""), "regexp_replace", false)?;
    let regex = compiled(text(args, 1)?, flags)?;
    Ok(Datum::Text(replaced(&regex, text(args, 0)?, text(args, 2)?, start, |n| which == 0 || n == which)))
}

fn bad_parameter(name: &str, value: i32) -> QueryError {
    Refusal::Argument.because(format!("invalid value for parameter \"{name}\": {value}"))
}

/// The byte where the letter of that number, counted from 1, begins.
fn byte_at(text: &str, start: i32) -> QueryResult<usize> {
    let letters = usize::try_from(start).ok().and_then(|start| start.checked_sub(1));
    let letters = letters.ok_or_else(|| bad_parameter("start", start))?;
    Ok(text.char_indices().nth(letters).map_or(text.len(), |(at, _)| at))
}

fn split(args: &[Datum]) -> QueryResult<Datum> {
    let flags = Flags::parse(optional(args, 2, ""), "regexp_split_to_array", false)?;
    let regex = compiled(text(args, 1)?, flags)?;
    let whole = text(args, 0)?;
    let mut parts = Vec::new();
    let mut copied = 0;
    for captures in matches(&regex, whole, 0) {
        let Some(found) = captures.get(0) else { continue };
        // An empty match at either end, or right behind the last one, parts nothing.
        if found.start() == whole.len() || found.end() == copied {
            continue;
        }
        parts.push(Datum::Text(whole.get(copied..found.start()).unwrap_or_default().to_owned()));
        copied = found.end();
    }
    parts.push(Datum::Text(whole.get(copied..).unwrap_or_default().to_owned()));
    Ok(Datum::Array(parts))
}

fn like(args: &[Datum]) -> QueryResult<Datum> {
    let flags = Flags::parse(optional(args, 2, ""), "regexp_like", false)?;
    Ok(Datum::Bool(compiled(text(args, 1)?, flags)?.is_match(text(args, 0)?)))
}

fn count(args: &[Datum]) -> QueryResult<Datum> {
    let start = byte_at(text(args, 0)?, number(args, 2, 1))?;
    let flags = Flags::parse(optional(args, 3, ""), "regexp_count", false)?;
    let regex = compiled(text(args, 1)?, flags)?;
    Ok(Datum::Int4(size(matches(&regex, text(args, 0)?, start).count())))
}

/// The wanted occurrence's group, as bytes from and to.
fn occurrence(args: &[Datum], function: &str, (flags, group): (&str, i32)) -> QueryResult<Option<(usize, usize)>> {
    let whole = text(args, 0)?;
    let start = byte_at(whole, number(args, 2, 1))?;
    let which = number(args, 3, 1);
    let nth =
        usize::try_from(which).ok().and_then(|which| which.checked_sub(1)).ok_or_else(|| bad_parameter("n", which))?;
    let group = usize::try_from(group).map_err(|_| bad_parameter("subexpr", group))?;
    let regex = compiled(text(args, 1)?, Flags::parse(flags, function, false)?)?;
    Ok(matches(&regex, whole, start)
        .nth(nth)
        .and_then(|captures| captures.get(group).map(|group| (group.start(), group.end()))))
}

fn substr(args: &[Datum]) -> QueryResult<Datum> {
    let found = occurrence(args, "regexp_substr", (optional(args, 4, ""), number(args, 5, 0)))?;
    let part = found.and_then(|(from, to)| text(args, 0).ok()?.get(from..to));
    Ok(part.map_or(Datum::Null, |part| Datum::Text(part.to_owned())))
}

fn instr(args: &[Datum]) -> QueryResult<Datum> {
    let after = match number(args, 4, 0) {
        0 => false,
        1 => true,
        other => return Err(bad_parameter("endoption", other)),
    };
    let Some((from, to)) = occurrence(args, "regexp_instr", (optional(args, 5, ""), number(args, 6, 0)))? else {
        return Ok(Datum::Int4(0));
    };
    let before = text(args, 0)?.get(..if after { to } else { from }).unwrap_or_default();
    Ok(Datum::Int4(size(before.chars().count() + 1)))
}

/// `substring(text FROM pattern)`: the first group if there is one.
pub(super) fn substring(args: &[Datum]) -> QueryResult<Datum> {
    let regex = compiled(text(args, 1)?, Flags::default())?;
    let Some(captures) = regex.captures(text(args, 0)?) else { return Ok(Datum::Null) };
    let found = if captures.len() > 1 { captures.get(1) } else { captures.get(0) };
    Ok(found.map_or(Datum::Null, |found| Datum::Text(found.as_str().to_owned())))
}

/// `substring(text SIMILAR pattern ESCAPE escape)`: what stands between the two `escape "` marks.
pub(super) fn substring_similar(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(whole), Datum::Text(pattern), Datum::Text(escape)]);
    let mut letters = escape.chars();
    let (Some(escape), None) = (letters.next(), letters.next()) else {
        return Err(Refusal::Escape.because("invalid escape string"));
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
            // The second separator may be left out.
            let part = |part: &str| similar(part, Some(escape));
            format!("^(?:{})({})$", part(before), part(inside))
        }
        _ => {
            let message = "SQL regular expression may not contain more than two escape-double-quote separators";
            return Err(Refusal::Separators.because(message));
        }
    };
    let regex = compiled(&regex, Flags::default())?;
    let found = regex.captures(whole).and_then(|captures| captures.get(1).map(|group| group.as_str().to_owned()));
    Ok(found.map_or(Datum::Null, Datum::Text))
}

/// A SIMILAR TO pattern as a regular expression, without anchors: `%` and `_` are LIKE's; `|`, `*`, `+`, `?`, braces,
/// brackets and parentheses those of regular expressions.
pub(crate) fn similar(pattern: &str, escape: Option<char>) -> String {
    let mut out = String::new();
    let mut letters = pattern.chars();
    let mut in_brackets = false;
    while let Some(letter) = letters.next() {
        match letter {
            letter if Some(letter) == escape => {
                let escaped = letters.next().map(String::from).unwrap_or_default();
                out.push_str(&regex::escape(&escaped));
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn patterns_keep_their_meaning() {
        assert_eq!(similar("a%(b|c)_.d", Some('\\')), r"a.*(?:b|c).\.d");
        assert_eq!(translated(r"\mfoo\M[]a[:alpha:]]", false).unwrap(), r"\b{start}foo\b{end}[\]a[:alpha:]]");
        assert!(matches!(translated(r"(a)\1", false), Err(QueryError::Unsupported { .. })));
    }
}
