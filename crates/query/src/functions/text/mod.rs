//! Functions of text and bytes.

pub(super) mod bytes;
pub(super) mod format;
pub(super) mod levenshtein;
pub(super) mod parse_ident;
pub(super) mod parts;

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::PATTERN_ENDS;
use crate::functions::WITH_TIES;
use crate::functions::allowance::{check_allocation, size_of_items};
use crate::functions::sql::{Definition, Overload, arguments, define, lenient, strict, wrong};
use crate::functions::text::parts::{OVERLAY, SUBSTR, SUBSTRING};
use builtins::bodies::texts;
use std::collections::HashMap;
use types::DataType::{self, BigInt, Boolean, Bytea, Integer, Text};
use types::{Datum, ElementType};

const TEXTS: DataType = DataType::Array(ElementType::Text);

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define(PATTERN_ENDS, &[strict(&[Boolean], Boolean, pattern_ends)]),
    define(WITH_TIES, &[strict(&[BigInt], BigInt, |args| args.first().cloned().ok_or_else(|| wrong(args)))]),
    define("substr", SUBSTR),
    define("substring", SUBSTRING),
    define("left", &[strict(&[Text, Integer], Text, |args| Ok(texts::left(args)?))]),
    define("right", &[strict(&[Text, Integer], Text, |args| Ok(texts::right(args)?))]),
    define("lpad", PAD_LEFT),
    define("rpad", PAD_RIGHT),
    define("length", LENGTH),
    define("char_length", LENGTH),
    define("character_length", LENGTH),
    define("octet_length", &[strict(&[Text], Integer, octets), strict(&[Bytea], Integer, octets)]).shown(),
    define("bit_length", &[strict(&[Text], Integer, bits), strict(&[Bytea], Integer, bits)]),
    define("position", POSITION),
    define("strpos", POSITION),
    // Phoenix's name.
    define("instr", POSITION),
    define("overlay", OVERLAY),
    define("repeat", &[strict(&[Text, Integer], Text, repeat)]),
    define("reverse", &[strict(&[Text], Text, |args| map(args, |text| text.chars().rev().collect()))]),
    define("initcap", &[strict(&[Text], Text, |args| map(args, initcap))]),
    define("replace", &[strict(&[Text, Text, Text], Text, replace)]),
    define("translate", &[strict(&[Text, Text, Text], Text, translate)]),
    define("split_part", &[strict(&[Text, Text, Integer], Text, |args| Ok(texts::split_part(args)?))]),
    define(
        "ascii",
        &[strict(&[Text], Integer, |args| {
            Ok(Datum::Int4(text(args, 0)?.chars().next().map_or(0, |letter| u32::from(letter).cast_signed())))
        })],
    ),
    define("chr", &[strict(&[Integer], Text, chr)]),
    define(
        "to_hex",
        &[
            strict(&[BigInt], Text, |args| {
                arguments!(args, [Datum::Int8(n)]);
                Ok(Datum::Text(format!("{n:x}")))
            }),
            strict(&[Integer], Text, |args| {
                arguments!(args, [Datum::Int4(n)]);
                Ok(Datum::Text(format!("{n:x}")))
            }),
        ],
    ),
    define("starts_with", STARTS_WITH),
    define(
        "btrim",
        &[
            strict(&[Text], Text, |args| Ok(texts::trimmed(args, true, true)?)),
            strict(&[Text, Text], Text, |args| Ok(texts::trimmed(args, true, true)?)),
            strict(&[Bytea, Bytea], Bytea, |args| Ok(texts::trimmed(args, true, true)?)),
        ],
    ),
    define(
        "ltrim",
        &[
            strict(&[Text], Text, |args| Ok(texts::trimmed(args, true, false)?)),
            strict(&[Text, Text], Text, |args| Ok(texts::trimmed(args, true, false)?)),
            strict(&[Bytea, Bytea], Bytea, |args| Ok(texts::trimmed(args, true, false)?)),
        ],
    ),
    define(
        "rtrim",
        &[
            strict(&[Text], Text, |args| Ok(texts::trimmed(args, false, true)?)),
            strict(&[Text, Text], Text, |args| Ok(texts::trimmed(args, false, true)?)),
            strict(&[Bytea, Bytea], Bytea, |args| Ok(texts::trimmed(args, false, true)?)),
        ],
    ),
    define("unistr", &[strict(&[Text], Text, unistr)]),
    define(
        "string_to_array",
        &[lenient(&[Text, Text], TEXTS, string_to_array), lenient(&[Text, Text, Text], TEXTS, string_to_array)],
    ),
];

