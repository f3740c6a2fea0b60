//! A view: a query under a name.

use crate::{ColumnId, SchemaId, TableOid};
use serde::{Deserialize, Serialize};
use types::DataType;

/// A view. Its query is kept as text and read again where the view is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Its oid, of the same counter as those of tables.
    pub oid: TableOid,
    /// Its schema.
    pub schema: SchemaId,
    /// Its name.
    pub name: String,
    /// In the order of the query.
    pub columns: Vec<ViewColumn>,
    /// Source text of its query.
    pub query: String,
    /// Where names in the query are looked up.
    pub search_path: Vec<String>,
    /// What the query reads.
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
    /// Columns of a table.
    pub columns: Vec<ColumnId>,
}

/// A view to be made.
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
    /// Where names in the query are looked up.
    pub search_path: Vec<String>,
    /// What the query reads.
    pub reads: Vec<ViewRead>,
}
