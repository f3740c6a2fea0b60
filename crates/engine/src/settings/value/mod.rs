//! Validation of setting values, and their canonical text.

mod date_style;
mod encoding;
mod time_zone;
mod units;

pub(super) use date_style::with_order;
pub(crate) use units::{parse_duration, print_duration};

use crate::error::{EngineResult, Fault, fail};
use date_style::date_style;
use encoding::encoding;
use units::{parse_memory, print_memory};

/// Minimum of memory settings, in kilobytes.
const LEAST_MEMORY: i64 = 64;

/// A kind of setting values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A boolean: on, off.
    Bool,
    /// An integer in this range.
    Int(i64, i64),
    /// Any number; only for read-only settings.
    Real,
    /// A duration: milliseconds, or a number with a unit.
    Duration,
    /// A size of memory: kilobytes, or a number with a unit.
    Memory,
    /// Any text.
    Text,
    /// Text, truncated to 63 bytes as in PostgreSQL.
    Name,
    /// A list of names.
    NameList,
    /// One of the first words. The second words are valid in PostgreSQL but rejected as not supported.
    Word(&'static [&'static str], &'static [&'static str]),
    /// UTF8 or SQL_ASCII.
    Encoding,
    /// ISO, with the order of day and month for input.
    DateStyle,
    /// A zone name or offset.
    TimeZone,
    /// on, off, local, and the other words that mean on.
    SyncCommit,
}

impl Kind {
    /// Its type in `pg_settings`.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Bool | Self::Word(["on" | "off"], _) => "bool",
            Self::Int(..) | Self::Duration | Self::Memory => "integer",
            Self::Real => "real",
            Self::Word(..) | Self::SyncCommit => "enum",
            Self::Text | Self::Name | Self::NameList | Self::Encoding | Self::DateStyle | Self::TimeZone => "string",
        }
    }

    /// The allowed words, if it is an enum.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Word(words, _) if self.type_name() == "enum" => words,
            Self::SyncCommit => &["local", "remote_write", "remote_apply", "on", "off"],
            _ => &[],
        }
    }

    /// The unit of its numbers.
    pub(crate) fn unit(self) -> Option<&'static str> {
        match self {
            Self::Duration => Some("ms"),
            Self::Memory => Some("kB"),
            _ => None,
        }
    }

    /// The range of its numbers.
    pub(crate) fn range(self) -> Option<(i64, i64)> {
        match self {
            Self::Int(low, high) => Some((low, high)),
            Self::Duration => Some((0, i64::from(i32::MAX))),
            Self::Memory => Some((LEAST_MEMORY, i64::from(i32::MAX))),
            _ => None,
        }
    }

    /// Converts a canonical text to the number without unit that `pg_settings` shows.
    pub(crate) fn in_units(self, text: &str) -> String {
        let number = match self {
            Self::Duration => parse_duration(text).map(|time| time.as_millis().to_string()),
            Self::Memory => parse_memory(text).map(|kilobytes| kilobytes.to_string()),
            _ => None,
        };
        number.unwrap_or_else(|| text.to_string())
    }

    /// Validates a new value and returns its canonical text.
    pub(crate) fn canonical(self, name: &str, values: &[String]) -> EngineResult<String> {
        if let Self::NameList = self {
            return Ok(values.iter().map(|value| list_item(value)).collect::<Vec<_>>().join(", "));
        }
        if let Self::DateStyle = self {
            return date_style(name, values);
        }
        let [value] = values else {
            return fail(Fault::ListSetting { name: name.to_string() });
        };
        self.one(name, value)
    }

    fn one(self, name: &str, value: &str) -> EngineResult<String> {
        match self {
            Self::Bool => match parse_bool(value) {
                Some(on) => Ok(on_off(on)),
                None => fail(Fault::NotBoolean { name: name.to_string() }),
            },
            Self::Int(low, high) => int(name, value, low, high),
            Self::Duration => match parse_duration(value) {
                Some(time) => Ok(print_duration(time)),
                None => bad(
                    name,
                    value,
                    Some("Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\"."),
                ),
            },
            Self::Memory => match parse_memory(value) {
                Some(kilobytes) if kilobytes >= LEAST_MEMORY as u64 => Ok(print_memory(kilobytes)),
                Some(kilobytes) => {
                    let (value, low, high) = (format!("{kilobytes} kB"), LEAST_MEMORY, i64::from(i32::MAX));
                    fail(Fault::SettingOutOfRange { name: name.to_string(), value, low, high })
                }
                None => {
                    bad(name, value, Some("Valid units for this parameter are \"kB\", \"MB\", \"GB\", and \"TB\"."))
                }
            },
            Self::Text => Ok(value.to_string()),
            Self::Name => Ok(cut(value, 63).to_string()),
            Self::Word(allowed, known) => word(name, value, allowed, known),
            Self::Encoding => encoding(name, value),
            Self::TimeZone => match time_zone::canonical(value) {
                Some(zone) => Ok(zone),
                None => bad(name, value, None),
            },
            Self::SyncCommit => match value.to_ascii_lowercase().as_str() {
                "local" | "remote_write" | "remote_apply" => Ok("on".to_string()),
                other => match parse_bool(other) {
                    Some(on) => Ok(on_off(on)),
                    None => bad(name, value, Some("Available values: local, remote_write, remote_apply, on, off.")),
                },
            },
            // `canonical` handles these kinds.
            Self::NameList | Self::DateStyle | Self::Real => Ok(value.to_string()),
        }
    }
}

