//! Index entries on stores with row-level atomicity only: dual-write mode.
//!
//! ```text
//!   write   void (of a new row) ─> entries, unverified ─> unique values reserved ─> row, if its stamp is the one read
//!                               ─> entries verified, old entries and reservations deleted, each if still as marked
//!   read    verified entry: valid         unverified entry: checked against its row; repaired if old enough
//! ```
//! [`DualStore`] is a layer over the store. Reads through it return only valid rows and entries, without marks
//! (`fragment::header`). `commit` writes row by row, each row with its entries.
//!
//! Invariants, at any time and after any crash:
//! - *Complete*: the entries of a committed row exist, verified or not.
//! - *Sound*: a verified entry matches its present row.
//! - *Unique*: a committed row with a unique value holds the reservation of that value.
//!
//! Each write of a row with entries is conditional on the row's stamp, and no stamp occurs twice. So a writer fails if
//! its row was rewritten after it was read: `repair` rewrites a row to make sure that no writer is about to write it,
//! before it verifies or deletes an entry of the row. Time only determines how long a writer's marks are left alone.
//! The full proof is in `docs/decisions/0008-dual-write-indexes.md`.

mod commit;
mod layer;
mod plan;
mod repair;
mod reserve;
mod scan;

pub use layer::{Definitions, DualStore};

use fragment::header;
use layer::Shared;
use store::{
    Bytes, CommitNo, Condition, Durability, FamilyId, Mutation, PointRead, StoreError, StoreResult, TableId, WriteBatch,
};

/// The family of rows and entries.
const FAMILY: FamilyId = FamilyId(0);

/// The stamp of a fragment.
fn stamp_of(fragment: Option<&Bytes>) -> Option<CommitNo> {
    fragment.and_then(|fragment| header::commit_of(fragment))
}

fn has_mark(fragment: Option<&Bytes>, mark: u8) -> bool {
    fragment.is_some_and(|fragment| header::marks_of(fragment) & mark != 0)
}

impl Shared {
    /// Reads the newest fragment, including marked ones.
    async fn there(&self, table: TableId, key: &[u8]) -> StoreResult<Option<Bytes>> {
        self.raw.get_newest(table, FAMILY, key).await
    }

    /// Writes or deletes one row if it has the expected stamp. Returns the new stamp, or `None` if the stamp differs.
    async fn swap(
        &self,
        (table, key): (TableId, &Bytes),
        expect: Option<CommitNo>,
        fragment: Option<Vec<u8>>,
        durability: Durability,
    ) -> StoreResult<Option<CommitNo>> {
        let condition = Condition { table, family: FAMILY, key: key.clone(), expect };
        let batch = WriteBatch {
            conditions: vec![condition],
            mutations: vec![mutation(table, key, fragment)],
            ..WriteBatch::default()
        };
        match self.raw.apply(batch, durability).await {
            Ok(stamp) => Ok(Some(stamp)),
            Err(StoreError::ConditionFailed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the fragment is old enough to be repaired.
    fn is_old(&self, fragment: &[u8]) -> bool {
        let written = header::timestamp_of(fragment).map_or(0, |at| at.0);
        let patience = u64::try_from(self.patience.as_millis()).unwrap_or(u64::MAX);
        self.clock.now().0.saturating_sub(written) >= patience
    }
}

fn mutation(table: TableId, key: &Bytes, fragment: Option<Vec<u8>>) -> Mutation {
    let (family, key) = (FAMILY, key.clone());
    match fragment {
        Some(fragment) => Mutation::Replace { table, family, key, fragment },
        None => Mutation::Delete { table, family, key },
    }
}
