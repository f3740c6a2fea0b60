//! Functions of text and bytes.

use super::sql::{
    Argument, Chosen, Definition, Overload, arguments, define, define_rule, lenient, strict, text_of, wrong,
};
use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use types::DataType::{self, BigInt, Boolean, Bytea, Integer, Text};
use types::{Datum, ElementType};

const TEXTS: DataType = DataType::Array(ElementType::Text);

pub(super) static FUNCTIONS: &[Definition] = &[
    define("substr", SUBSTR),
    define("substring", SUBSTRING),
    define("left", &[strict(&[Text, Integer], Text, left)]),
    define("right", &[strict(&[Text, Integer], Text, right)]),
    define("lpad", PAD_LEFT),
    define("rpad", PAD_RIGHT),
    define("length", LENGTH),
    define("char_length", LENGTH),
    define("character_length", LENGTH),
    define("octet_length", &[strict(&[Text], Integer, octets), strict(&[Bytea], Integer, octets)]),
    define("bit_length", &[strict(&[Text], Integer, bits), strict(&[Bytea], Integer, bits)]),
    define("position", POSITION),
    define(
        "strpos",
        &[strict(&[Text, Text], Integer, |args| {
            arguments!(args, [text, part]);
            position(&[part.clone(), text.clone()])
        })],
    ),
    // Phoenix's name.
    define(
        "instr",
        &[strict(&[Text, Text], Integer, |args| {
            arguments!(args, [text, part]);
            position(&[part.clone(), text.clone()])
        })],
    ),
    define("overlay", OVERLAY),
    define("repeat", &[strict(&[Text, Integer], Text, repeat)]),
    define("reverse", &[strict(&[Text], Text, |args| map(args, |text| text.chars().rev().collect()))]),
    define("initcap", &[strict(&[Text], Text, |args| map(args, initcap))]),
    define("replace", &[strict(&[Text, Text, Text], Text, replace)]),
    define("translate", &[strict(&[Text, Text, Text], Text, translate)]),
    define("split_part", &[strict(&[Text, Text, Integer], Text, split_part)]),
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
    define("quote_ident", &[strict(&[Text], Text, |args| map(args, |text| types::ident::quote(text).into_owned()))]),
    define_rule("quote_literal", |args| {
        any_arguments(args, 1, 1, true, |args| Ok(Datum::Text(quoted(&text_of(one(args)?)?))))
    }),
    define_rule("quote_nullable", |args| {
        any_arguments(args, 1, 1, false, |args| match one(args)? {
            Datum::Null => Ok(Datum::Text("NULL".to_owned())),
            value => Ok(Datum::Text(quoted(&text_of(value)?))),
        })
    }),
    define_rule("concat", |args| any_arguments(args, 1, usize::MAX, false, concat)),
    define_rule("concat_ws", |args| any_arguments(args, 2, usize::MAX, false, concat_ws)),
    define_rule("format", |args| any_arguments(args, 1, usize::MAX, false, super::format_text::format)),
    define("encode", &[strict(&[Bytea, Text], Text, encode)]),
    define("decode", &[strict(&[Text, Text], Bytea, decode)]),
    define(
        "convert_to",
        &[strict(&[Text, Text], Bytea, |args| {
            utf8_only(args)?;
            Ok(Datum::Bytes(text(args, 0)?.as_bytes().to_vec()))
        })],
    ),
    define(
        "convert_from",
        &[strict(&[Bytea, Text], Text, |args| {
            utf8_only(args)?;
            arguments!(args, [Datum::Bytes(bytes), _]);
            let text = String::from_utf8(bytes.clone());
            text.map(Datum::Text).map_err(|error| {
                let at = error.utf8_error().valid_up_to();
                let byte = bytes.get(at).copied().unwrap_or_default();
                Refusal::Encoding.because(format!("invalid byte sequence for encoding \"UTF8\": 0x{byte:02x}"))
            })
        })],
    ),
    define(
        "get_byte",
        &[strict(&[Bytea, Integer], Integer, |args| {
            arguments!(args, [Datum::Bytes(bytes), Datum::Int4(at)]);
            let byte =
                usize::try_from(*at).ok().and_then(|at| bytes.get(at)).ok_or_else(|| beyond(*at, bytes.len()))?;
            Ok(Datum::Int4(i32::from(*byte)))
        })],
    ),
    define(
        "set_byte",
        &[strict(&[Bytea, Integer, Integer], Bytea, |args| {
            arguments!(args, [Datum::Bytes(bytes), Datum::Int4(at), Datum::Int4(value)]);
            let mut changed = bytes.clone();
            let byte = usize::try_from(*at).ok().and_then(|at| changed.get_mut(at));
            *byte.ok_or_else(|| beyond(*at, bytes.len()))? = *value as u8;
            Ok(Datum::Bytes(changed))
        })],
    ),
    define(
        "btrim",
        &[
            strict(&[Text], Text, |args| trimmed(args, true, true)),
            strict(&[Text, Text], Text, |args| trimmed(args, true, true)),
            strict(&[Bytea, Bytea], Bytea, |args| trimmed(args, true, true)),
        ],
    ),
    define(
        "ltrim",
        &[
            strict(&[Text], Text, |args| trimmed(args, true, false)),
            strict(&[Text, Text], Text, |args| trimmed(args, true, false)),
            strict(&[Bytea, Bytea], Bytea, |args| trimmed(args, true, false)),
        ],
    ),
    define(
        "rtrim",
        &[
            strict(&[Text], Text, |args| trimmed(args, false, true)),
            strict(&[Text, Text], Text, |args| trimmed(args, false, true)),
            strict(&[Bytea, Bytea], Bytea, |args| trimmed(args, false, true)),
        ],
    ),
    define_rule("num_nulls", |args| {
        counted(args, |args| Ok(Datum::Int4(size(args.iter().filter(|v| v.is_null()).count()))))
    }),
    define_rule("num_nonnulls", |args| {
        counted(args, |args| Ok(Datum::Int4(size(args.iter().filter(|v| !v.is_null()).count()))))
    }),
    define(
        "bit_count",
        &[strict(&[Bytea], BigInt, |args| {
            arguments!(args, [Datum::Bytes(bytes)]);
            Ok(Datum::Int8(bytes.iter().map(|byte| i64::from(byte.count_ones())).sum()))
        })],
    ),
    define(
        "get_bit",
        &[strict(&[Bytea, BigInt], Integer, |args| {
            arguments!(args, [Datum::Bytes(bytes), Datum::Int8(at)]);
            let byte = usize::try_from(*at / 8).ok().filter(|_| *at >= 0).and_then(|byte| bytes.get(byte));
            let byte = byte.ok_or_else(|| bit_beyond(*at, bytes.len()))?;
            Ok(Datum::Int4(i32::from(byte >> (at % 8) & 1)))
        })],
    ),
    define(
        "set_bit",
        &[strict(&[Bytea, BigInt, Integer], Bytea, |args| {
            arguments!(args, [Datum::Bytes(bytes), Datum::Int8(at), Datum::Int4(bit)]);
            if !matches!(bit, 0 | 1) {
                return Err(Refusal::Argument.because("new bit must be 0 or 1"));
            }
            let mut changed = bytes.clone();
            let byte = usize::try_from(*at / 8).ok().filter(|_| *at >= 0).and_then(|byte| changed.get_mut(byte));
            let byte = byte.ok_or_else(|| bit_beyond(*at, bytes.len()))?;
            *byte = *byte & !(1 << (at % 8)) | ((*bit as u8) << (at % 8));
            Ok(Datum::Bytes(changed))
        })],
    ),
    define("unistr", &[strict(&[Text], Text, unistr)]),
    define(
        "string_to_array",
        &[lenient(&[Text, Text], TEXTS, string_to_array), lenient(&[Text, Text, Text], TEXTS, string_to_array)],
    ),
];

