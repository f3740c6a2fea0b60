//! Rows that a statement writes at its end, after all other rows: a changed key may equal the old key of a row that the
//! statement changes later.

use super::Transaction;
use crate::TxnResult;
use crate::writes::{OwnRows, WriteSet};
use std::sync::Arc;
use store::{Bytes, FamilyId, KeyRange, StoreResult, TableId};

impl Transaction {
    /// Keeps a row that the statement writes after all others. Returns false if there is already one with that key.
    ///
    /// # Errors
    /// As [`Self::put`].
    pub async fn defer_row(
        &mut self,
        table: TableId,
        family: FamilyId,
        key: Bytes,
        fragment: Bytes,
    ) -> TxnResult<bool> {
        self.make_room(&key, &Some(fragment.clone())).await?;
        if self.aside.get(table, family, &key)?.is_some() {
            return Ok(false);
        }
        self.aside.put(table, family, key, Some(fragment));
        Ok(true)
    }

    /// Takes all rows that were set aside.
    pub fn take_deferred(&mut self) -> DeferredWrites {
        DeferredWrites(Arc::new(std::mem::take(&mut self.aside)))
    }
}

/// Rows that were set aside.
#[derive(Debug)]
pub struct DeferredWrites(Arc<WriteSet>);

impl DeferredWrites {
    /// The rows of one family, in key order.
    pub fn rows(&self, table: TableId, family: FamilyId) -> DeferredRows {
        DeferredRows(OwnRows::new(Arc::clone(&self.0), (table, family), &[KeyRange::all()], false))
    }
}

/// An iterator over rows that were set aside.
#[derive(Debug)]
pub struct DeferredRows(OwnRows);

impl DeferredRows {
    /// The next row.
    ///
    /// # Errors
    /// I/O failures of spilled rows.
    pub fn next_row(&mut self) -> StoreResult<Option<(Bytes, Bytes)>> {
        while let Some((key, written)) = self.0.take()? {
            if let Some(fragment) = written {
                return Ok(Some((key, fragment)));
            }
        }
        Ok(None)
    }
}
