//! CREATE VIEW, and materialized views.

use super::{ObjectName, StorageHint, TableOption};
use crate::ast;

/// CREATE VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// OR REPLACE: replaces an existing view.
    pub or_replace: bool,
    /// No error if it exists.
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// Names of the first columns; the query names the others.
    pub columns: Vec<String>,
    /// The query.
    pub query: Box<ast::Query>,
}

/// CREATE MATERIALIZED VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateMaterializedView {
    /// No error if it exists.
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// Names of the first columns; the query names the others.
    pub columns: Vec<String>,
    /// WITH (…).
    pub options: Vec<TableOption>,
    /// Storage clauses of PostgreSQL, which have no effect.
    pub hints: Vec<StorageHint>,
    /// The query.
    pub query: Box<ast::Query>,
    /// False for WITH NO DATA.
    pub with_data: bool,
}

/// REFRESH MATERIALIZED VIEW.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshMaterializedView {
    /// The view.
    pub name: ObjectName,
    /// CONCURRENTLY: unchanged rows are not written.
    pub concurrently: bool,
    /// False for WITH NO DATA.
    pub with_data: bool,
}
