//! A column of a table.

use crate::TableOid;
use serde::{Deserialize, Serialize};
use types::{DataType, Datum};

/// Stable within its table, the qualifier of its cells. Never used again after a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ColumnId(pub u16);

/// Who may give an identity column its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Identity {
    /// Its sequence, unless OVERRIDING SYSTEM VALUE is said.
    Always,
    /// The statement, or else its sequence.
    ByDefault,
}

/// A column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Column {
    /// Stable id.
    pub id: ColumnId,
    /// Name as folded or quoted by the user.
    pub name: String,
    /// SQL type.
    pub ty: DataType,
    /// NOT NULL, or part of a primary key that says so.
    pub not_null: bool,
    /// Source text of the DEFAULT expression, or of what a generated column is computed by.
    pub default: Option<String>,
    /// Value for rows written before the column was added; NULL if it was there from the start.
    #[serde(with = "crate::stored_datum")]
    pub missing: Datum,
    /// Name of its column family; `None` is the default family `0`. Key columns have none.
    pub family: Option<String>,
    /// The default is the next value of this sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<TableOid>,
    /// The sequences of which a larger default takes values, each once; see [`sequence_reference`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default_sequences: Vec<TableOid>,
    /// GENERATED … AS IDENTITY; its sequence is that of `sequence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// GENERATED ALWAYS AS (…) STORED: the columns that its expression names, each once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<Vec<ColumnId>>,
    /// Of the hidden row id of a table without a primary key: not shown by `*` nor by `\d`.
    pub hidden: bool,
}

impl Column {
    /// Does its default take values of this sequence?
    pub fn takes_values_of(&self, sequence: TableOid) -> bool {
        self.sequence == Some(sequence) || self.default_sequences.contains(&sequence)
    }
}

/// How a larger default names a sequence: by its oid, so that the sequence may be renamed. It is what sqlparser prints for
/// this cast, and cannot stand within a quoted constant, whose quotes are doubled.
pub fn sequence_reference(sequence: TableOid) -> String {
    format!("'{}'::REGCLASS", sequence.0)
}
