//! COPY.

use super::{ObjectName, Statement};
use crate::ast;

/// COPY between the client and a table or query.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// What is copied.
    pub target: CopyTarget,
    /// Which way.
    pub direction: CopyDirection,
    /// How it is written.
    pub options: CopyOptions,
    /// WHERE of COPY FROM: rows that fail it are left out.
    pub selection: Option<ast::Expr>,
}

/// What is copied.
#[derive(Clone, Debug, PartialEq)]
pub enum CopyTarget {
    /// A table.
    Table {
        /// Its name.
        name: ObjectName,
        /// The columns; empty means all.
        columns: Vec<String>,
    },
    /// A query, which COPY TO writes.
    Query(Box<ast::Query>),
    /// What INSERT, UPDATE or DELETE returns, or a SELECT that locks rows.
    Statement(Box<Statement>),
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyDirection {
    /// COPY … FROM STDIN.
    FromStdin,
    /// COPY … TO STDOUT.
    ToStdout,
}

/// How data is written; `None` is the format's own default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyOptions {
    /// FORMAT.
    pub format: CopyFormat,
    /// DELIMITER: one byte. Tab in text, comma in CSV.
    pub delimiter: Option<u8>,
    /// NULL: `\N` in text, empty in CSV.
    pub null: Option<String>,
    /// HEADER.
    pub header: CopyHeader,
    /// QUOTE (CSV): one byte, `"`.
    pub quote: Option<u8>,
    /// ESCAPE (CSV): one byte, as QUOTE.
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
    /// A header line; its names are not looked at when read.
    On,
    /// A header line whose names must be the columns' (FROM only).
    Match,
}

/// Columns that a FORCE option names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CopyColumns {
    /// None.
    #[default]
    None,
    /// `*`.
    All,
    /// These.
    Named(Vec<String>),
}
