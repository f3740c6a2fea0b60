//! Errors of statements, shown with the position in the text.

use bennu::Error;
use std::io::Write;

/// A statement or command that failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Sql(#[from] Error),
    #[error("the rows cannot be written: {0}")]
    Write(#[from] std::io::Error),
    #[error("the rows cannot be written: {0}")]
    Arrow(#[from] bennu::arrow::error::ArrowError),
    #[error("{0}")]
    Plain(String),
}

/// Prints `failure` with the line of `text` at its position; for a script without a position, with the first line.
/// `before` is the number of input lines before `text`.
pub(super) fn show(text: &str, before: usize, script: bool, failure: &Failure) {
    let report = match failure {
        Failure::Sql(error) => report(text, before, script, error),
        // A closed pipe is not reported.
        Failure::Write(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return,
        other => format!("ERROR:  {other}\n"),
    };
    // There is no other channel if stderr is closed.
    let _ = std::io::stderr().lock().write_all(report.as_bytes());
}

fn report(text: &str, before: usize, script: bool, error: &Error) -> String {
    let mut out = format!("ERROR:  {}: {}\n", error.code(), error.message());
    if let Some((number, content, column)) = error.position().and_then(|p| place(text, p)) {
        let label = format!("LINE {}: ", before + number);
        out += &format!("{label}{content}\n{}^\n", " ".repeat(label.chars().count() + column));
    } else if let Some((number, content)) = text.lines().enumerate().find(|(_, line)| script && !line.trim().is_empty())
    {
        out += &format!("LINE {}: {content}\n", before + number + 1);
    }
    for (label, part) in [("DETAIL", error.detail()), ("HINT", error.hint()), ("CONTEXT", error.context())] {
        if let Some(part) = part {
            out += &format!("{label}:  {part}\n");
        }
    }
    out
}

/// Line number, line and column (from 0) of the character `position` (from 1).
fn place(text: &str, position: usize) -> Option<(usize, &str, usize)> {
    let mut left = position.checked_sub(1)?;
    for (number, content) in text.split('\n').enumerate() {
        let length = content.chars().count();
        if left <= length {
            return Some((number + 1, content, left));
        }
        left -= length + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_position_becomes_line_and_column() {
        assert_eq!(super::place("a\nbcd", 4), Some((2, "bcd", 1)));
        assert_eq!(super::place("é x", 3), Some((1, "é x", 2)));
        assert_eq!(super::place("a", 9), None);
    }
}
