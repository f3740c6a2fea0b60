//! Searches a row by a key prefix in the newest state.

use super::Transaction;
use crate::writes::{OwnRows, WriteSet};
use std::sync::Arc;
use store::{
    Bytes, CommitNo, Durability, FamilyId, KeyRange, ScanRequest, Snapshot, Store, StoreResult, TableId, WriteBatch,
};

/// Batch size: a prefix has one or two rows.
const FEW: usize = 4;

impl Transaction {
    /// The key of a row with the prefix, as this transaction would leave it: its own write, also of this statement, or
    /// the newest state in the store. The caller holds a lock that writers of such rows need. Own rows are only found
    /// if they were written with this prefix ([`Self::put_with_prefix`]).
    ///
    /// # Errors
    /// As [`Store::scan`].
    pub async fn find_newest(
        &mut self,
        table: TableId,
        family: FamilyId,
        prefix: &Bytes,
    ) -> StoreResult<Option<Bytes>> {
        let range = KeyRange::prefix(prefix.clone());
        if self.prefixes.may_have(table, prefix)
            && let Some(own) = self.find_own((table, family), &range)?
        {
            return Ok(Some(own));
        }
        self.find_committed(table, family, &range).await
    }

    /// As [`Self::find_newest`], but ignores rows written by the present statement: for callers that know that it has
    /// written none with the prefix. Searching the writes of a large statement for many prefixes would be slow.
    ///
    /// # Errors
    /// As [`Self::find_newest`].
    pub async fn find_before(
        &mut self,
        table: TableId,
        family: FamilyId,
        prefix: &Bytes,
    ) -> StoreResult<Option<Bytes>> {
        let range = KeyRange::prefix(prefix.clone());
        let statement = &self.statement;
        let stays = |key: &[u8]| Ok(!matches!(statement.get(table, family, key)?, Some(None)));
        if self.prefixes.may_have(table, prefix)
            && let Some(own) = first_put(&self.before, (table, family), &range, stays)?
        {
            return Ok(Some(own));
        }
        self.find_committed(table, family, &range).await
    }

    /// Searches rows that this transaction has not written.
    async fn find_committed(&self, table: TableId, family: FamilyId, range: &KeyRange) -> StoreResult<Option<Bytes>> {
        let newest = newest(self.store.as_ref()).await?;
        let mut request = ScanRequest::new(table, family, vec![range.clone()]);
        (request.values, request.batch_rows) = (false, FEW);
        let mut scan = self.store.scan(request, &newest).await?;
        while let Some(batch) = scan.next().await? {
            for key in batch.keys() {
                // A row that the transaction wrote here would have been found before, so an own write of this key is a
                // delete.
                if self.own_write(table, family, key)?.is_none() {
                    return Ok(Some(Bytes::copy_from_slice(key)));
                }
            }
        }
        Ok(None)
    }

    fn find_own(&mut self, family: (TableId, FamilyId), range: &KeyRange) -> StoreResult<Option<Bytes>> {
        // Shared only during the search.
        let statement = Arc::new(std::mem::take(&mut self.statement));
        let found = first_put(&statement, family, range, |_| Ok(true)).and_then(|found| match found {
            Some(key) => Ok(Some(key)),
            None => first_put(&self.before, family, range, |key| {
                Ok(!matches!(statement.get(family.0, family.1, key)?, Some(None)))
            }),
        });
        self.statement = Arc::unwrap_or_clone(statement);
        found
    }
}

/// The first row that a set writes in the range and for which `stays` returns true.
fn first_put(
    set: &Arc<WriteSet>,
    family: (TableId, FamilyId),
    range: &KeyRange,
    stays: impl Fn(&[u8]) -> StoreResult<bool>,
) -> StoreResult<Option<Bytes>> {
    if !set.writes_to(family.0, family.1) {
        return Ok(None);
    }
    let mut rows = OwnRows::new(Arc::clone(set), family, std::slice::from_ref(range), false);
    while let Some((key, written)) = rows.take()? {
        if written.is_some() && stays(&key)? {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

/// A snapshot with all commits, durable or not.
async fn newest(store: &dyn Store) -> StoreResult<Snapshot> {
    if let Some(newest) = store.newest() {
        return Ok(newest);
    }
    let last: CommitNo = store.apply(WriteBatch::default(), Durability::Buffered).await?;
    store.snapshot(last).await
}
