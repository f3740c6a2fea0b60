//! CREATE VIEW, and materialized views.

use super::{ObjectName, StorageHint, TableOption};
use crate::ast;

/// CREATE VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// Takes the place of a view that is there.
    pub or_replace: bool,
    /// No error when it is there.
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// Names of the first columns; the rest is named by the query.
    pub columns: Vec<String>,
    /// The query.
    pub query: Box<ast::Query>,
}

/// CREATE MATERIALIZED VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateMaterializedView {
    /// No error when it is there.
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// Names of the first columns; the rest is named by the query.
    pub columns: Vec<String>,
    /// WITH (…).
    pub options: Vec<TableOption>,
    /// What PostgreSQL is told about storage, and what is the same here whatever is said.
    pub hints: Vec<StorageHint>,
    /// The query.
    pub query: Box<ast::Query>,
    /// WITH NO DATA makes it false.
    pub with_data: bool,
}

/// REFRESH MATERIALIZED VIEW.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshMaterializedView {
    /// The view.
    pub name: ObjectName,
    /// CONCURRENTLY: rows that stay as they are are not written.
    pub concurrently: bool,
    /// WITH NO DATA makes it false.
    pub with_data: bool,
}
