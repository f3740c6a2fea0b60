//! How values look in a file: as psql shows them, a `|` between columns, NULL as `NULL`, an empty string as
//! `(empty)`, and blanks that nobody would see, those at the end, as `·`.

use sqllogictest::{DBOutput, DefaultColumnType, Normalizer, default_validator};

pub(crate) type Output = DBOutput<DefaultColumnType>;

/// The text of one value.
pub(crate) fn cell(value: Option<&str>) -> String {
    match value {
        None => "NULL".into(),
        Some("") => "(empty)".into(),
        Some(text) => {
            let seen = text.trim_end_matches(' ');
            // A value on several lines would break the record.
            seen.replace('\n', "\\n") + &"·".repeat(text.len() - seen.len())
        }
    }
}

/// What stands between the columns of a row.
pub(crate) const SEPARATOR: &str = "|";

/// Are these rows those of the file, blanks included?
pub(crate) fn same_rows(_: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    actual.len() == expected.len() && actual.iter().zip(expected).all(|(row, line)| row.join(SEPARATOR) == *line)
}

/// Are these rows those of the file, or at least the same words, a row or a value on each line?
pub(crate) fn same_words(normal: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    let values = || actual.iter().flatten().map(|value| vec![value.clone()]).collect::<Vec<_>>();
    same_rows(normal, actual, expected)
        || default_validator(normal, actual, expected)
        || default_validator(normal, &values(), expected)
}

/// As many columns? (The letters in a file say no more: text has no types.)
#[expect(clippy::ptr_arg, reason = "the runner's type of a validator")]
pub(crate) fn same_columns(actual: &Vec<DefaultColumnType>, expected: &Vec<DefaultColumnType>) -> bool {
    actual.len() == expected.len()
}

/// Rows of text as an answer.
pub(crate) fn rows(columns: usize, rows: Vec<Vec<String>>) -> Output {
    DBOutput::Rows { types: vec![DefaultColumnType::Text; columns], rows }
}

/// The number of rows that a command tag tells.
pub(crate) fn count(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}
