//! Secondary indexes. An entry of an index is a row of a table of its own ([`Index::entries`]): whatever reads and
//! writes rows reads and writes entries.
//!
//! ```text
//!   table   t (a, b, c, d)   key (a)
//!   index   ON t (c DESC) INCLUDE (d)
//!   entries (c, a, d)        key (c DESC, a)      a row each, the parts of the rowkey behind those of the index
//! ```
//!
//! Columns of entries have the ids that they have in the table, so that an index covers a query when its entries have all
//! the columns that the query reads. A part whose key bytes do not give its value back, such as the zeros of `1.00`,
//! has an id of its own: it can be searched, not read.

use crate::{Column, ColumnId, KeyColumn, LayoutDef, Table};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use types::{DataType, Datum};

/// An index of a table, made by CREATE INDEX or by a UNIQUE constraint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// Its oid, as clients see it.
    pub oid: u32,
    /// Its name, in the schema of its table.
    pub name: String,
    /// The generation of its entries in the store (`store::TableId`).
    pub storage: u32,
    /// No two rows have equal values in all parts.
    pub unique: bool,
    /// Are NULLs equal to each other in a unique index?
    pub nulls_not_distinct: bool,
    /// Oid of the UNIQUE constraint that it belongs to.
    pub constraint: Option<u32>,
    /// What is indexed, in order. Never empty.
    pub parts: Vec<IndexPart>,
    /// INCLUDE: columns that entries have besides.
    pub include: Vec<ColumnId>,
    /// Number of salt buckets of the entries, 2 to 256, if salted.
    pub salt_buckets: Option<u16>,
    /// Can its UNIQUE constraint be checked when a block ends?
    #[serde(default, skip_serializing_if = "is_false")]
    pub deferrable: bool,
    /// Is it, unless SET CONSTRAINTS says otherwise?
    #[serde(default, skip_serializing_if = "is_false")]
    pub deferred: bool,
    /// Who maintains its entries, and whether statements read them.
    #[serde(default, skip_serializing_if = "IndexState::is_public")]
    pub state: IndexState,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}

/// What statements do with an index. An online build goes through the first three in this order, a concurrent drop
/// backwards; between two of them it waits for the writers that knew the one before, so that writers of neighbouring states
/// only meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexState {
    /// Writers take entries away with their rows and add none; nobody reads them.
    DeleteOnly,
    /// Writers maintain entries and keep UNIQUE among those that are there; nobody reads them.
    WriteOnly,
    /// All do.
    #[default]
    Public,
}

impl IndexState {
    /// Do statements find rows by its entries?
    pub fn is_public(&self) -> bool {
        *self == Self::Public
    }

    /// Do entries leave with their rows?
    pub fn takes_deletes(self) -> bool {
        true
    }

    /// Do new states of rows get entries?
    pub fn takes_entries(self) -> bool {
        self != Self::DeleteOnly
    }
}

/// One part of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexPart {
    /// The table's column.
    pub column: ColumnId,
    /// The column of the entries: the same, if the key bytes keep the value as it is.
    pub entry: ColumnId,
    /// Sorted from large to small.
    pub descending: bool,
    /// Do NULLs sort before all values?
    pub nulls_first: bool,
}

impl Index {
    /// Its entries in the store.
    pub fn storage_id(&self) -> store::TableId {
        store::TableId(self.storage)
    }

    /// Does it have this column, as a part or included?
    pub fn names(&self, column: ColumnId) -> bool {
        self.include.contains(&column) || self.parts.iter().any(|part| part.column == column)
    }

    /// Its entries as a table: the parts of the index, then what they lack of the rowkey, then the included columns. Its
    /// oid, name and storage are those of the index.
    ///
    /// Parts of the index are nullable whatever the table says, so that SET and DROP NOT NULL leave entries alone.
    pub fn entries(&self, table: &Table) -> Table {
        let mut columns: Vec<Column> = Vec::with_capacity(self.parts.len() + table.key.len() + self.include.len());
        let mut key = Vec::with_capacity(self.parts.len() + table.key.len());
        let mut push = |source: ColumnId, id: ColumnId, not_null: Option<bool>| {
            let Some(column) = table.column(source).filter(|_| columns.iter().all(|it| it.id != id)) else {
                return false;
            };
            let not_null = not_null.unwrap_or(column.not_null);
            columns.push(entry_column(column, id, not_null));
            true
        };
        for part in &self.parts {
            if push(part.column, part.entry, Some(false)) {
                let IndexPart { entry: column, descending, nulls_first, .. } = *part;
                key.push(KeyColumn { column, descending, nulls_first });
            }
        }
        for part in &table.key {
            if push(part.column, part.column, None) {
                key.push(*part);
            }
        }
        let in_key = key.len();
        for column in &self.include {
            push(*column, *column, Some(false));
        }
        let values = columns.iter().skip(in_key).map(|column| (column.id, column.ty)).collect();
        Table {
            oid: crate::TableOid(self.oid),
            schema: table.schema,
            name: self.name.clone(),
            storage: self.storage,
            columns,
            key,
            key_name: None,
            key_oid: None,
            key_codec: table.key_codec,
            salt_hash: table.salt_hash,
            salt_buckets: self.salt_buckets,
            splits: Vec::new(),
            layouts: vec![LayoutDef { id: 1, columns: values }],
            next_column: table.next_column,
            properties: BTreeMap::new(),
            checks: Vec::new(),
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            version: table.version,
        }
    }
}

/// Entries are always written whole: nothing is missing in them, and nothing has a default.
fn entry_column(column: &Column, id: ColumnId, not_null: bool) -> Column {
    Column {
        id,
        name: column.name.clone(),
        ty: column.ty,
        not_null,
        default: None,
        missing: Datum::Null,
        family: None,
        sequence: None,
        identity: None,
        generated: None,
        hidden: column.hidden,
    }
}

/// Do the key bytes of a value of this type give back the value itself, and not just one that is equal to it?
pub fn key_keeps_value(ty: DataType) -> bool {
    match ty {
        DataType::Boolean
        | DataType::SmallInt
        | DataType::Integer
        | DataType::BigInt
        | DataType::Text
        | DataType::Varchar(_)
        | DataType::Bytea
        | DataType::Varbinary(_)
        | DataType::Binary(_)
        | DataType::Date
        | DataType::Uuid
        | DataType::Time(_)
        | DataType::Timestamp(_)
        | DataType::TimestampTz(_) => true,
        DataType::Numeric(digits) => digits.is_some(),
        _ => false,
    }
}
