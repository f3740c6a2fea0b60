//! A table: columns, key, layouts and where its rows are.

use crate::{Column, ColumnId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Oid of a table, as clients see it. Stable; from 16384 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableOid(pub u32);

/// Oid of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SchemaId(pub u32);

/// A schema (namespace).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaDef {
    /// Its oid.
    pub id: SchemaId,
    /// Its name.
    pub name: String,
}

/// One part of a primary key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyColumn {
    /// Which column.
    pub column: ColumnId,
    /// Sorted from large to small.
    pub descending: bool,
    /// Do NULLs of a nullable part sort before all values? (PostgreSQL: last for ASC, first for DESC.)
    pub nulls_first: bool,
}

/// The value columns that a fragment of this layout holds, in its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutDef {
    /// The id in the fragment's header.
    pub id: u16,
    /// Column and type (the type is repeated here, since a dropped column is gone from the table).
    pub columns: Vec<(ColumnId, types::DataType)>,
}

/// A table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// Its oid.
    pub oid: TableOid,
    /// Its schema.
    pub schema: SchemaId,
    /// Its name.
    pub name: String,
    /// The generation of its data in the store; TRUNCATE takes a new one. (`store::TableId`.)
    pub storage: u32,
    /// Columns in order of declaration, dropped ones left out.
    pub columns: Vec<Column>,
    /// The primary key in key order. Never empty: a table without one has a hidden row id.
    pub key: Vec<KeyColumn>,
    /// Name of the primary key constraint; `None` with a hidden row id.
    pub key_name: Option<String>,
    /// Number of salt buckets, 2 to 256, if salted.
    pub salt_buckets: Option<u16>,
    /// All layouts that rows may have; the last one is written.
    pub layouts: Vec<LayoutDef>,
    /// Next [`ColumnId`].
    pub next_column: u16,
    /// Properties given at CREATE TABLE and by ALTER TABLE, names in lower case.
    pub properties: BTreeMap<String, String>,
    /// Catalog version at which the table last changed.
    pub version: u64,
}
