//! Functions of bytes: encodings, single bytes and bits.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::sql::{Definition, arguments, define, strict, wrong};
use crate::functions::text::{size, text};
use types::DataType::{BigInt, Bytea, Integer, Text};
use types::Datum;

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
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
            if bytes.contains(&0) {
                return Err(Refusal::Encoding.because("invalid byte sequence for encoding \"UTF8\": 0x00"));
            }
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
];

fn bit_beyond(at: i64, length: usize) -> QueryError {
    Refusal::Index.because(format!("index {at} out of valid range, 0..{}", size(length) * 8 - 1))
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

pub(in crate::functions) fn encode(args: &[Datum]) -> QueryResult<Datum> {
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

/// Encodes in lines of 76 characters, as MIME does.
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

pub(in crate::functions) fn decode(args: &[Datum]) -> QueryResult<Datum> {
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