const PAD_LEFT: &[Overload] = &[
    strict(&[Text, Integer], Text, |args| pad(args, true)),
    strict(&[Text, Integer, Text], Text, |args| pad(args, true)),
];

const PAD_RIGHT: &[Overload] = &[
    strict(&[Text, Integer], Text, |args| pad(args, false)),
    strict(&[Text, Integer, Text], Text, |args| pad(args, false)),
];

const LENGTH: &[Overload] = &[
    strict(&[Text], Integer, |args| Ok(Datum::Int4(size(text(args, 0)?.chars().count())))),
    strict(&[Bytea], Integer, octets),
];

pub(in crate::functions) const STARTS_WITH: &[Overload] =
    &[strict(&[Text, Text], Boolean, |args| Ok(texts::starts_with(args)?))];

const POSITION: &[Overload] = &[
    strict(&[Text, Text], Integer, |args| Ok(texts::position(args)?)),
    strict(&[Bytea, Bytea], Integer, |args| Ok(texts::position(args)?)),
];

/// Returns the argument at that position, which must be a text.
pub(in crate::functions) fn text(args: &[Datum], at: usize) -> QueryResult<&str> {
    match args.get(at) {
        Some(Datum::Text(text)) => Ok(text),
        _ => Err(wrong(args)),
    }
}

fn map(args: &[Datum], op: impl Fn(&str) -> String) -> QueryResult<Datum> {
    Ok(Datum::Text(op(text(args, 0)?)))
}

pub(in crate::functions) fn size(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// Decodes `\0441`, `\+000061`, `\u0061`, `\U00000061` and `\\`.
fn unistr(args: &[Datum]) -> QueryResult<Datum> {
    let invalid = || QueryError::Invalid { message: "invalid Unicode escape".to_owned() };
    let mut out = String::new();
    let mut rest = text(args, 0)?;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let (skipped, digits) = match behind.chars().next() {
            Some('\\') => {
                out.push('\\');
                rest = behind.get(1..).unwrap_or_default();
                continue;
            }
            Some('+') => (1, 6),
            Some('u') => (1, 4),
            Some('U') => (1, 8),
            _ => (0, 4),
        };
        let code = behind.get(skipped..skipped + digits).ok_or_else(invalid)?;
        let letter = u32::from_str_radix(code, 16).ok().and_then(char::from_u32).ok_or_else(invalid)?;
        out.push(letter);
        rest = behind.get(skipped + digits..).unwrap_or_default();
    }
    out.push_str(rest);
    Ok(Datum::Text(out))
}

fn octets(args: &[Datum]) -> QueryResult<Datum> {
    match args {
        [Datum::Text(text)] => Ok(Datum::Int4(size(text.len()))),
        [Datum::Bytes(bytes)] => Ok(Datum::Int4(size(bytes.len()))),
        other => Err(wrong(other)),
    }
}

fn bits(args: &[Datum]) -> QueryResult<Datum> {
    match octets(args)? {
        Datum::Int4(count) => Ok(Datum::Int4(count.saturating_mul(8))),
        other => Ok(other),
    }
}

/// Maximum bytes of a text that a function makes: a mistyped count must not exhaust the memory.
const MOST_BYTES: usize = 256 << 20;

/// Checks whether a function may make a text of so many bytes.
///
/// # Errors
/// 54000 if it exceeds the maximum, 53200 if there is no memory for it.
pub(in crate::functions) fn may_have(bytes: usize) -> QueryResult<()> {
    if bytes > MOST_BYTES {
        return Err(Refusal::Size.because("requested length too large"));
    }
    check_allocation(bytes)
}

