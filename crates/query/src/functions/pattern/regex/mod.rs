//! Regular expressions with PostgreSQL's flags and escapes. Back references and look-ahead are refused.

mod flags;
mod found;
pub(in crate::functions) mod lists;
mod pattern;
mod searched;
mod similar;
mod steps;

pub(crate) use pattern::operator_pattern;
pub(crate) use searched::searched;
pub(crate) use similar::similar;
pub(in crate::functions) use similar::substring_similar;

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::allowance::{check_allocation, size_of_items};
use crate::functions::sql::{Definition, Overload, define, strict};
use crate::functions::text::{may_have, size, text};
use flags::Flags;
use found::Found;
use pattern::{Pattern, compiled};
use types::DataType::{self, Boolean, Integer, Text};
use types::{Datum, ElementType};

const TEXTS: DataType = DataType::Array(ElementType::Text);

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define("regexp_match", &[strict(&[Text, Text], TEXTS, first), strict(&[Text, Text, Text], TEXTS, first)]),
    // The rows of `regexp_matches`, each as the text of an array.
    define("regexp_match_texts", &[strict(&[Text, Text], TEXTS, all), strict(&[Text, Text, Text], TEXTS, all)]),
    define("regexp_replace", REPLACE),
    define("regexp_split_to_array", &[strict(&[Text, Text], TEXTS, split), strict(&[Text, Text, Text], TEXTS, split)]),
    // In plans, these operators are DataFusion's if the pattern is constant.
    define("operator ~", &[strict(&[Text, Text], Boolean, |args| matched(args, false, false))]),
    define("operator ~*", &[strict(&[Text, Text], Boolean, |args| matched(args, true, false))]),
    define("operator !~", &[strict(&[Text, Text], Boolean, |args| matched(args, false, true))]),
    define("operator !~*", &[strict(&[Text, Text], Boolean, |args| matched(args, true, true))]),
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

/// Returns the groups of a match, or the whole match if the pattern has no groups.
fn groups(captures: &Found<'_>) -> Datum {
    let first = usize::from(captures.len() > 1);
    let items = (first..captures.len()).map(|group| match captures.get(group) {
        Some(group) => Datum::Text(group.as_str().to_owned()),
        None => Datum::Null,
    });
    Datum::Array(items.collect())
}

fn first(args: &[Datum]) -> QueryResult<Datum> {
    let flags = Flags::parse(optional(args, 2, ""), "regexp_match", false)?;
    let regex = compiled(text(args, 1)?, flags)?;
    Ok(regex.captures_at(text(args, 0)?, 0)?.map_or(Datum::Null, |captures| groups(&captures)))
}

fn all(args: &[Datum]) -> QueryResult<Datum> {
    let flags = Flags::parse(optional(args, 2, ""), "regexp_matches", true)?;
    let regex = compiled(text(args, 1)?, flags)?;
    let most = if flags.global { usize::MAX } else { 1 };
    let (mut found, mut bytes) = (Vec::new(), 0_usize);
    for captures in matches(&regex, text(args, 0)?, 0).take(most) {
        let mut shown = String::new();
        types::text::print(&TEXTS, &groups(&captures?), &mut shown);
        bytes = bytes.saturating_add(shown.len());
        found.push(Datum::Text(shown));
        if found.len().is_power_of_two() {
            check_allocation(size_of_items(2 * found.len()).saturating_add(bytes))?;
        }
    }
    Ok(Datum::Array(found))
}

/// Appends the replacement: `\1` is a group, `\&` the match, `\\` a backslash.
fn push_replacement(replacement: &str, captures: &Found<'_>, out: &mut String) {
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

/// Returns the matches from a byte offset on. An empty match may directly follow another match.
fn matches<'t>(regex: &Pattern, whole: &'t str, start: usize) -> impl Iterator<Item = QueryResult<Found<'t>>> {
    let mut next = Some(start);
    std::iter::from_fn(move || {
        let captures = match regex.captures_at(whole, next?) {
            Ok(captures) => captures?,
            Err(stopped) => {
                next = None;
                return Some(Err(stopped));
            }
        };
        let found = captures.get(0)?;
        next = match whole.get(found.end()..).and_then(|rest| rest.chars().next()) {
            _ if !found.is_empty() => Some(found.end()),
            Some(letter) => Some(found.end() + letter.len_utf8()),
            None => None,
        };
        Some(Ok(captures))
    })
}

