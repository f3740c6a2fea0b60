//! Foreign keys: columns of a table whose values are those of a key of another row, or of the same table.
//!
//! The table that refers keeps them; columns are named by their ids, so that renaming leaves them as they are.

use crate::{Column, ColumnId, Table, TableOid};
use serde::{Deserialize, Serialize};
use types::ReferentialAction;

/// A foreign key of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Its oid, as clients see it.
    pub oid: u32,
    /// Its name, which no other constraint of the table has.
    pub name: String,
    /// The columns that refer. Never empty.
    pub columns: Vec<ColumnId>,
    /// The table that is referred to.
    pub parent: TableOid,
    /// Its columns, one for each of `columns`.
    pub parent_columns: Vec<ColumnId>,
    /// The oid of its index that keeps them unique, or of its primary key.
    pub parent_index: u32,
    /// MATCH FULL.
    pub full: bool,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// The columns that ON DELETE SET NULL and SET DEFAULT set; none means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_columns: Vec<ColumnId>,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// May it be checked at the end of a transaction?
    pub deferrable: bool,
    /// Is it, unless SET CONSTRAINTS says otherwise?
    pub deferred: bool,
    /// Do all rows keep it? Not before VALIDATE CONSTRAINT, if it was made NOT VALID.
    pub validated: bool,
}

/// A foreign key to be made.
#[derive(Clone, Debug)]
pub struct NewForeignKey {
    /// `None` is PostgreSQL's choice: `<table>_<columns>_fkey`, with a number behind it if that is taken.
    pub name: Option<String>,
    /// Names of the columns that refer.
    pub columns: Vec<String>,
    /// The table that is referred to.
    pub parent: TableOid,
    /// Names of its columns; none means its primary key.
    pub parent_columns: Vec<String>,
    /// MATCH FULL.
    pub full: bool,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// Names of the columns that it sets; none means all.
    pub set_columns: Vec<String>,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
    /// Do all rows keep it?
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

    /// Where the columns of those ids stand.
    pub fn positions_of(&self, ids: &[ColumnId]) -> Vec<usize> {
        ids.iter().filter_map(|id| self.columns.iter().position(|column| column.id == *id)).collect()
    }

    /// Does a foreign key refer to that table?
    pub fn refers_to(&self, parent: TableOid) -> bool {
        self.foreign_keys.iter().any(|key| key.parent == parent)
    }
}
