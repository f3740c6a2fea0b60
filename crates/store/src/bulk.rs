//! Loading many rows at once.

use crate::{CommitNo, FamilyId, StoreResult};
use async_trait::async_trait;

/// What a load does with a key that the table has already, or that comes twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The load fails with [`crate::StoreError::DuplicateKey`] and leaves no trace.
    Fail,
    /// The last row wins.
    Replace,
}

/// A load under way: rows in any order, invisible until [`BulkLoad::finish`]. Dropping it undoes it.
#[async_trait]
pub trait BulkLoad: Send {
    /// Adds one row. Keys in ascending order are cheapest.
    ///
    /// # Errors
    /// [`crate::StoreError::TooLarge`], or an I/O failure of the runs that do not fit in memory.
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()>;

    /// Makes all rows durable and visible as one commit.
    ///
    /// # Errors
    /// [`crate::StoreError::DuplicateKey`] by [`OnDuplicate::Fail`]; after any error nothing was loaded.
    async fn finish(self: Box<Self>) -> StoreResult<CommitNo>;
}
