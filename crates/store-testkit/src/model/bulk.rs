//! Bulk loads: rows are kept aside until `finish`.

use super::Shared;
use super::staged::{Staged, check_size};
use super::state::State;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{
    BulkLoad, Bytes, Capabilities, CommitNo, FamilyId, OnDuplicate, StoreError, StoreResult, TableId, Timestamp,
};

pub(super) struct ModelBulkLoad {
    store: Arc<Shared>,
    table: TableId,
    on_duplicate: OnDuplicate,
    rows: BTreeMap<(FamilyId, Bytes), Vec<u8>>,
    /// The first key that came twice; told at the end, as a store that sorts runs finds it only then.
    twice: Option<Bytes>,
}

impl ModelBulkLoad {
    pub(super) fn new(store: Arc<Shared>, table: TableId, on_duplicate: OnDuplicate) -> Self {
        Self { store, table, on_duplicate, rows: BTreeMap::new(), twice: None }
    }

    fn install(&mut self, state: &mut State, now: Timestamp, limits: &Capabilities) -> StoreResult<CommitNo> {
        if self.on_duplicate == OnDuplicate::Fail {
            self.refuse_duplicates(state)?;
        }
        let rows = std::mem::take(&mut self.rows).into_iter();
        let rows = rows.map(|((family, key), fragment)| (self.table, family, key, fragment));
        let changes = Staged::new(state, now, limits).load(rows)?;
        let commit = state.install(changes, now);
        state.sync();
        Ok(commit)
    }

    fn refuse_duplicates(&self, state: &State) -> StoreResult<()> {
        let duplicate = |key: &Bytes| Err(StoreError::DuplicateKey { table: self.table, key: key.clone() });
        if let Some(key) = &self.twice {
            return duplicate(key);
        }
        for (family, key) in self.rows.keys() {
            if state.rows(self.table, *family, state.last())?.get(key, state.last()).is_some() {
                return duplicate(key);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl BulkLoad for ModelBulkLoad {
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        check_size("rowkey", key.len(), self.store.capabilities.max_key_bytes)?;
        check_size("row", fragment.len(), self.store.capabilities.max_fragment_bytes)?;
        let table = self.table;
        self.store.with(|state| state.rows(table, family, state.last()).map(|_| ()))?;
        let key = Bytes::copy_from_slice(key);
        if self.rows.insert((family, key.clone()), fragment.to_vec()).is_some() {
            self.twice.get_or_insert(key);
        }
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> StoreResult<CommitNo> {
        let (store, now) = (self.store.clone(), self.store.clock.now());
        store.with(|state| {
            state.table(self.table, state.last())?;
            self.install(state, now, &store.capabilities)
        })
    }
}