/// Replaces the matches whose number, counted from 1, is `wanted`.
fn replaced(
    regex: &Pattern,
    whole: &str,
    replacement: &str,
    start: usize,
    wanted: impl Fn(i32) -> bool,
) -> QueryResult<Datum> {
    let mut out = String::with_capacity(whole.len());
    let mut copied = 0;
    for (captures, number) in matches(regex, whole, start).zip(1..) {
        let captures = captures?;
        let Some(found) = captures.get(0) else { continue };
        if wanted(number) {
            out.push_str(whole.get(copied..found.start()).unwrap_or_default());
            push_replacement(replacement, &captures, &mut out);
            copied = found.end();
            // Checks the capacity, which doubles as the text grows.
            may_have(out.capacity())?;
        }
    }
    out.push_str(whole.get(copied..).unwrap_or_default());
    Ok(Datum::Text(out))
}

fn replace(args: &[Datum]) -> QueryResult<Datum> {
    let flags = Flags::parse(optional(args, 3, ""), "regexp_replace", true)?;
    let regex = compiled(text(args, 1)?, flags)?;
    replaced(&regex, text(args, 0)?, text(args, 2)?, 0, |n| flags.global || n == 1)
}

fn replace_from(args: &[Datum]) -> QueryResult<Datum> {
    let start = byte_at(text(args, 0)?, number(args, 3, 1))?;
    let which = number(args, 4, 1);
    if which < 0 {
        return Err(bad_parameter("n", which));
    }
    let flags = Flags::parse(optional(args, 5, ""), "regexp_replace", false)?;
    let regex = compiled(text(args, 1)?, flags)?;
    replaced(&regex, text(args, 0)?, text(args, 2)?, start, |n| which == 0 || n == which)
}

fn bad_parameter(name: &str, value: i32) -> QueryError {
    Refusal::Argument.because(format!("invalid value for parameter \"{name}\": {value}"))
}

/// Returns the byte offset of a character, counted from 1.
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
        let captures = captures?;
        let Some(found) = captures.get(0) else { continue };
        // An empty match at either end, or directly after the previous match, does not split the text.
        if found.start() == whole.len() || found.end() == copied {
            continue;
        }
        parts.push(Datum::Text(whole.get(copied..found.start()).unwrap_or_default().to_owned()));
        copied = found.end();
        if parts.len().is_power_of_two() {
            check_allocation(size_of_items(2 * parts.len()).saturating_add(whole.len()))?;
        }
    }
    parts.push(Datum::Text(whole.get(copied..).unwrap_or_default().to_owned()));
    Ok(Datum::Array(parts))
}

fn like(args: &[Datum]) -> QueryResult<Datum> {
    let flags = Flags::parse(optional(args, 2, ""), "regexp_like", false)?;
    Ok(Datum::Bool(compiled(text(args, 1)?, flags)?.is_match(text(args, 0)?)?))
}

fn matched(args: &[Datum], ignore_case: bool, negated: bool) -> QueryResult<Datum> {
    let flags = Flags { ignore_case, ..Flags::default() };
    Ok(Datum::Bool(compiled(text(args, 1)?, flags)?.is_match(text(args, 0)?)? != negated))
}

fn count(args: &[Datum]) -> QueryResult<Datum> {
    let start = byte_at(text(args, 0)?, number(args, 2, 1))?;
    let flags = Flags::parse(optional(args, 3, ""), "regexp_count", false)?;
    let regex = compiled(text(args, 1)?, flags)?;
    let mut count = 0;
    for captures in matches(&regex, text(args, 0)?, start) {
        captures?;
        count += 1;
    }
    Ok(Datum::Int4(size(count)))
}

/// Returns the byte range of a group in the requested occurrence.
fn occurrence(args: &[Datum], function: &str, (flags, group): (&str, i32)) -> QueryResult<Option<(usize, usize)>> {
    let whole = text(args, 0)?;
    let start = byte_at(whole, number(args, 2, 1))?;
    let which = number(args, 3, 1);
    let nth =
        usize::try_from(which).ok().and_then(|which| which.checked_sub(1)).ok_or_else(|| bad_parameter("n", which))?;
    let group = usize::try_from(group).map_err(|_| bad_parameter("subexpr", group))?;
    let regex = compiled(text(args, 1)?, Flags::parse(flags, function, false)?)?;
    let mut found = matches(&regex, whole, start);
    for captures in found.by_ref().take(nth) {
        captures?;
    }
    Ok(found.next().transpose()?.and_then(|captures| captures.get(group).map(|group| (group.start(), group.end()))))
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

/// `substring(text FROM pattern)`: the first group, or the whole match if the pattern has no groups.
pub(in crate::functions) fn substring(args: &[Datum]) -> QueryResult<Datum> {
    let regex = compiled(text(args, 1)?, Flags::default())?;
    let Some(captures) = regex.captures_at(text(args, 0)?, 0)? else { return Ok(Datum::Null) };
    let found = if captures.len() > 1 { captures.get(1) } else { captures.get(0) };
    Ok(found.map_or(Datum::Null, |found| Datum::Text(found.as_str().to_owned())))
}
