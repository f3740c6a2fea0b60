//! Describes an invalid setting of the server: its name, its source and the accepted values.

use figment::error::{Actual, Kind};
use figment::{Error, Source};

/// Returns one line per error.
pub(crate) fn describe(error: &Error) -> String {
    let lines: Vec<String> = error.clone().into_iter().map(|error| line(&error)).collect();
    lines.join("\n")
}

fn line(error: &Error) -> String {
    let name = error.path.join(".").to_lowercase();
    let what = match &error.kind {
        Kind::UnknownField(field, known) => {
            return format!("there is no setting \"{field}\"{}; there are {}", origin(error), known.join(", "));
        }
        Kind::InvalidType(found, wanted) | Kind::InvalidValue(found, wanted) => {
            format!("{} is not {}", shown(found), wanted_value(wanted))
        }
        Kind::UnknownVariant(found, known) => format!("\"{found}\" is none of {}", known.join(", ")),
        // The file itself cannot be read or is not TOML.
        Kind::Message(message) if name.is_empty() => return format!("{}{}", message.trim_end(), origin(error)),
        other => other.to_string(),
    };
    format!("setting \"{name}\"{}: {what}", origin(error))
}

/// The source of the value.
fn origin(error: &Error) -> String {
    let Some(metadata) = &error.metadata else { return String::new() };
    match &metadata.source {
        Some(Source::File(path)) => format!(" (file {})", path.display()),
        _ if metadata.name.contains("environment") => {
            format!(" (environment variable BENNU_{})", error.path.join("_").to_uppercase())
        }
        _ => String::new(),
    }
}

fn shown(found: &Actual) -> String {
    match found {
        Actual::Str(text) => format!("\"{text}\""),
        Actual::Bool(value) => value.to_string(),
        Actual::Unsigned(value) => value.to_string(),
        Actual::Signed(value) => value.to_string(),
        Actual::Float(value) => value.to_string(),
        other => other.to_string(),
    }
}

fn wanted_value(wanted: &str) -> &str {
    match wanted {
        "u64" | "usize" => "a whole number",
        "a string" => "a text",
        other => other,
    }
}
