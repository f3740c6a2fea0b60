//! Entries of indexes where the store writes single rows only: dual-write mode.
//!
//! ```text
//!   write   void (of a new row) ─> entries, unverified ─> unique values reserved ─> row, if its stamp is the one read
//!                               ─> entries verified, old entries and reservations deleted, each if still as marked
//!   read    verified entry: believed      unverified entry: its row tells; past some age it is repaired
//! ```
//! [`DualStore`] stands over the store. Whoever reads through it sees rows and entries that are believed, and never a mark
//! (`fragment::header`). Commits come to `commit`, one row with its entries after the other.
//!
//! Invariants, at any moment and whoever crashes:
//! - *Complete*: what a committed row says its entry is, is there, verified or not.
//! - *Sound*: a verified entry is that of its row as it is.
//! - *Unique*: a committed row with a unique value has the reservation of that value.
//!
//! Each write of a row that has entries is on the condition of a stamp, and no stamp comes twice. So a writer fails if its
//! row was rewritten after it looked: that is how `repair` makes sure that nobody is about to write a row before
//! it verifies or deletes an entry of it. Time decides nothing but how long a writer is left in peace. The argument in full
//! is in `docs/decisions/0008-dual-write-indexes.md`.

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

/// Rows and entries are in this family.
const FAMILY: FamilyId = FamilyId(0);

/// The stamp of what was read.
fn stamp_of(fragment: Option<&Bytes>) -> Option<CommitNo> {
    fragment.and_then(|fragment| header::commit_of(fragment))
}

fn has_mark(fragment: Option<&Bytes>, mark: u8) -> bool {
    fragment.is_some_and(|fragment| header::marks_of(fragment) & mark != 0)
}

impl Shared {
    /// What is there in the newest state, marks and all.
    async fn there(&self, table: TableId, key: &[u8]) -> StoreResult<Option<Bytes>> {
        self.raw.get_newest(table, FAMILY, key).await
    }

    /// Writes or deletes one row if it has the stamp that was read; the new stamp, or `None` if it has another one.
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

    /// Is it older than a writer is left in peace?
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
