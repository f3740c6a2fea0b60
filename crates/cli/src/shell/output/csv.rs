//! CSV as COPY writes it: NULL is an empty field, an empty string is `""`.

use bennu::ColumnDesc;
use std::io::{self, Write};

pub(super) fn header(columns: &[ColumnDesc], out: &mut impl Write) -> io::Result<()> {
    let names: Vec<String> = columns.iter().map(|column| field(&column.name)).collect();
    writeln!(out, "{}", names.join(","))
}

pub(super) fn row(_: &[ColumnDesc], row: &[Option<String>], out: &mut dyn Write) -> io::Result<()> {
    let fields: Vec<String> = row.iter().map(|value| value.as_deref().map(field).unwrap_or_default()).collect();
    writeln!(out, "{}", fields.join(","))
}

fn field(text: &str) -> String {
    let plain = !text.is_empty() && !text.contains(['"', ',', '\n', '\r']) && text != "\\.";
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_what_needs_quotes_has_them() {
        let quoted = ["plain", "", "a,b", "say \"hi\"", "two\nlines"].map(super::field);
        assert_eq!(quoted, ["plain", "\"\"", "\"a,b\"", "\"say \"\"hi\"\"\"", "\"two\nlines\""]);
    }
}
