//! Zones in POSIX syntax: `UTC+3`, `<+05>-05`, `+05:30`. Their offsets count westwards.

/// Returns the seconds east of UTC of such a zone; `None` for other texts, and for zones with daylight saving time.
pub fn posix_zone(name: &str) -> Option<i32> {
    let offset = match name.strip_prefix('<') {
        Some(quoted) => quoted.split_once('>')?.1,
        None => {
            let offset = name.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
            let letters = name.len() - offset.len();
            if letters == 1 || letters == 2 {
                return None;
            }
            offset
        }
    };
    let (sign, digits) = match offset.strip_prefix('-') {
        Some(digits) => (1, digits),
        None => (-1, offset.strip_prefix('+').unwrap_or(offset)),
    };
    let mut parts = digits.split(':');
    let hours = number(parts.next()?, 24)?;
    let minutes = parts.next().map_or(Some(0), |part| number(part, 59))?;
    let seconds = parts.next().map_or(Some(0), |part| number(part, 59))?;
    parts.next().is_none().then_some(sign * (hours * 3_600 + minutes * 60 + seconds))
}

fn number(digits: &str, most: i32) -> Option<i32> {
    let plain = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| plain && *number <= most)
}

/// Returns the zone at so many seconds east of UTC in POSIX syntax, with its offset as the name: `<+05:30>-05:30`.
pub fn posix_text(east: i32) -> String {
    let shown = |seconds: i32| {
        let (hours, minutes, rest) = (seconds.abs() / 3_600, seconds.abs() / 60 % 60, seconds.abs() % 60);
        let sign = if seconds < 0 { '-' } else { '+' };
        match (minutes, rest) {
            (0, 0) => format!("{sign}{hours:02}"),
            (_, 0) => format!("{sign}{hours:02}:{minutes:02}"),
            _ => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
        }
    };
    // A zero offset is `-00`, because offsets count westwards.
    let west = if east == 0 { "-00".to_owned() } else { shown(-east) };
    format!("<{}>{west}", shown(east))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_westwards() {
        let cases = [
            ("+05:30", Some(-19_800)),
            ("05:30", Some(-19_800)),
            ("-3", Some(10_800)),
            ("UTC+3", Some(-10_800)),
            ("FOO3", Some(-10_800)),
            ("<+05:30>-05:30", Some(19_800)),
            ("<x>0", Some(0)),
            ("+0530", None),
            ("UTC", None),
            ("A3", None),
            ("EST5EDT", None),
            ("+25:00:00:00", None),
            ("", None),
        ];
        for (name, east) in cases {
            assert_eq!(posix_zone(name), east, "{name}");
        }
    }

    #[test]
    fn the_text_of_an_offset_is_read_as_that_offset() {
        assert_eq!(posix_text(19_800), "<+05:30>-05:30");
        assert_eq!(posix_text(-10_800), "<-03>+03");
        for east in [0, 1, -1, 18_000, -19_800, 50_400] {
            assert_eq!(posix_zone(&posix_text(east)), Some(east));
        }
    }
}
