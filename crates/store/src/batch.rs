//! What one commit changes.

use crate::{CommitNo, FamilyId, TableChange, TableId};
use bytes::Bytes;

/// One commit: table changes first, then conditions (checked on the newest state), then mutations in order.
#[derive(Clone, Debug, Default)]
pub struct WriteBatch {
    /// Tables made or dropped, one step with the rows where [`crate::Capabilities::table_changes`] holds.
    pub tables: Vec<TableChange>,
    /// All must hold on the newest state, or nothing is written.
    pub conditions: Vec<Condition>,
    /// Applied in order; a later one on the same row sees the earlier one.
    pub mutations: Vec<Mutation>,
}

impl WriteBatch {
    /// Would applying it change nothing and check nothing?
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.conditions.is_empty() && self.mutations.is_empty()
    }
}

/// What must be true of one row's newest state. The way to read and write a row as one step: read it, and write
/// under the condition that it still carries the stamp that was read; on a conflict read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its table.
    pub table: TableId,
    /// Its family.
    pub family: FamilyId,
    /// Its rowkey.
    pub key: Bytes,
    /// `None`: there is no such row. `Some(n)`: its fragment carries commit number `n`. Equality is all that is
    /// asked: the numbers of two rows are not compared.
    pub expect: Option<CommitNo>,
}

/// A change of one row in one family.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// The whole fragment, old one unread. The store stamps it with its own monotonic time.
    Replace {
        /// Its table.
        table: TableId,
        /// Its family.
        family: FamilyId,
        /// Its rowkey.
        key: Bytes,
        /// A fragment; its stamp fields are overwritten.
        fragment: Vec<u8>,
    },
    /// The row's fragment of this family goes away. Deleting what is not there is fine.
    Delete {
        /// Its table.
        table: TableId,
        /// Its family.
        family: FamilyId,
        /// Its rowkey.
        key: Bytes,
    },
}

impl Mutation {
    /// Table, family and rowkey.
    pub fn target(&self) -> (TableId, FamilyId, &Bytes) {
        match self {
            Self::Replace { table, family, key, .. } | Self::Delete { table, family, key } => (*table, *family, key),
        }
    }
}
