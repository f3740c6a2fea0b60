//! `DateStyle`: dates are printed in ISO format; the order of day and month applies to input.

use crate::error::{EngineResult, Fault, fail};

/// Canonical DateStyle: `ISO` with `MDY`, `DMY` or `YMD`. Without an order if none is named, which keeps the current
/// one.
pub(super) fn date_style(name: &str, values: &[String]) -> EngineResult<String> {
    let bad_style = |detail: String| {
        let (name, value) = (name.to_string(), values.join(", "));
        Fault::BadSetting { name, value, hint: None, detail: Some(detail) }
    };
    let mut order = None;
    let mut named = |new: &'static str| match order.replace(new) {
        // Two orders contradict each other.
        Some(old) if old != new => fail(bad_style("Conflicting \"datestyle\" specifications.".to_string())),
        _ => Ok(()),
    };
    for part in values.iter().flat_map(|value| value.split(',')) {
        match part.trim().to_ascii_uppercase().as_str() {
            "ISO" => {}
            "MDY" | "US" | "NONEURO" | "NONEUROPEAN" | "DEFAULT" => named("MDY")?,
            "DMY" | "EURO" | "EUROPEAN" => named("DMY")?,
            "YMD" => named("YMD")?,
            style @ ("SQL" | "POSTGRES" | "GERMAN") => {
                return fail(Fault::Unsupported { feature: format!("DateStyle \"{style}\" (dates are ISO)") });
            }
            _ => return fail(bad_style(format!("Unrecognized key word: \"{}\".", part.trim()))),
        }
    }
    Ok(order.map_or_else(|| "ISO".to_owned(), |order| format!("ISO, {order}")))
}

/// Completes a new DateStyle without an order by the order of the old one.
pub(in crate::settings) fn with_order(new: String, old: &str) -> String {
    if new == "ISO" { old.to_owned() } else { new }
}
