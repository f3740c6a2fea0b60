//! A table: columns, key, layouts and storage.

use crate::derived::Derived;
use crate::{CatalogError, CatalogResult, ChangeLog, Check, Column, ColumnId, ForeignKey, Index, Live, Materialized};
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
    /// The column.
    pub column: ColumnId,
    /// Sorted from large to small.
    pub descending: bool,
    /// Whether NULLs of a nullable part sort before all values. (PostgreSQL: last for ASC, first for DESC.)
    pub nulls_first: bool,
}

/// The value columns in a fragment of this layout, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutDef {
    /// The id in the fragment's header.
    pub id: u16,
    /// Column and type (repeated here, because a dropped column is no longer in the table).
    pub columns: Vec<(ColumnId, types::DataType)>,
}

/// The key encoding of `docs/formats/rowkey.md`, the only one so far.
pub const KEY_CODEC: u16 = rowkey::CODEC_ID;
/// The salt hash of `docs/formats/rowkey.md`, the only one so far.
pub const SALT_HASH: u16 = rowkey::SALT_HASH_ID;
/// The salt hash of a local index's entries: the salt of their row. No table has it.
pub(crate) const SALT_OF_ROW: u16 = 2;

/// A table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// Its oid.
    pub oid: TableOid,
    /// Its schema.
    pub schema: SchemaId,
    /// Its name.
    pub name: String,
    /// The current storage of its rows (`store::TableId`); TRUNCATE allocates a new one.
    pub storage: u32,
    /// Columns in order of declaration, without dropped ones.
    pub columns: Vec<Column>,
    /// The primary key in key order. Never empty: a table without one has a hidden row id.
    pub key: Vec<KeyColumn>,
    /// Name of the primary key constraint; `None` with a hidden row id.
    pub key_name: Option<String>,
    /// Oid of the primary key's index and constraint, as clients see them; `None` with a hidden row id.
    pub key_oid: Option<u32>,
    /// The key encoding, [`KEY_CODEC`]; stored so that another encoding can be added.
    pub key_codec: u16,
    /// The salt hash, [`SALT_HASH`].
    pub salt_hash: u16,
    /// Number of salt buckets, 2 to 256, if salted.
    pub salt_buckets: Option<u16>,
    /// Region boundaries of SPLIT ON, as key bytes without salt, ascending.
    pub splits: Vec<Vec<u8>>,
    /// All layouts of stored rows; new rows have the last one.
    pub layouts: Vec<LayoutDef>,
    /// Next [`ColumnId`].
    pub next_column: u16,
    /// Properties of CREATE TABLE and ALTER TABLE, names in lower case.
    pub properties: BTreeMap<String, String>,
    /// CHECK constraints, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Secondary indexes, by oid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<Index>,
    /// Foreign keys to other tables or to itself, by oid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKey>,
    /// The definition, if it is a materialized view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub materialized: Option<Materialized>,
    /// Change logs of the incremental materialized views that read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub change_logs: Vec<ChangeLog>,
    /// Catalog version at which the table last changed.
    pub version: u64,
    /// Values derived from this version.
    #[serde(skip)]
    pub derived: Derived,
    /// Statistics and change counters, shared by all versions.
    #[serde(skip)]
    pub live: Live,
}

impl Table {
    /// The storage of the table's rows.
    pub fn storage_id(&self) -> store::TableId {
        store::TableId(self.storage)
    }

    /// The kind of relation, for messages.
    pub fn kind(&self) -> &'static str {
        if self.materialized.is_some() { "materialized view" } else { "table" }
    }

    /// Whether it is a materialized view without data. Its rows cannot be read.
    pub fn is_unpopulated(&self) -> bool {
        self.materialized.as_ref().is_some_and(|view| !view.populated)
    }

    /// Whether it is a materialized view that is refreshed incrementally.
    pub fn is_incremental(&self) -> bool {
        self.materialized.as_ref().is_some_and(|view| view.incremental.is_some())
    }

    /// The storages of its rows and its indexes.
    pub fn row_storages(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.storage).chain(self.indexes.iter().map(|index| index.storage))
    }

    /// The storages of its rows, its indexes and its change logs.
    pub fn storages(&self) -> impl Iterator<Item = u32> {
        self.row_storages().chain(self.change_logs.iter().map(|log| log.storage))
    }

    /// The index of that name.
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// The name of an index in error messages. One that is built to replace another has the name of that one, which is
    /// the only one that statements name.
    pub fn shown_name_of<'t>(&'t self, index: &'t Index) -> &'t str {
        let replaced = index.replaces.and_then(|oid| self.indexes.iter().find(|other| other.oid == oid));
        &replaced.unwrap_or(index).name
    }

    /// The indexes that statements read.
    pub fn public_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|index| index.state.is_public())
    }

    /// The column of that name, including hidden ones.
    pub fn column_by_name(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The column of that name, or an error that names it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchColumn`].
    pub fn must_get_column(&self, name: &str) -> CatalogResult<&Column> {
        self.column_by_name(name)
            .ok_or_else(|| CatalogError::NoSuchColumn { table: self.name.clone(), column: name.to_string() })
    }

    /// The column of that id.
    pub fn column(&self, id: ColumnId) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// The position of column `id` in the key, from 0.
    pub fn key_position(&self, id: ColumnId) -> Option<usize> {
        self.key.iter().position(|part| part.column == id)
    }

    /// Columns of the key in key order.
    pub fn key_columns(&self) -> impl Iterator<Item = &Column> {
        self.key.iter().filter_map(|part| self.column(part.column))
    }

    /// Columns that are not in the key, in order of declaration: the columns of fragments.
    pub fn value_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| self.key_position(column.id).is_none())
    }

    /// The columns of `*`, in order of declaration.
    pub fn visible_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !column.hidden)
    }

    /// Whether it has a primary key, deferrable or not.
    pub fn has_primary_key(&self) -> bool {
        !self.has_hidden_row_id() || self.primary_index().is_some()
    }

    /// The index of a deferrable primary key, whose table has a hidden row id.
    pub fn primary_index(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.primary)
    }

    /// Whether a hidden row id is its rowkey.
    pub fn has_hidden_row_id(&self) -> bool {
        self.columns.iter().any(|column| column.hidden)
    }

    /// The layout of new rows: the last one.
    pub fn current_layout_def(&self) -> Option<&LayoutDef> {
        self.layouts.last()
    }

    /// The value of a property, parsed by `read`; `None` if it is not set.
    pub fn property<T>(&self, name: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        read(self.properties.get(name)?)
    }

    /// The layout with that id.
    pub fn layout_def(&self, id: u16) -> Option<&LayoutDef> {
        // Layouts are sorted by id.
        let at = self.layouts.binary_search_by_key(&id, |layout| layout.id).ok()?;
        self.layouts.get(at)
    }
}
