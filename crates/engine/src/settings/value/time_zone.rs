//! Values of `TimeZone`: zone names and offsets.

use builtins::TimeZone;
use types::temporal::posix_text;

/// The zone's name as SHOW prints it; `None`: there is no such zone.
pub(super) fn canonical(value: &str) -> Option<String> {
    let value = value.trim();
    if let Some(seconds) = hours_east(value) {
        return Some(posix_text(seconds));
    }
    if ["utc", "default", "local", "z", "zulu"].contains(&value.to_ascii_lowercase().as_str()) {
        return Some("UTC".to_string());
    }
    let zone = TimeZone::named(value)?;
    Some(zone.name().unwrap_or(value).to_string())
}

/// A plain number is an offset in hours east of UTC, `5` or `-3.5`; returned in seconds. All other forms have POSIX's
/// sign.
fn hours_east(value: &str) -> Option<i32> {
    if !value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.')) {
        return None;
    }
    let hours: f64 = value.parse().ok()?;
    (hours.abs() <= 24.0).then_some((hours * 3_600.0) as i32)
}
