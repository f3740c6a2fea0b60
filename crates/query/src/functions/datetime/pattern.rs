//! Splits patterns of `to_char` and `to_date` into fields and text.

use types::interrupt::{self, Interrupted};

pub(in crate::functions) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(in crate::functions) const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

pub(in crate::functions) const ROMAN: [&str; 12] =
    ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/// Names of fields; a longer name precedes its prefixes.
const KEYWORDS: [&str; 54] = [
    "SSSSS", "MONTH", "Y,YYY", "A.M.", "P.M.", "A.D.", "B.C.", "HH24", "HH12", "SSSS", "YYYY", "IYYY", "IDDD", "YYY",
    "IYY", "DAY", "DDD", "MON", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "TZH", "TZM", "HH", "MI", "SS", "MS", "US",
    "AM", "PM", "AD", "BC", "YY", "IY", "MM", "DY", "DD", "ID", "WW", "IW", "CC", "RM", "TZ", "OF", "FX", "J", "Q",
    "W", "D", "Y", "I",
];

/// A piece of a pattern.
#[derive(Clone, Debug)]
pub(in crate::functions) enum Piece {
    /// A field: its upper-case name, and the name as written.
    Field { name: &'static str, written: String, fill: bool, ordinal: Option<bool> },
    /// Other text; `quoted` if it stood in quotes.
    Text { text: String, quoted: bool },
}

/// Splits a pattern into pieces.
///
/// # Errors
/// If the statement is cancelled: a pattern may be of any length.
pub(in crate::functions) fn pieces(pattern: &str) -> Result<Vec<Piece>, Interrupted> {
    let mut out: Vec<Piece> = Vec::new();
    let mut rest = pattern;
    let mut fill = true;
    // The prefix TM: localized names of months and days, which are the English ones here, without padding.
    let mut local = false;
    while let Some(first) = rest.chars().next() {
        interrupt::spend(KEYWORDS.len())?;
        if let Some(tail) = rest.strip_prefix("TM").or_else(|| rest.strip_prefix("tm")) {
            local = true;
            rest = tail;
            continue;
        }
        if let Some(tail) = rest.strip_prefix("FM").or_else(|| rest.strip_prefix("fm")) {
            fill = false;
            rest = tail;
            continue;
        }
        if first == '"' {
            let (text, tail) = quoted(rest);
            out.push(Piece::Text { text, quoted: true });
            rest = tail;
            continue;
        }
        let starts = |name: &&&str| rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        if let Some(name) = KEYWORDS.iter().find(starts) {
            let written = rest.get(..name.len()).unwrap_or_default().to_owned();
            rest = rest.get(name.len()..).unwrap_or_default();
            let ordinal = ["TH", "th"].iter().position(|suffix| rest.starts_with(suffix)).map(|at| at == 0);
            if ordinal.is_some() {
                rest = rest.get(2..).unwrap_or_default();
            }
            let filled = fill && !(local && matches!(*name, "MONTH" | "DAY"));
            out.push(Piece::Field { name, written, fill: filled, ordinal });
            (fill, local) = (true, false);
            continue;
        }
        local = false;
        let letter = if first == '\\' && rest.starts_with("\\\"") { '"' } else { first };
        rest = rest.get(if letter == first { first.len_utf8() } else { 2 }..).unwrap_or_default();
        out.push(Piece::Text { text: letter.to_string(), quoted: false });
    }
    Ok(out)
}

/// Returns the quoted text at the start of the pattern, and the rest of the pattern.
fn quoted(pattern: &str) -> (String, &str) {
    let mut text = String::new();
    let mut letters = pattern.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (text, pattern.get(at + 1..).unwrap_or_default()),
            '\\' => text.extend(letters.next().map(|(_, letter)| letter)),
            letter => text.push(letter),
        }
    }
    (text, "")
}