const SUBSTR: &[Overload] = &[
    strict(&[Text, Integer], Text, substring),
    strict(&[Text, Integer, Integer], Text, substring),
    strict(&[Bytea, Integer], Bytea, substring),
    strict(&[Bytea, Integer, Integer], Bytea, substring),
];

const SUBSTRING: &[Overload] = &[
    strict(&[Text, Integer], Text, substring),
    strict(&[Text, Integer, Integer], Text, substring),
    strict(&[Bytea, Integer], Bytea, substring),
    strict(&[Bytea, Integer, Integer], Bytea, substring),
    strict(&[Text, Text], Text, super::regex::substring),
    strict(&[Text, Text, Text], Text, super::regex::substring_similar),
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

const POSITION: &[Overload] = &[strict(&[Text, Text], Integer, position), strict(&[Bytea, Bytea], Integer, position)];

const OVERLAY: &[Overload] = &[
    strict(&[Text, Text, Integer], Text, overlay),
    strict(&[Text, Text, Integer, Integer], Text, overlay),
    strict(&[Bytea, Bytea, Integer], Bytea, overlay),
    strict(&[Bytea, Bytea, Integer, Integer], Bytea, overlay),
];

pub(super) const STARTS_WITH: &[Overload] =
    &[strict(&[Text, Text], Boolean, |args| Ok(Datum::Bool(text(args, 0)?.starts_with(text(args, 1)?))))];

/// The text at that place.
pub(super) fn text(args: &[Datum], at: usize) -> QueryResult<&str> {
    match args.get(at) {
        Some(Datum::Text(text)) => Ok(text),
        _ => Err(wrong(args)),
    }
}

fn one(args: &[Datum]) -> QueryResult<&Datum> {
    args.first().ok_or_else(|| wrong(args))
}

fn map(args: &[Datum], op: impl Fn(&str) -> String) -> QueryResult<Datum> {
    Ok(Datum::Text(op(text(args, 0)?)))
}

pub(super) fn size(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// Without letters of the second argument (blanks, if there is none) at the wanted ends.
fn trimmed(args: &[Datum], front: bool, back: bool) -> QueryResult<Datum> {
    if let [Datum::Bytes(bytes), Datum::Bytes(set)] = args {
        let kept = |byte: &u8| !set.contains(byte);
        let start = if front { bytes.iter().position(kept).unwrap_or(bytes.len()) } else { 0 };
        let end = if back { bytes.iter().rposition(kept).map_or(0, |at| at + 1) } else { bytes.len() };
        return Ok(Datum::Bytes(bytes.get(start..end).unwrap_or_default().to_vec()));
    }
    let set = if args.len() > 1 { text(args, 1)? } else { " " };
    let drop = |letter: char| set.contains(letter);
    let mut rest = text(args, 0)?;
    if front {
        rest = rest.trim_start_matches(drop);
    }
    if back {
        rest = rest.trim_end_matches(drop);
    }
    Ok(Datum::Text(rest.to_owned()))
}

/// Functions that count their arguments.
fn counted(args: &[Argument], body: super::sql::Body) -> Option<Chosen> {
    any_arguments(args, 1, usize::MAX, false, body).map(|chosen| Chosen { returns: Integer, ..chosen })
}

fn bit_beyond(at: i64, length: usize) -> QueryError {
    Refusal::Index.because(format!("index {at} out of valid range, 0..{}", size(length) * 8 - 1))
}

/// `\\0441`, `\\+000061`, `\\u0061`, `\\U00000061` and `\\\\`.
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

/// Functions of anything: arguments stay as they are, unknown ones are text.
fn any_arguments(args: &[Argument], least: usize, most: usize, strict: bool, body: super::sql::Body) -> Option<Chosen> {
    let types = args.iter().map(|arg| match arg {
        Argument::Unknown => Text,
        Argument::Known(ty) => *ty,
    });
    (least..=most).contains(&args.len()).then(|| Chosen { types: types.collect(), returns: Text, strict, body })
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

/// First and one past the last of `count` items from `start`, both counted from 0.
fn window(start: i32, count: Option<i32>) -> QueryResult<(usize, usize)> {
    let first = i64::from(start) - 1;
    let end = match count {
        Some(count) if count < 0 => return Err(Refusal::Substring.because("negative substring length not allowed")),
        Some(count) => first + i64::from(count),
        None => i64::MAX,
    };
    Ok((usize::try_from(first.max(0)).unwrap_or(0), usize::try_from(end.max(0)).unwrap_or(usize::MAX)))
}

fn substring(args: &[Datum]) -> QueryResult<Datum> {
    let (value, start, count) = match args {
        [value, Datum::Int4(start)] => (value, *start, None),
        [value, Datum::Int4(start), Datum::Int4(count)] => (value, *start, Some(*count)),
        other => return Err(wrong(other)),
    };
    let (first, end) = window(start, count)?;
    let count = end.saturating_sub(first);
    match value {
        Datum::Text(text) => Ok(Datum::Text(text.chars().skip(first).take(count).collect())),
        Datum::Bytes(bytes) => Ok(Datum::Bytes(bytes.iter().skip(first).take(count).copied().collect())),
        _ => Err(wrong(args)),
    }
}

/// The first letters, or all but the last.
fn left(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(text), Datum::Int4(count)]);
    let kept = match usize::try_from(*count) {
        Ok(count) => count,
        Err(_) => text.chars().count().saturating_sub(count.unsigned_abs() as usize),
    };
    Ok(Datum::Text(text.chars().take(kept).collect()))
}

/// The last letters, or all but the first.
fn right(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(text), Datum::Int4(count)]);
    let skipped = match usize::try_from(*count) {
        Ok(count) => text.chars().count().saturating_sub(count),
        Err(_) => count.unsigned_abs() as usize,
    };
    Ok(Datum::Text(text.chars().skip(skipped).collect()))
}

