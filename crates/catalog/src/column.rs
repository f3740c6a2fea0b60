//! A column of a table.

use crate::TableOid;
use serde::{Deserialize, Serialize};
use types::{DataType, Datum};

/// Stable within its table; the qualifier of its cells. Never reused after a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ColumnId(pub u16);

/// How an identity column gets its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Identity {
    /// From its sequence, unless the statement has OVERRIDING SYSTEM VALUE.
    Always,
    /// From the statement, else from its sequence.
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
    /// NOT NULL, declared or implied by the primary key.
    pub not_null: bool,
    /// Source text of the DEFAULT expression, or of the expression of a generated column.
    pub default: Option<String>,
    /// Value for rows written before the column was added; NULL if the column was in CREATE TABLE.
    #[serde(with = "crate::stored_datum")]
    pub missing: Datum,
    /// Name of its column family; `None` is the default family `0`. Key columns have none.
    pub family: Option<String>,
    /// The sequence, if the default is exactly its next value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<TableOid>,
    /// The sequences that a compound default expression takes values of, each once; see [`sequence_reference`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default_sequences: Vec<TableOid>,
    /// GENERATED … AS IDENTITY; `sequence` is its sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// GENERATED ALWAYS AS (…) STORED: the columns in its expression, each once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<Vec<ColumnId>>,
    /// The hidden row id of a table without a primary key: not in `*` nor in `\d`.
    pub hidden: bool,
}

impl Column {
    /// Whether its default takes values of this sequence.
    pub fn takes_values_of(&self, sequence: TableOid) -> bool {
        self.sequence == Some(sequence) || self.default_sequences.contains(&sequence)
    }
}

/// How a compound default names a sequence: by its oid, so that the sequence can be renamed. sqlparser prints this cast
/// in the same form, and a quoted constant cannot contain it, because quotes in it are doubled.
pub fn sequence_reference(sequence: TableOid) -> String {
    format!("'{}'::REGCLASS", sequence.0)
}
