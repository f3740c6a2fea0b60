//! A bulk load in batches, for stores without bulk loads. The table is not visible yet, so the load need not be atomic.

use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{
    BulkLoad, Bytes, CommitNo, Condition, Durability, FamilyId, Mutation, Store, StoreError, StoreResult, TableId,
    WriteBatch,
};

/// Approximate size of the keys and fragments in a batch.
const BATCH_BYTES: usize = 1 << 20;

/// Begins a load into `table`, which nobody else reads or writes. If the load is dropped, the rows written so far
/// remain, and the table must be dropped. A duplicate key is an error.
///
/// # Errors
/// [`StoreError::NoSuchTable`] if the store detects it.
pub async fn load_unseen(store: &Arc<dyn Store>, table: TableId) -> StoreResult<Box<dyn BulkLoad>> {
    if store.capabilities().bulk_load {
        return store.bulk_load(table, store::OnDuplicate::Fail).await;
    }
    Ok(Box::new(BatchLoad { store: Arc::clone(store), table, rows: BTreeMap::new(), bytes: 0, last: CommitNo(0) }))
}

struct BatchLoad {
    store: Arc<dyn Store>,
    table: TableId,
    rows: BTreeMap<(FamilyId, Bytes), Vec<u8>>,
    bytes: usize,
    last: CommitNo,
}

impl BatchLoad {
    async fn flush(&mut self) -> StoreResult<()> {
        let table = self.table;
        let mut batch = WriteBatch::default();
        for ((family, key), fragment) in std::mem::take(&mut self.rows) {
            batch.conditions.push(Condition { table, family, key: key.clone(), expect: None });
            batch.mutations.push(Mutation::Replace { table, family, key, fragment });
        }
        self.bytes = 0;
        if batch.is_empty() {
            return Ok(());
        }
        // Synced at the end. An abandoned load would keep later commits of others invisible.
        self.last = self.store.apply(batch, Durability::Buffered).await.map_err(|error| match error {
            StoreError::ConditionFailed { table, key } => StoreError::DuplicateKey { table, key },
            error => error,
        })?;
        Ok(())
    }
}

#[async_trait]
impl BulkLoad for BatchLoad {
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        let key = Bytes::copy_from_slice(key);
        self.bytes += key.len() + fragment.len();
        // A batch would keep the last row of a duplicate key.
        if self.rows.insert((family, key.clone()), fragment.to_vec()).is_some() {
            return Err(StoreError::DuplicateKey { table: self.table, key });
        }
        if self.bytes >= BATCH_BYTES { self.flush().await } else { Ok(()) }
    }

    async fn finish(mut self: Box<Self>) -> StoreResult<CommitNo> {
        self.flush().await?;
        self.store.sync(self.last).await?;
        Ok(self.last)
    }
}