fn pad(args: &[Datum], in_front: bool) -> QueryResult<Datum> {
    let (text, length, fill) = match args {
        [Datum::Text(text), Datum::Int4(length)] => (text, *length, " "),
        [Datum::Text(text), Datum::Int4(length), Datum::Text(fill)] => (text, *length, fill.as_str()),
        other => return Err(wrong(other)),
    };
    let length = usize::try_from(length).unwrap_or(0);
    let own = text.chars().count();
    if own >= length || fill.is_empty() {
        return Ok(Datum::Text(text.chars().take(length).collect()));
    }
    may_have(length.saturating_mul(4))?;
    let filling: String = fill.chars().cycle().take(length - own).collect();
    Ok(Datum::Text(if in_front { filling + text } else { format!("{text}{filling}") }))
}

fn repeat(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(text), Datum::Int4(count)]);
    let count = usize::try_from(*count).unwrap_or(0);
    may_have(text.len().saturating_mul(count))?;
    Ok(Datum::Text(text.repeat(count)))
}

fn initcap(text: &str) -> String {
    let mut inside = false;
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if inside {
            out.extend(letter.to_lowercase());
        } else {
            out.extend(letter.to_uppercase());
        }
        inside = letter.is_alphanumeric();
    }
    out
}

fn replace(args: &[Datum]) -> QueryResult<Datum> {
    let (whole, from, to) = (text(args, 0)?, text(args, 1)?, text(args, 2)?);
    if from.is_empty() {
        return Ok(Datum::Text(whole.to_owned()));
    }
    if to.len() > from.len() {
        let grown = whole.matches(from).count().saturating_mul(to.len() - from.len());
        may_have(whole.len().saturating_add(grown))?;
    }
    Ok(Datum::Text(whole.replace(from, to)))
}

fn translate(args: &[Datum]) -> QueryResult<Datum> {
    let (whole, from, to) = (text(args, 0)?, text(args, 1)?, text(args, 2)?);
    let mut others = to.chars();
    let mut changed: HashMap<char, Option<char>> = HashMap::new();
    for letter in from.chars() {
        let other = others.next();
        // The first of duplicate characters counts.
        changed.entry(letter).or_insert(other);
    }
    let out = whole.chars().filter_map(|letter| changed.get(&letter).copied().unwrap_or(Some(letter)));
    Ok(Datum::Text(out.collect()))
}

fn chr(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Int4(code)]);
    if *code == 0 {
        return Err(Refusal::Size.because("null character not permitted"));
    }
    if *code < 0 {
        return Err(Refusal::Argument.because("character number must be positive"));
    }
    let letter = char::from_u32(code.unsigned_abs());
    letter
        .map(|letter| Datum::Text(letter.to_string()))
        .ok_or_else(|| Refusal::Size.because(format!("requested character too large for encoding: {code}")))
}

fn string_to_array(args: &[Datum]) -> QueryResult<Datum> {
    let Some(Datum::Text(text)) = args.first() else { return Ok(Datum::Null) };
    let null = args.get(2);
    let item = |part: &str| match null {
        Some(Datum::Text(null)) if null == part => Datum::Null,
        _ => Datum::Text(part.to_owned()),
    };
    if text.is_empty() {
        return Ok(Datum::Array(Vec::new()));
    }
    let parts = match args.get(1) {
        Some(Datum::Null) => text.len(),
        Some(Datum::Text(separator)) if !separator.is_empty() => text.matches(separator.as_str()).count() + 1,
        _ => 1,
    };
    check_allocation(size_of_items(parts).saturating_add(text.len()))?;
    Ok(Datum::Array(match args.get(1) {
        // Each character is an item.
        Some(Datum::Null) => text.chars().map(|letter| item(letter.encode_utf8(&mut [0; 4]))).collect(),
        Some(Datum::Text(separator)) if separator.is_empty() => vec![item(text)],
        Some(Datum::Text(separator)) => text.split(separator.as_str()).map(item).collect(),
        _ => return Err(wrong(args)),
    }))
}

/// Fails if the pattern ends with its escape character and the text does not end there.
fn pattern_ends(args: &[Datum]) -> QueryResult<Datum> {
    match args {
        [Datum::Bool(false)] => Ok(Datum::Bool(false)),
        [Datum::Bool(true)] => Err(Refusal::Escape.because("LIKE pattern must not end with escape character")),
        other => Err(wrong(other)),
    }
}
