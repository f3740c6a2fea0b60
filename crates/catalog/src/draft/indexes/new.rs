//! Definition of an index to be created, with names instead of ids.

use crate::IndexRefresh;
use types::{DataType, Datum};

/// An index to be created.
#[derive(Clone, Debug, Default)]
pub struct NewIndex {
    /// `None` is PostgreSQL's choice: `<table>_<columns>_idx`, or `<table>_<columns>_key` for a constraint.
    pub name: Option<String>,
    /// See [`Index::unique`](crate::Index::unique).
    pub unique: bool,
    /// See [`Index::nulls_not_distinct`](crate::Index::nulls_not_distinct).
    pub nulls_not_distinct: bool,
    /// Whether it belongs to a UNIQUE constraint, which has its name.
    pub constraint: bool,
    /// See [`Index::primary`](crate::Index::primary).
    pub primary: bool,
    /// The indexed columns and expressions, in order.
    pub parts: Vec<NewIndexPart>,
    /// Names of included columns.
    pub include: Vec<String>,
    /// From 2 to 256.
    pub salt_buckets: Option<u16>,
    /// See [`Index::deferrable`](crate::Index::deferrable).
    pub deferrable: bool,
    /// See [`Index::deferred`](crate::Index::deferred).
    pub deferred: bool,
    /// WHERE.
    pub predicate: Option<NewIndexExpr>,
    /// LOCAL: the entries of a salted table have the salt of their row. No effect on other tables.
    pub local: bool,
    /// SPLIT ON: values of leading parts.
    pub splits: Vec<Vec<Datum>>,
    /// See [`Index::refresh`](crate::Index::refresh).
    pub refresh: Option<IndexRefresh>,
}

/// An expression of an index to be created.
#[derive(Clone, Debug)]
pub struct NewIndexExpr {
    /// See [`IndexExpr::text`](crate::IndexExpr::text).
    pub text: String,
    /// The part name that is derived from the expression.
    pub name: String,
    /// Its type.
    pub ty: DataType,
    /// Names of the columns in it, each once.
    pub columns: Vec<String>,
    /// See [`IndexExpr::shown`](crate::IndexExpr::shown).
    pub shown: (String, String),
}

/// The text of an index expression, and how it is displayed.
#[derive(Clone, Debug)]
pub struct IndexText {
    /// See [`IndexExpr::text`](crate::IndexExpr::text).
    pub text: String,
    /// See [`IndexExpr::shown`](crate::IndexExpr::shown).
    pub shown: (String, String),
    /// See [`IndexExpr::ty`](crate::IndexExpr::ty).
    pub ty: DataType,
}

/// The column or expression of an index part to be created.
#[derive(Clone, Debug)]
pub enum NewPartOf {
    /// The column of that name.
    Column(String),
    /// An expression.
    Expression(NewIndexExpr),
}

/// One part of an index to be created.
#[derive(Clone, Debug)]
pub struct NewIndexPart {
    /// The column or expression.
    pub of: NewPartOf,
    /// Sorted from large to small.
    pub descending: bool,
    /// Whether NULLs sort before all values.
    pub nulls_first: bool,
}