/// Most bytes of a text that a function makes: a mistyped count must not take all memory.
const MOST_BYTES: usize = 256 << 20;

fn too_large() -> QueryError {
    Refusal::Size.because("requested length too large")
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
    if length.saturating_mul(4) > MOST_BYTES {
        return Err(too_large());
    }
    let filling: String = fill.chars().cycle().take(length - own).collect();
    Ok(Datum::Text(if in_front { filling + text } else { format!("{text}{filling}") }))
}

/// `position(part IN text)`, counted from 1.
fn position(args: &[Datum]) -> QueryResult<Datum> {
    let found = match args {
        [Datum::Text(part), Datum::Text(text)] => {
            text.find(part.as_str()).and_then(|at| text.get(..at)).map(|before| before.chars().count() + 1)
        }
        [Datum::Bytes(part), Datum::Bytes(_)] if part.is_empty() => Some(1),
        [Datum::Bytes(part), Datum::Bytes(bytes)] => {
            bytes.windows(part.len()).position(|window| window == part.as_slice()).map(|at| at + 1)
        }
        other => return Err(wrong(other)),
    };
    Ok(Datum::Int4(size(found.unwrap_or(0))))
}

fn overlay(args: &[Datum]) -> QueryResult<Datum> {
    let (value, new, start) = match args {
        [value, new, Datum::Int4(start), ..] => (value, new, *start),
        other => return Err(wrong(other)),
    };
    let length = match (args.get(3), new) {
        (Some(Datum::Int4(length)), _) => *length,
        (_, Datum::Text(new)) => size(new.chars().count()),
        (_, Datum::Bytes(new)) => size(new.len()),
        _ => return Err(wrong(args)),
    };
    if start <= 0 {
        return Err(Refusal::Substring.because("negative substring length not allowed"));
    }
    let before = usize::try_from(start - 1).unwrap_or(0);
    let after = usize::try_from(i64::from(start) - 1 + i64::from(length)).unwrap_or(0);
    match (value, new) {
        (Datum::Text(text), Datum::Text(new)) => {
            let mut out: String = text.chars().take(before).collect();
            out.push_str(new);
            out.extend(text.chars().skip(after));
            Ok(Datum::Text(out))
        }
        (Datum::Bytes(bytes), Datum::Bytes(new)) => {
            let head = bytes.iter().take(before);
            Ok(Datum::Bytes(head.chain(new).chain(bytes.iter().skip(after)).copied().collect()))
        }
        _ => Err(wrong(args)),
    }
}