fn bad<T>(name: &str, value: &str, hint: Option<&'static str>) -> EngineResult<T> {
    let (name, value, hint) = (name.to_string(), value.to_string(), hint.map(str::to_string));
    fail(Fault::BadSetting { name, value, hint, detail: None })
}

/// Parses a boolean as PostgreSQL does: any unambiguous prefix of the words.
pub(crate) fn parse_bool(value: &str) -> Option<bool> {
    let value = value.trim().to_ascii_lowercase();
    let is = |word: &str, least: usize| value.len() >= least && word.starts_with(&value);
    if is("true", 1) || is("yes", 1) || is("on", 2) || value == "1" {
        return Some(true);
    }
    (is("false", 1) || is("no", 1) || is("off", 2) || value == "0").then_some(false)
}

fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_string()
}

fn int(name: &str, value: &str, low: i64, high: i64) -> EngineResult<String> {
    match value.trim().parse::<i64>() {
        Ok(number) if (low..=high).contains(&number) => Ok(number.to_string()),
        Ok(number) => fail(Fault::SettingOutOfRange { name: name.to_string(), value: number.to_string(), low, high }),
        Err(_) => bad(name, value, None),
    }
}

fn word(name: &str, value: &str, allowed: &[&str], known: &[&str]) -> EngineResult<String> {
    let lower = value.trim().to_ascii_lowercase();
    // Booleans are accepted as words: `true` is `on`.
    let lower = match parse_bool(&lower) {
        Some(on) if allowed.contains(&"on") || allowed.contains(&"off") => on_off(on),
        _ => lower,
    };
    if allowed.contains(&lower.as_str()) {
        return Ok(lower);
    }
    if known.contains(&lower.as_str()) {
        return fail(Fault::Unsupported { feature: format!("{name} = \"{lower}\"") });
    }
    fail(Fault::BadSetting {
        name: name.to_string(),
        value: value.to_string(),
        hint: Some(format!("Available values: {}.", allowed.join(", "))),
        detail: None,
    })
}

/// One item of a list as SHOW prints it.
fn list_item(value: &str) -> String {
    types::ident::quote(value).to_string()
}

fn cut(value: &str, bytes: usize) -> &str {
    let mut end = value.len().min(bytes);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    value.get(..end).unwrap_or(value)
}
