//! Point reads: the state that they read, and short forms for one row.

use crate::{FamilyId, Snapshot, Store, StoreResult, TableId};
use bytes::Bytes;
use std::future::Future;

/// The state that a point read reads.
#[derive(Clone, Copy, Debug)]
pub enum ReadAt<'a> {
    /// A published snapshot.
    Snapshot(&'a Snapshot),
    /// The newest state, durable or not. For writers that hold the row lock only: a crash could undo what a reader saw.
    Newest,
}

/// [`Store::get`] for one row.
pub trait PointRead {
    /// Reads the row at a published snapshot.
    ///
    /// # Errors
    /// As [`Store::get`].
    fn get_row(
        &self,
        table: TableId,
        family: FamilyId,
        key: &[u8],
        snapshot: &Snapshot,
    ) -> impl Future<Output = StoreResult<Option<Bytes>>> + Send;

    /// Reads the row in the newest state: see [`ReadAt::Newest`].
    ///
    /// # Errors
    /// As [`Store::get`].
    fn get_newest(
        &self,
        table: TableId,
        family: FamilyId,
        key: &[u8],
    ) -> impl Future<Output = StoreResult<Option<Bytes>>> + Send;
}

impl<S: Store + ?Sized> PointRead for S {
    async fn get_row(
        &self,
        table: TableId,
        family: FamilyId,
        key: &[u8],
        snapshot: &Snapshot,
    ) -> StoreResult<Option<Bytes>> {
        Ok(self.get(table, family, &[key], ReadAt::Snapshot(snapshot)).await?.pop().flatten())
    }

    async fn get_newest(&self, table: TableId, family: FamilyId, key: &[u8]) -> StoreResult<Option<Bytes>> {
        Ok(self.get(table, family, &[key], ReadAt::Newest).await?.pop().flatten())
    }
}
