//! How values look in a file: as psql shows them, NULL as `NULL`, an empty string as `(empty)`.

use sqllogictest::{DBOutput, DefaultColumnType};

pub(crate) type Output = DBOutput<DefaultColumnType>;

/// The text of one value.
pub(crate) fn cell(value: Option<&str>) -> String {
    match value {
        None => "NULL".into(),
        Some("") => "(empty)".into(),
        // A value on several lines would break the record.
        Some(text) => text.replace('\n', "\\n"),
    }
}

/// Rows of text as an answer.
pub(crate) fn rows(columns: usize, rows: Vec<Vec<String>>) -> Output {
    DBOutput::Rows { types: vec![DefaultColumnType::Any; columns], rows }
}

/// The number of rows that a command tag tells.
pub(crate) fn count(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}
