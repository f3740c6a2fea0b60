//! Answers as psql shows them, and errors that point at the place.

use bennu::{Chunk, ColumnDesc, DataType, Error};
use std::io::Write;

/// Rows collected for printing: widths are known only when all are there.
pub(crate) struct Table {
    columns: Vec<ColumnDesc>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[ColumnDesc]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds the rows of `chunk` as text.
    pub(crate) fn add(&mut self, chunk: &Chunk) -> Result<(), Error> {
        self.rows.extend(chunk.to_text(&self.columns)?.into_iter().map(|row| {
            // NULL shows as nothing, as in psql.
            row.into_iter().map(Option::unwrap_or_default).collect()
        }));
        Ok(())
    }

    /// Prints header, rows and count.
    pub(crate) fn print(&self, out: &mut impl Write) {
        let mut widths: Vec<usize> = self.columns.iter().map(|c| c.name.chars().count()).collect();
        for row in &self.rows {
            for (width, value) in widths.iter_mut().zip(row) {
                *width = (*width).max(value.chars().count());
            }
        }
        let names = self.columns.iter().zip(&widths).map(|(c, w)| format!(" {:^w$} ", c.name, w = *w));
        line(out, names.collect::<Vec<_>>().join("|").trim_end());
        line(out, &widths.iter().map(|w| "-".repeat(w + 2)).collect::<Vec<_>>().join("+"));
        for row in &self.rows {
            let cells = row.iter().zip(&widths).zip(&self.columns).map(|((value, w), column)| {
                if is_number(&column.ty) { format!(" {value:>w$} ", w = *w) } else { format!(" {value:<w$} ", w = *w) }
            });
            line(out, cells.collect::<Vec<_>>().join("|").trim_end());
        }
        let count = self.rows.len();
        line(out, &format!("({count} row{})", if count == 1 { "" } else { "s" }));
        line(out, "");
    }
}

/// One line; a reader that went away is not an error.
pub(crate) fn line(out: &mut impl Write, text: &str) {
    let _ = writeln!(out, "{text}");
}

fn is_number(ty: &DataType) -> bool {
    use DataType as T;
    matches!(ty, T::SmallInt | T::Integer | T::BigInt | T::Real | T::Double | T::Numeric(_))
}

/// Shows `error`, with the line of `text` it points at.
pub(crate) fn error(text: &str, error: &Error) {
    let mut out = std::io::stderr().lock();
    line(&mut out, &format!("ERROR:  {}: {}", error.code(), error.message()));
    if let Some((number, content, column)) = error.position().and_then(|p| place(text, p)) {
        let label = format!("LINE {number}: ");
        line(&mut out, &format!("{label}{content}"));
        line(&mut out, &format!("{}^", " ".repeat(label.chars().count() + column)));
    }
    for (label, part) in [("DETAIL", error.detail()), ("HINT", error.hint())] {
        if let Some(part) = part {
            line(&mut out, &format!("{label}:  {part}"));
        }
    }
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