fn repeat(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(text), Datum::Int4(count)]);
    let count = usize::try_from(*count).unwrap_or(0);
    if text.len().saturating_mul(count) > MOST_BYTES {
        return Err(too_large());
    }
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
    Ok(Datum::Text(if from.is_empty() { whole.to_owned() } else { whole.replace(from, to) }))
}

fn translate(args: &[Datum]) -> QueryResult<Datum> {
    let (whole, from, to) = (text(args, 0)?, text(args, 1)?, text(args, 2)?);
    let to: Vec<char> = to.chars().collect();
    let out = whole.chars().filter_map(|letter| match from.chars().position(|other| other == letter) {
        Some(at) => to.get(at).copied(),
        None => Some(letter),
    });
    Ok(Datum::Text(out.collect()))
}

fn split_part(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Text(text), Datum::Text(separator), Datum::Int4(number)]);
    if *number == 0 {
        return Err(Refusal::Argument.because("field position must not be zero"));
    }
    let parts: Vec<&str> = if separator.is_empty() { vec![text] } else { text.split(separator.as_str()).collect() };
    let distance = number.unsigned_abs() as usize;
    let at = if *number > 0 { distance.checked_sub(1) } else { parts.len().checked_sub(distance) };
    Ok(Datum::Text(at.and_then(|at| parts.get(at)).copied().unwrap_or_default().to_owned()))
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

/// `'it''s'`; with a backslash inside it begins with E.
pub(super) fn quoted(text: &str) -> String {
    let inner = text.replace('\'', "''");
    if inner.contains('\\') { format!("E'{}'", inner.replace('\\', "\\\\")) } else { format!("'{inner}'") }
}

/// A value as `concat` shows it: as it is printed, so a boolean is `t`.
pub(super) fn shown(value: &Datum) -> String {
    let mut out = String::new();
    types::text::print(&Text, value, &mut out);
    out
}

fn concat(args: &[Datum]) -> QueryResult<Datum> {
    Ok(Datum::Text(args.iter().filter(|value| !value.is_null()).map(shown).collect()))
}

