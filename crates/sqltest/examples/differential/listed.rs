//! Differences that are known, each with its reason; what users notice of them stands in `docs/sql/differences.md`.

use crate::{Answer, known};

/// Why the answers differ, if that is known.
pub(crate) fn reason(query: &str, expected: &Answer, found: &Answer) -> Option<&'static str> {
    match (expected, found) {
        (Ok(_), Err((code, _))) | (Err((code, _)), Ok(_)) if is_of_a_value(code) => Some(
            "an error in a value: conditions are evaluated in another order, and what is not needed is not evaluated",
        ),
        (Err((_, message)), Ok(_)) if message.starts_with("operator does not exist") && message.contains("[]") => {
            Some("arrays of types that are alike are compared")
        }
        (Err((_, message)), Ok(_)) if ["min", "max"].iter().any(|name| *message == no_such(name)) => {
            Some("booleans have a least and a greatest")
        }
        (Err((a, _)), Err((b, _))) if is_of_a_value(a) && is_of_a_value(b) => {
            Some("of two errors in values, the other")
        }
        (Ok(_), Err((_, message))) if message.ends_with("a column of Utf8View where text was expected") => {
            Some("an array that md5() makes an element of has no text")
        }
        (Ok(a), Ok(b)) if same(a, b, |cell| plain_cell(cell.trim_end_matches(' '))) => {
            Some("min, max, CASE, COALESCE and UNION of char(n) have other blanks at their end")
        }
        (Ok(_), Ok(_)) => known::reason(query),
        _ => None,
    }
}

/// Are these the same rows? Zeros at the end of a numeric's fraction do not count: `numeric` without precision does
/// not keep them.
pub(crate) fn alike(expected: &[String], found: &[String], in_order: bool) -> bool {
    if in_order {
        return plain_rows(expected, plain_cell) == plain_rows(found, plain_cell);
    }
    expected == found || same(expected, found, plain_cell)
}

fn plain_rows(rows: &[String], plain: impl Fn(&str) -> String) -> Vec<String> {
    rows.iter().map(|row| row.split('|').map(&plain).collect::<Vec<_>>().join("|")).collect()
}

/// Are these the same rows when every cell is made plain?
fn same(expected: &[String], found: &[String], plain: impl Fn(&str) -> String) -> bool {
    let all = |rows: &[String]| {
        let mut rows = plain_rows(rows, &plain);
        rows.sort();
        rows
    };
    all(expected) == all(found)
}

/// A number, or an array whose elements are numbers.
fn plain_cell(cell: &str) -> String {
    match cell.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(items) => format!("{{{}}}", items.split(',').map(without_zeros).collect::<Vec<_>>().join(",")),
        None => without_zeros(cell).to_owned(),
    }
}

fn without_zeros(cell: &str) -> &str {
    let is_number = cell.contains('.') && cell.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '.'));
    // Of a group's equal floats any may be shown.
    if cell == "-0" {
        return "0";
    }
    if is_number { cell.trim_end_matches('0').trim_end_matches('.') } else { cell }
}

fn no_such(aggregate: &str) -> String {
    format!("function {aggregate}(boolean) does not exist")
}

/// Data exceptions depend on which expressions are evaluated for which rows.
fn is_of_a_value(code: &str) -> bool {
    code.starts_with("22")
}
