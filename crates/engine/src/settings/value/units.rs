//! Numbers with units: durations and memory sizes.

use std::time::Duration;

/// Splits a value into number and unit.
fn number_and_unit(value: &str) -> Option<(f64, &str)> {
    let value = value.trim();
    let end = value.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(value.len());
    let (number, unit) = value.split_at_checked(end)?;
    let number = number.parse::<f64>().ok().filter(|number| *number >= 0.0)?;
    Some((number, unit.trim()))
}

/// Parses a duration with PostgreSQL's units; milliseconds without a unit.
pub(crate) fn parse_duration(value: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(value)?;
    let factor = match unit {
        "us" => 0.001,
        "" | "ms" => 1.0,
        "s" => 1000.0,
        "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    let ms = (number * factor).round();
    (ms <= f64::from(i32::MAX)).then(|| Duration::from_millis(ms as u64))
}

/// Prints a duration as SHOW does: in the largest unit that divides it.
pub(crate) fn print_duration(time: Duration) -> String {
    let ms = time.as_millis();
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms")];
    let fitting = units.into_iter().find(|(size, _)| ms > 0 && ms.is_multiple_of(*size));
    fitting.map_or_else(|| "0".to_string(), |(size, unit)| format!("{}{unit}", ms / size))
}

pub(super) fn parse_memory(value: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(value)?;
    let factor = match unit {
        "B" => 1.0 / 1024.0,
        "" | "kB" => 1.0,
        "MB" => 1024.0,
        "GB" => 1024.0 * 1024.0,
        "TB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let kilobytes = (number * factor).round();
    (kilobytes <= f64::from(i32::MAX)).then_some(kilobytes as u64)
}

pub(super) fn print_memory(kilobytes: u64) -> String {
    let units = [(1 << 30, "TB"), (1 << 20, "GB"), (1 << 10, "MB"), (1, "kB")];
    let fitting = units.into_iter().find(|(size, _)| kilobytes.is_multiple_of(*size));
    fitting.map_or_else(|| "0".to_string(), |(size, unit)| format!("{}{unit}", kilobytes / size))
}
