//! COPY.

use super::{ObjectName, Statement};
use crate::ast;

/// COPY between the client and a table or query.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// The source or target.
    pub target: CopyTarget,
    /// The direction.
    pub direction: CopyDirection,
    /// The format and its options.
    pub options: CopyOptions,
    /// WHERE of COPY FROM: rows for which it is not true are skipped.
    pub selection: Option<ast::Expr>,
}

/// The source or target of COPY.
#[derive(Clone, Debug, PartialEq)]
pub enum CopyTarget {
    /// A table.
    Table {
        /// Its name.
        name: ObjectName,
        /// The columns; empty means all.
        columns: Vec<String>,
    },
    /// A query, for COPY TO.
    Query(Box<ast::Query>),
    /// INSERT, UPDATE or DELETE with RETURNING, or a SELECT that locks rows.
    Statement(Box<Statement>),
}

/// The direction of COPY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyDirection {
    /// COPY … FROM STDIN.
    FromStdin,
    /// COPY … TO STDOUT.
    ToStdout,
}

/// The format and its options; `None` means the default of the format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyOptions {
    /// FORMAT.
    pub format: CopyFormat,
    /// DELIMITER: one byte, by default tab in text and comma in CSV.
    pub delimiter: Option<u8>,
    /// NULL: by default `\N` in text and empty in CSV.
    pub null: Option<String>,
    /// HEADER.
    pub header: CopyHeader,
    /// QUOTE (CSV): one byte, by default `"`.
    pub quote: Option<u8>,
    /// ESCAPE (CSV): one byte, by default that of QUOTE.
    pub escape: Option<u8>,
    /// FORCE_QUOTE (CSV, TO).
    pub force_quote: CopyColumns,
    /// FORCE_NOT_NULL (CSV, FROM).
    pub force_not_null: CopyColumns,
    /// FORCE_NULL (CSV, FROM).
    pub force_null: CopyColumns,
    /// FREEZE (FROM).
    pub freeze: bool,
}

/// Format of COPY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyFormat {
    /// Tab-separated with backslash escapes.
    #[default]
    Text,
    /// Comma-separated with quotes.
    Csv,
    /// PostgreSQL's binary form.
    Binary,
}

/// HEADER of COPY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyHeader {
    /// No header line.
    #[default]
    Off,
    /// A header line; its names are ignored on input.
    On,
    /// A header line whose names must match the columns (FROM only).
    Match,
}

/// The columns of a FORCE option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CopyColumns {
    /// No columns.
    #[default]
    None,
    /// `*`.
    All,
    /// Named columns.
    Named(Vec<String>),
}
