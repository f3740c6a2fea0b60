//! COPY options with their defaults applied, and the columns of a COPY.

use crate::error::{EngineResult, Fault, fail};
use catalog::Table;
use sql::{CopyColumns, CopyFormat, CopyHeader, CopyOptions};

/// The format in which lines are read or written.
#[derive(Clone, Debug)]
pub(super) struct Format {
    pub(super) csv: bool,
    /// The client's format is PostgreSQL's binary format; COPY FROM then uses text lines internally.
    pub(super) binary: bool,
    pub(super) delimiter: u8,
    pub(super) null: String,
    pub(super) header: CopyHeader,
    pub(super) quote: u8,
    pub(super) escape: u8,
    /// By field: whether FORCE_QUOTE, FORCE_NOT_NULL and FORCE_NULL name its column.
    pub(super) force_quote: Vec<bool>,
    pub(super) force_not_null: Vec<bool>,
    pub(super) force_null: Vec<bool>,
}

impl Format {
    /// `columns` are the names of the fields in order.
    pub(super) fn new(options: &CopyOptions, columns: &[String]) -> EngineResult<Self> {
        let csv = match options.format {
            CopyFormat::Text => false,
            CopyFormat::Csv => true,
            CopyFormat::Binary => {
                check_binary(options)?;
                false
            }
        };
        let quote = options.quote.unwrap_or(b'"');
        let null = options.null.clone().unwrap_or_else(|| if csv { String::new() } else { "\\N".to_string() });
        let format = Self {
            csv,
            binary: options.format == CopyFormat::Binary,
            delimiter: options.delimiter.unwrap_or(if csv { b',' } else { b'\t' }),
            null,
            header: options.header,
            quote,
            escape: options.escape.unwrap_or(quote),
            force_quote: forced("FORCE_QUOTE", &options.force_quote, columns)?,
            force_not_null: forced("FORCE_NOT_NULL", &options.force_not_null, columns)?,
            force_null: forced("FORCE_NULL", &options.force_null, columns)?,
        };
        format.check()?;
        Ok(format)
    }

    /// Refuses options that make lines ambiguous.
    fn check(&self) -> EngineResult<()> {
        let problem = if self.null.bytes().any(|b| b == b'\n' || b == b'\r') {
            "null representation cannot use newline or carriage return"
        } else if self.delimiter == b'\n' || self.delimiter == b'\r' {
            "delimiter cannot be newline or carriage return"
        } else if self.csv && self.quote == self.delimiter {
            "delimiter and quote must be different"
        } else if self.null.bytes().any(|b| b == self.delimiter) {
            let message = "COPY delimiter must not appear in the NULL specification".to_string();
            return fail(Fault::CopyOptionsClash { message });
        } else if self.csv && self.null.bytes().any(|b| b == self.quote) {
            let message = "CSV quote character must not appear in the NULL specification".to_string();
            return fail(Fault::CopyOptionsClash { message });
        } else if !self.csv && b"\\.abcdefghijklmnopqrstuvwxyz0123456789".contains(&self.delimiter) {
            "delimiter cannot be a lower case letter, digit, period or backslash"
        } else {
            return Ok(());
        };
        fail(Fault::BadCopyOption { message: format!("COPY {problem}") })
    }
}

/// Refuses options that the binary format does not have.
fn check_binary(options: &CopyOptions) -> EngineResult<()> {
    let option = if options.delimiter.is_some() {
        "DELIMITER"
    } else if options.null.is_some() {
        "NULL"
    } else if options.header != CopyHeader::Off {
        "HEADER"
    } else {
        return Ok(());
    };
    fail(Fault::BadCopyOption { message: format!("cannot specify {option} in BINARY mode") })
}

fn forced(option: &str, named: &CopyColumns, columns: &[String]) -> EngineResult<Vec<bool>> {
    match named {
        CopyColumns::None => Ok(vec![false; columns.len()]),
        CopyColumns::All => Ok(vec![true; columns.len()]),
        CopyColumns::Named(names) => {
            if let Some(name) = names.iter().find(|name| !columns.contains(name)) {
                let message = format!("{option} column \"{name}\" not referenced by COPY");
                return fail(Fault::BadCopyColumn { message });
            }
            Ok(columns.iter().map(|column| names.contains(column)).collect())
        }
    }
}

/// Positions of the columns of a COPY: the named columns, or else all visible columns except generated ones.
pub(super) fn positions(table: &Table, named: &[String]) -> EngineResult<Vec<usize>> {
    let visible = || table.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
    if named.is_empty() {
        return Ok(visible().filter(|(_, column)| column.generated.is_none()).map(|(at, _)| at).collect());
    }
    let mut positions = Vec::with_capacity(named.len());
    for name in named {
        let Some((at, column)) = visible().find(|(_, column)| column.name == *name) else {
            return fail(Fault::NoSuchColumn { table: table.name.clone(), column: name.clone() });
        };
        if column.generated.is_some() {
            return fail(Fault::CopyOfGenerated { column: name.clone() });
        }
        if positions.contains(&at) {
            return fail(Fault::ColumnTwice { column: name.clone() });
        }
        positions.push(at);
    }
    Ok(positions)
}
