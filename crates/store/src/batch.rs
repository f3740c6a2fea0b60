//! What one commit changes.

use crate::{CommitNo, FamilyId, StoreError, TableChange, TableId};
use bytes::Bytes;
use std::sync::Arc;

/// One commit: table changes first, then conditions (checked on the newest state), then mutations in order.
#[derive(Clone, Debug, Default)]
pub struct WriteBatch {
    /// Tables made or dropped, atomically with the rows that describe them.
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

/// What must be true of one row's newest state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its table.
    pub table: TableId,
    /// Its family.
    pub family: FamilyId,
    /// Its rowkey.
    pub key: Bytes,
    /// `None`: there is no such row. `Some(n)`: its fragment carries commit number `n`.
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
    /// Reads the newest fragment and writes what [`RowUpdate::apply`] makes of it, as one step:
    /// merges, increments and check-and-mutate are all this.
    Update {
        /// Its table.
        table: TableId,
        /// Its family.
        family: FamilyId,
        /// Its rowkey.
        key: Bytes,
        /// The function.
        update: Arc<dyn RowUpdate>,
    },
}

impl Mutation {
    /// Table, family and rowkey.
    pub fn target(&self) -> (TableId, FamilyId, &Bytes) {
        match self {
            Self::Replace { table, family, key, .. }
            | Self::Delete { table, family, key }
            | Self::Update { table, family, key, .. } => (*table, *family, key),
        }
    }
}

/// A read-modify-write of one row, run by the store on the newest state under the row's latch.
pub trait RowUpdate: Send + Sync + std::fmt::Debug {
    /// `old` is the newest fragment, `None` when the row is absent. May be called again after a
    /// conflict (stores that check and mutate), so it keeps no state but its last result.
    ///
    /// # Errors
    /// Any error refuses the whole batch; [`StoreError::UpdateRefused`] is for refusals of the caller's own.
    fn apply(&self, old: Option<&[u8]>) -> Result<RowChange, StoreError>;
}

/// What a [`RowUpdate`] makes of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// Leave it as it is.
    Keep,
    /// This fragment; the store stamps it.
    Put(Vec<u8>),
    /// Remove it.
    Delete,
}
