//! Known differences with their reasons; `docs/sql/differences.md` has those that users notice.

use crate::further::EXACT;
use crate::{Answer, known, writes};

/// Beginnings of messages about unsupported features.
const NOT_BUILT: [&str; 4] = [
    "WITH ORDINALITY is not supported",
    "a RIGHT or FULL JOIN USING",
    "a subquery in the condition of an outer join that reads both sides",
    "array_fill() of several dimensions",
];

/// SQLSTATEs of invalid text of a date, time or timestamp.
const OF_MOMENTS: [&str; 3] = ["22007", "22008", "22009"];

/// The known reason for a difference.
pub(crate) fn reason(query: &str, expected: &Answer, found: &Answer) -> Option<&'static str> {
    let exact = query.starts_with(EXACT);
    match (expected, found) {
        (Ok(_), Err((code, _))) | (Err((code, _)), Ok(_)) if is_data_exception(code) && !exact => Some(
            "an error in a value: conditions are evaluated in another order, and what is not needed is not evaluated",
        ),
        (Err((_, message)), Ok(_)) if message.starts_with("operator does not exist") && message.contains("[]") => {
            Some("arrays of types that are alike are compared")
        }
        (Err((_, message)), Ok(_)) if ["min", "max"].iter().any(|name| *message == no_such(name)) => {
            Some("booleans have a least and a greatest")
        }
        (Err((a, _)), Err((b, _))) if is_data_exception(a) && is_data_exception(b) && !exact => {
            Some("of two errors in values, the other")
        }
        (Ok(_), Err((_, message))) if message.ends_with("a column of Utf8View where text was expected") => {
            Some("an array that md5() makes an element of has no text")
        }
        (Ok(_), Err((code, message))) if code == "0A000" && NOT_BUILT.iter().any(|name| message.starts_with(name)) => {
            Some("not built, and said by name")
        }
        (Ok(_), Err((_, message))) if message.contains("Date32 value 2147483647") => {
            Some("an infinite date beside timestamps is refused")
        }
        (Err((a, _)), Err((b, _))) if [a, b].into_iter().all(|code| OF_MOMENTS.contains(&code.as_str())) => {
            Some("of two faults of a moment's text, the other")
        }
        (Err((a, _)), Err((b, _))) if a == "42804" && is_data_exception(b) && query.starts_with(writes::MARK) => {
            Some("a value that does not fit is told before a type that does not")
        }
        (Ok(_), Err((_, message))) if message.starts_with("Invalid window frame: start bound") => {
            Some("frames that end before they begin are refused")
        }
        (Ok(a), Ok(b)) if same(a, b, |cell| plain_cell(cell.trim_end_matches(' '))) => {
            Some("min, max, CASE, COALESCE and UNION of char(n) have other blanks at their end")
        }
        (Ok(_), Ok(_)) => known::reason(query),
        _ => None,
    }
}

/// Compares rows, ignoring trailing zeros of a numeric's fraction: `numeric` without precision drops them.
pub(crate) fn alike(expected: &[String], found: &[String], in_order: bool) -> bool {
    if in_order {
        return plain_rows(expected, plain_cell) == plain_rows(found, plain_cell);
    }
    expected == found || same(expected, found, plain_cell)
}

/// A replacement query and the reason.
pub(crate) struct Instead {
    pub(crate) query: String,
    pub(crate) words: &'static str,
}

/// For rows that differ where a `char(n)` is in an array or beside other values: the query with varchar instead. Equal
/// results show that only trailing blanks differed.
pub(crate) fn same_with_varchars(query: &str, expected: &Answer, found: &Answer) -> Option<Instead> {
    let (Ok(a), Ok(b)) = (expected, found) else { return None };
    let beside = ["ARRAY[", "greatest(", "least(", "coalesce(", "nullif(", "CASE", "string_agg", "min(", "max("];
    let differs = !alike(a, b, query.starts_with(crate::ordered::MARK));
    if !differs || reason(query, expected, found).is_some() || !beside.iter().any(|word| query.contains(word)) {
        return None;
    }
    let query = with_varchars(query)?;
    Some(Instead { query, words: "blanks of a char(n) that is an item of an array or stands beside other values" })
}

/// Casts every column `p` to varchar; `None` if there is none.
fn with_varchars(query: &str) -> Option<String> {
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let mut text = String::with_capacity(query.len() + 32);
    let mut rest = query;
    let mut found = false;
    while !rest.is_empty() {
        let name = rest.len() - rest.trim_start_matches(of_name).len();
        let (word, others) = rest.split_at(name);
        let is_char = word == "p" || word.ends_with(".p");
        found |= is_char;
        text.push_str(&if is_char { format!("({word})::varchar") } else { word.to_owned() });
        let mut letters = others.chars();
        text.extend(letters.next());
        rest = letters.as_str();
    }
    found.then_some(text)
}

fn plain_rows(rows: &[String], plain: impl Fn(&str) -> String) -> Vec<String> {
    rows.iter().map(|row| row.split('|').map(&plain).collect::<Vec<_>>().join("|")).collect()
}

/// Compares rows with every cell normalized by `plain`.
fn same(expected: &[String], found: &[String], plain: impl Fn(&str) -> String) -> bool {
    let all = |rows: &[String]| {
        let mut rows = plain_rows(rows, &plain);
        rows.sort();
        rows
    };
    all(expected) == all(found)
}

/// Normalizes a number, or an array of numbers.
fn plain_cell(cell: &str) -> String {
    match cell.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(items) => format!("{{{}}}", items.split(',').map(without_zeros).collect::<Vec<_>>().join(",")),
        None => without_zeros(cell).to_owned(),
    }
}

fn without_zeros(cell: &str) -> &str {
    let is_number = cell.contains('.') && cell.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '.'));
    // -0 and 0 are equal, and a group may show either.
    if cell == "-0" {
        return "0";
    }
    if is_number { cell.trim_end_matches('0').trim_end_matches('.') } else { cell }
}

fn no_such(aggregate: &str) -> String {
    format!("function {aggregate}(boolean) does not exist")
}

/// Data exceptions, which depend on the expressions that are evaluated for each row.
fn is_data_exception(code: &str) -> bool {
    code.starts_with("22")
}
