//! Foreign keys: columns whose values must be key values of another table, or of the same one.
//!
//! The referencing table stores them; columns are named by their ids, so that a rename does not change them.

use crate::{Column, ColumnId, Table, TableOid};
use serde::{Deserialize, Serialize};
use types::ReferentialAction;

/// A foreign key of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Its oid, as clients see it.
    pub oid: u32,
    /// Its name, unique among the constraints of the table.
    pub name: String,
    /// The referencing columns. Never empty.
    pub columns: Vec<ColumnId>,
    /// The referenced table.
    pub parent: TableOid,
    /// The referenced columns, one for each of `columns`.
    pub parent_columns: Vec<ColumnId>,
    /// The oid of the parent's primary key, or of the unique index over the referenced columns.
    pub parent_index: u32,
    /// MATCH FULL.
    pub full: bool,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// The columns that ON DELETE SET NULL and SET DEFAULT set; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_columns: Vec<ColumnId>,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// DEFERRABLE: whether the check can be deferred to the end of the transaction.
    pub deferrable: bool,
    /// INITIALLY DEFERRED: the default of SET CONSTRAINTS.
    pub deferred: bool,
    /// Whether all rows are known to satisfy it. False for NOT VALID until VALIDATE CONSTRAINT.
    pub validated: bool,
}

/// A foreign key to be created.
#[derive(Clone, Debug)]
pub struct NewForeignKey {
    /// `None` is PostgreSQL's choice: `<table>_<columns>_fkey`, followed by a number if the name is taken.
    pub name: Option<String>,
    /// Names of the referencing columns.
    pub columns: Vec<String>,
    /// The referenced table.
    pub parent: TableOid,
    /// Names of the referenced columns; empty means the primary key.
    pub parent_columns: Vec<String>,
    /// MATCH FULL.
    pub full: bool,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// Names of the columns that ON DELETE sets; empty means all.
    pub set_columns: Vec<String>,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
    /// False for NOT VALID.
    pub validated: bool,
}

impl Table {
    /// The foreign key of that name.
    pub fn foreign_key(&self, name: &str) -> Option<&ForeignKey> {
        self.foreign_keys.iter().find(|key| key.name == name)
    }

    /// The columns of those ids.
    pub fn columns_of<'t>(&'t self, ids: &'t [ColumnId]) -> impl Iterator<Item = &'t Column> {
        ids.iter().filter_map(|id| self.column(*id))
    }

    /// Positions of the columns with those ids.
    pub fn positions_of(&self, ids: &[ColumnId]) -> Vec<usize> {
        ids.iter().filter_map(|id| self.columns.iter().position(|column| column.id == *id)).collect()
    }

    /// Whether a foreign key of this table refers to `parent`.
    pub fn refers_to(&self, parent: TableOid) -> bool {
        self.foreign_keys.iter().any(|key| key.parent == parent)
    }
}
