//! Expanded format: a line for each column, for rows wider than the screen.

use bennu::ColumnDesc;
use std::io::{self, Write};

/// Writes each row as a block of lines, as psql's `\\x` does.
pub(super) fn print(columns: &[ColumnDesc], rows: &[Vec<String>], out: &mut impl Write) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(out, "(0 rows)\n");
    }
    let names = columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    let lines = rows.iter().flatten().flat_map(|value| value.lines());
    let values = lines.map(|line| line.chars().count()).max().unwrap_or(0);
    for (row, number) in rows.iter().zip(1..) {
        writeln!(out, "{}", header(number, names, values))?;
        for (column, value) in columns.iter().zip(row) {
            let mut name = column.name.as_str();
            let mut parts = value.split('\n').peekable();
            while let Some(part) = parts.next() {
                let more = if parts.peek().is_some() { format!("{part:<values$}+") } else { part.to_owned() };
                writeln!(out, "{}", format!("{name:<names$} | {more}").trim_end())?;
                name = "";
            }
        }
    }
    writeln!(out)
}

/// `-[ RECORD 1 ]-+---`: as long as the lines below it, with `+` above their bar.
fn header(number: usize, names: usize, values: usize) -> String {
    let title = format!("-[ RECORD {number} ]");
    let bar = names + 1;
    let rest = (title.chars().count()..names + values + 3).map(|at| if at == bar { '+' } else { '-' });
    title.chars().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::header;

    #[test]
    fn the_cross_is_above_the_bar() {
        assert_eq!(header(1, 20, 3), "-[ RECORD 1 ]--------+----");
        assert_eq!(header(1, 1, 1), "-[ RECORD 1 ]");
    }
}
