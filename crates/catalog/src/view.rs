//! View definitions.

use crate::{ColumnId, SchemaId, TableOid};
use serde::{Deserialize, Serialize};
use types::DataType;

/// A view. Its query is stored as text and parsed where the view is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Its oid, from the same counter as the oids of tables.
    pub oid: TableOid,
    /// Its schema.
    pub schema: SchemaId,
    /// Its name.
    pub name: String,
    /// In the order of the query.
    pub columns: Vec<ViewColumn>,
    /// Source text of its query.
    pub query: String,
    /// The search path for names in the query.
    pub search_path: Vec<String>,
    /// The relations and columns that the query reads.
    pub reads: Vec<ViewRead>,
    /// Catalog version at which it last changed.
    pub version: u64,
}

/// A column of a view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: DataType,
}

/// A relation that a view reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewRead {
    /// A table, view or sequence.
    pub relation: TableOid,
    /// The columns read, if it is a table.
    pub columns: Vec<ColumnId>,
}

/// The query of a view, plain or materialized, in which a relation or a column has a new name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewQuery {
    /// The view.
    pub view: TableOid,
    /// Source text of its query now.
    pub old: String,
    /// Source text of its query after the change.
    pub new: String,
}

/// A view to be created.
#[derive(Clone, Debug)]
pub struct NewView {
    /// An existing schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// In the order of the query.
    pub columns: Vec<ViewColumn>,
    /// Source text of its query.
    pub query: String,
    /// The search path for names in the query.
    pub search_path: Vec<String>,
    /// The relations and columns that the query reads.
    pub reads: Vec<ViewRead>,
}
