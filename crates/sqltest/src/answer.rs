//! Format of values in a file: as psql prints them, with `|` between columns, NULL as `NULL`, an empty string as
//! `(empty)`, and trailing blanks, which would be invisible, as `·`.

use sqllogictest::{DBOutput, DefaultColumnType, Normalizer, default_validator};

pub(crate) type Output = DBOutput<DefaultColumnType>;

/// The text of one value.
pub(crate) fn cell(value: Option<&str>) -> String {
    match value {
        None => "NULL".into(),
        Some("") => "(empty)".into(),
        Some(text) => {
            let seen = text.trim_end_matches(' ');
            // A line break in a value would end the record.
            seen.replace('\n', "\\n") + &"·".repeat(text.len() - seen.len())
        }
    }
}

/// Separator of the columns of a row.
pub(crate) const SEPARATOR: &str = "|";

/// Compares rows with those of the file exactly, blanks included.
pub(crate) fn same_rows(_: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    actual.len() == expected.len() && actual.iter().zip(expected).all(|(row, line)| row.join(SEPARATOR) == *line)
}

/// Compares rows with those of the file exactly, or by words, with a row or a value per line.
pub(crate) fn same_words(normal: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    let values = || actual.iter().flatten().map(|value| vec![value.clone()]).collect::<Vec<_>>();
    same_rows(normal, actual, expected)
        || default_validator(normal, actual, expected)
        || default_validator(normal, &values(), expected)
}

/// Compares the number of columns. All values are text, so the type letters of the file are ignored.
#[expect(clippy::ptr_arg, reason = "the runner's type of a validator")]
pub(crate) fn same_columns(actual: &Vec<DefaultColumnType>, expected: &Vec<DefaultColumnType>) -> bool {
    actual.len() == expected.len()
}

/// A result of text rows.
pub(crate) fn rows(columns: usize, rows: Vec<Vec<String>>) -> Output {
    DBOutput::Rows { types: vec![DefaultColumnType::Text; columns], rows }
}

/// The row count of a command tag.
pub(crate) fn count(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}
