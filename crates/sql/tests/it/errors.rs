//! Every text of `fixtures/errors.txt` fails with the SQLSTATE, message and hint that stand above it, at its ¶.

use crate::sql::{self, SqlError};

#[test]
fn errors_say_what_and_where() {
    let mut lines = include_str!("../../fixtures/errors.txt").lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    while let (Some(expected), Some(marked)) = (lines.next(), lines.next()) {
        let marked = marked.trim_start();
        let byte = marked.find('¶').expect("a mark");
        let text = marked.replace('¶', "");
        let Err(error) = sql::parse(&text) else { panic!("accepted: {text}") };
        let hint = error.hint().map_or_else(String::new, |hint| format!(" [{hint}]"));
        assert_eq!(format!("{} {error}{hint}", sqlstate(&error)), expected, "{text}");
        let position = error.position().expect("a position");
        assert_eq!(position.byte, byte, "{text}\n{error}");
        assert_eq!(position.character, text[..byte].chars().count() + 1, "{text}");
        count += 1;
    }
    assert!(count > 190, "only {count} errors were found");
}

#[test]
fn an_error_anywhere_leaves_no_statement() {
    let error = sql::parse("SELECT 1;\nSELECT 'ä', FROM ;\nSELECT 3").unwrap_err();
    assert_eq!(error.to_string(), "syntax error at or near \"FROM\"");
    let position = error.position().unwrap();
    assert_eq!((position.byte, position.character), (23, 23));
}

#[test]
fn a_text_that_is_too_long_is_refused() {
    let text = format!("SELECT '{}'", "x".repeat(64 << 20));
    assert!(matches!(sql::parse(&text), Err(SqlError::TooLong { .. })));
}

/// The SQLSTATE of each variant (`engine` has the real table).
fn sqlstate(error: &SqlError) -> &'static str {
    match error {
        SqlError::Syntax { .. } | SqlError::Invalid { .. } | SqlError::Advised { .. } => "42601",
        SqlError::Unsupported { .. } | SqlError::NotAllowed { .. } => "0A000",
        SqlError::InvalidTable { .. } => "42P16",
        SqlError::InvalidParameter { .. } => "22023",
        SqlError::TooDeep { .. } => "54001",
        SqlError::TooLong { .. } => "54000",
        SqlError::Stopped => "57014",
        SqlError::Type { source, .. } => source.sqlstate(),
    }
}

#[test]
fn a_declare_of_declares_is_refused_before_it_is_parsed() {
    let text = "DECLARE a CURSOR FOR ".repeat(100_000);
    assert!(sql::parse(&text).is_err());
}
