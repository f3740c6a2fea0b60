//! CREATE VIEW.

use super::ObjectName;
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