fn concat_ws(args: &[Datum]) -> QueryResult<Datum> {
    match args.split_first() {
        Some((Datum::Null, _)) => Ok(Datum::Null),
        Some((separator, values)) => {
            let values: Vec<String> = values.iter().filter(|value| !value.is_null()).map(shown).collect();
            Ok(Datum::Text(values.join(&shown(separator))))
        }
        None => Err(wrong(args)),
    }
}

fn utf8_only(args: &[Datum]) -> QueryResult<()> {
    let name = text(args, 1)?;
    if matches!(name.to_ascii_lowercase().as_str(), "utf8" | "utf-8" | "unicode") {
        return Ok(());
    }
    Err(QueryError::Unsupported { feature: format!("encoding \"{name}\"") })
}

fn beyond(at: i32, length: usize) -> QueryError {
    Refusal::Index.because(format!("index {at} out of valid range, 0..{}", size(length) - 1))
}

fn unknown_encoding(name: &str) -> QueryError {
    Refusal::Argument.because(format!("unrecognized encoding: \"{name}\""))
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn encode(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Bytes(bytes), Datum::Text(format)]);
    Ok(Datum::Text(match format.to_ascii_lowercase().as_str() {
        "hex" => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        "base64" => to_base64(bytes),
        "escape" => bytes
            .iter()
            .map(|byte| match byte {
                0 | 0x80.. => format!("\\{byte:03o}"),
                b'\\' => "\\\\".to_owned(),
                byte => char::from(*byte).to_string(),
            })
            .collect(),
        _ => return Err(unknown_encoding(format)),
    }))
}

/// In lines of 76 letters, as mail has them.
fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut column = 0;
    for group in bytes.chunks(3) {
        if column == 76 {
            out.push('\n');
            column = 0;
        }
        let whole = group.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = BASE64.get((whole >> (18 - 6 * place) & 63) as usize).copied().unwrap_or(b'=');
            out.push(if place <= group.len() { char::from(letter) } else { '=' });
        }
        column += 4;
    }
    out
}

pub(super) fn decode(args: &[Datum]) -> QueryResult<Datum> {
    let (input, format) = (text(args, 0)?, text(args, 1)?);
    Ok(Datum::Bytes(match format.to_ascii_lowercase().as_str() {
        "hex" => from_hex(input)?,
        "base64" => from_base64(input)?,
        "escape" => match types::text::parse(&Bytea, input)? {
            Datum::Bytes(bytes) => bytes,
            other => return Err(wrong(&[other])),
        },
        _ => return Err(unknown_encoding(format)),
    }))
}

fn from_hex(input: &str) -> QueryResult<Vec<u8>> {
    let mut digits = Vec::new();
    for letter in input.chars().filter(|letter| !letter.is_ascii_whitespace()) {
        let bad = || Refusal::Argument.because(format!("invalid hexadecimal digit: \"{letter}\""));
        digits.push(letter.to_digit(16).ok_or_else(bad)? as u8);
    }
    if digits.len() % 2 != 0 {
        return Err(Refusal::Argument.because("invalid hexadecimal data: odd number of digits"));
    }
    Ok(digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}

fn from_base64(input: &str) -> QueryResult<Vec<u8>> {
    let (mut out, mut group, mut count, mut ended) = (Vec::new(), 0_u32, 0, 0);
    for letter in input.chars().filter(|letter| !letter.is_ascii_whitespace()) {
        let digit = BASE64.iter().position(|other| char::from(*other) == letter);
        match digit {
            Some(digit) if ended == 0 => group = group << 6 | digit as u32,
            None if letter == '=' && count >= 2 => {
                group <<= 6;
                ended += 1;
            }
            _ => {
                let message = format!("invalid symbol \"{letter}\" found while decoding base64 sequence");
                return Err(Refusal::Argument.because(message));
            }
        }
        count += 1;
        if count == 4 {
            out.extend(group.to_be_bytes().into_iter().skip(1).take(3 - ended));
            (group, count) = (0, 0);
        }
    }
    if count != 0 {
        return Err(Refusal::Argument.because("invalid base64 end sequence"));
    }
    Ok(out)
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
    Ok(Datum::Array(match args.get(1) {
        // Every letter by itself.
        Some(Datum::Null) => text.chars().map(|letter| item(letter.encode_utf8(&mut [0; 4]))).collect(),
        Some(Datum::Text(separator)) if separator.is_empty() => vec![item(text)],
        Some(Datum::Text(separator)) => text.split(separator.as_str()).map(item).collect(),
        _ => return Err(wrong(args)),
    }))
}
