//! Numbers as words: Roman numerals and the suffixes of ordinal numbers.

use crate::functions::number::format::to_f64;
use types::Datum;

/// Returns `st`, `nd`, `rd` or `th`.
pub(in crate::functions) fn ordinal_suffix(number: &str, upper: bool) -> String {
    let teen = number.len() > 1 && number.as_bytes().iter().rev().nth(1) == Some(&b'1');
    let suffix = match number.as_bytes().last() {
        Some(b'1') if !teen => "st",
        Some(b'2') if !teen => "nd",
        Some(b'3') if !teen => "rd",
        _ => "th",
    };
    if upper { suffix.to_uppercase() } else { suffix.to_owned() }
}

/// Prints 1 to 3999 as a Roman numeral, other numbers as `#` signs.
pub(super) fn roman(value: &Datum, upper: bool, fill: bool) -> String {
    const STEPS: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let number = to_f64(value).map_or(0, |number| number.round() as i64);
    let text = if (1..=3999).contains(&number) {
        let mut rest = number;
        let mut text = String::new();
        for (step, letters) in STEPS {
            while rest >= step {
                text.push_str(letters);
                rest -= step;
            }
        }
        text
    } else {
        "#".repeat(15)
    };
    let text = if upper { text } else { text.to_lowercase() };
    if fill { format!("{text:>15}") } else { text }
}
