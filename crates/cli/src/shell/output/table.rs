//! The table format: aligned columns.

use bennu::{ColumnDesc, DataType};
use std::io::{self, Write};

/// Writes header, rows and count.
pub(super) fn print(columns: &[ColumnDesc], rows: &[Vec<String>], out: &mut impl Write) -> io::Result<()> {
    let mut widths: Vec<usize> = columns.iter().map(|c| c.name.chars().count()).collect();
    for row in rows {
        for (width, value) in widths.iter_mut().zip(row) {
            let longest = value.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            *width = (*width).max(longest);
        }
    }
    let names: Vec<String> = columns.iter().zip(&widths).map(|(c, w)| format!(" {:^w$} ", c.name, w = *w)).collect();
    writeln!(out, "{}", names.join("|").trim_end())?;
    writeln!(out, "{}", widths.iter().map(|w| "-".repeat(w + 2)).collect::<Vec<_>>().join("+"))?;
    for row in rows {
        print_row(columns, &widths, row, out)?;
    }
    let count = rows.len();
    writeln!(out, "({count} row{})\n", if count == 1 { "" } else { "s" })
}

/// Writes one row; a value with several lines takes as many, each but the last ending in `+`.
fn print_row(columns: &[ColumnDesc], widths: &[usize], row: &[String], out: &mut impl Write) -> io::Result<()> {
    let parts: Vec<Vec<&str>> = row.iter().map(|value| value.split('\n').collect()).collect();
    let height = parts.iter().map(Vec::len).max().unwrap_or(1);
    for line in 0..height {
        let cells: Vec<String> = parts
            .iter()
            .zip(widths)
            .zip(columns)
            .map(|((part, w), column)| {
                let text = part.get(line).copied().unwrap_or_default();
                let mark = if line + 1 < part.len() { '+' } else { ' ' };
                if is_number(&column.ty) { format!(" {text:>w$}{mark}") } else { format!(" {text:<w$}{mark}") }
            })
            .collect();
        writeln!(out, "{}", cells.join("|").trim_end())?;
    }
    Ok(())
}

fn is_number(ty: &DataType) -> bool {
    use DataType as T;
    matches!(ty, T::SmallInt | T::Integer | T::BigInt | T::Real | T::Double | T::Numeric(_))
}
