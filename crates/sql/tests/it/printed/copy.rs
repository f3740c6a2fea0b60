//! COPY as text.

use super::{List, Printed, literal, names};
use crate::sql::*;
use std::fmt::{self, Display, Formatter};

impl Display for Printed<'_, Copy> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.target {
            CopyTarget::Table { name, columns } if columns.is_empty() => write!(f, "COPY {name}")?,
            CopyTarget::Table { name, columns } => write!(f, "COPY {name} {}", names(columns))?,
            CopyTarget::Query(query) => write!(f, "COPY ({query})")?,
            CopyTarget::Statement(statement) => write!(f, "COPY ({})", Printed(statement.as_ref()))?,
        }
        f.write_str(match self.0.direction {
            CopyDirection::FromStdin => " FROM STDIN",
            CopyDirection::ToStdout => " TO STDOUT",
        })?;
        let options = options(&self.0.options);
        if !options.is_empty() {
            write!(f, " WITH ({})", List(&options))?;
        }
        self.0.selection.as_ref().map_or(Ok(()), |selection| write!(f, " WHERE {selection}"))
    }
}

fn options(it: &CopyOptions) -> Vec<String> {
    let byte = |name: &str, byte: &Option<u8>| byte.map(|b| format!("{name} {}", literal(&char::from(b).to_string())));
    let mut out = Vec::new();
    out.extend(match it.format {
        CopyFormat::Text => None,
        CopyFormat::Csv => Some("FORMAT csv".to_owned()),
        CopyFormat::Binary => Some("FORMAT binary".to_owned()),
    });
    out.extend(byte("DELIMITER", &it.delimiter));
    out.extend(it.null.as_ref().map(|null| format!("NULL {}", literal(null))));
    out.extend(match it.header {
        CopyHeader::Off => None,
        CopyHeader::On => Some("HEADER".to_owned()),
        CopyHeader::Match => Some("HEADER MATCH".to_owned()),
    });
    out.extend(byte("QUOTE", &it.quote));
    out.extend(byte("ESCAPE", &it.escape));
    out.extend(columns("FORCE_QUOTE", &it.force_quote));
    out.extend(columns("FORCE_NOT_NULL", &it.force_not_null));
    out.extend(columns("FORCE_NULL", &it.force_null));
    out.extend(it.freeze.then(|| "FREEZE".to_owned()));
    out
}

fn columns(name: &str, columns: &CopyColumns) -> Option<String> {
    match columns {
        CopyColumns::None => None,
        CopyColumns::All => Some(format!("{name} *")),
        CopyColumns::Named(columns) => Some(format!("{name} {}", names(columns))),
    }
}
