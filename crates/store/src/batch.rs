//! What one commit changes.

use crate::{CommitNo, FamilyId, TableChange, TableId};
use bytes::Bytes;

/// One commit: table changes first, then conditions (checked on the newest state), then mutations in order.
#[derive(Clone, Debug, Default)]
pub struct WriteBatch {
    /// Tables to create or drop, atomically with the rows where [`crate::Capabilities::table_changes`] holds.
    pub tables: Vec<TableChange>,
    /// All must hold on the newest state; otherwise nothing is written.
    pub conditions: Vec<Condition>,
    /// Applied in order; a later mutation of the same row sees the earlier one.
    pub mutations: Vec<Mutation>,
}

impl WriteBatch {
    /// Returns true if applying the batch would change nothing and check nothing.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.conditions.is_empty() && self.mutations.is_empty()
    }
}

/// A compare-and-set condition on one row's newest state. A read-modify-write reads the row, writes it under the
/// condition that its stamp is unchanged, and reads again on a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its table.
    pub table: TableId,
    /// Its family.
    pub family: FamilyId,
    /// Its rowkey.
    pub key: Bytes,
    /// `None`: the row does not exist. `Some(n)`: its fragment carries commit number `n`, compared for equality only.
    pub expect: Option<CommitNo>,
}

/// A change of one row in one family.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// Replaces the whole fragment without reading the old one. The store stamps it with its own monotonic time.
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
    /// Deletes the row's fragment of this family. Deleting a row that does not exist is no error.
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
