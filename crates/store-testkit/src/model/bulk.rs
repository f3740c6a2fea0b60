//! Bulk loads: rows are kept separately until `finish`.

use super::Shared;
use super::staged::{Staged, check_size};
use super::state::State;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{
    BulkLoad, Bytes, Capabilities, CommitNo, FamilyId, KeyRange, LoadRows, LoadTable, OnDuplicate, StoreError,
    StoreResult, TableId, Timestamp,
};

/// The place of a row.
type Place = (TableId, FamilyId, Bytes);

pub(super) struct ModelBulkLoad {
    store: Arc<Shared>,
    /// The first table is the one that the load was begun for.
    tables: Vec<LoadTable>,
    rows: BTreeMap<Place, Vec<u8>>,
    /// Duplicate keys, reported by `finish`, because a store that sorts runs finds them only then.
    twice: Vec<Place>,
}

impl ModelBulkLoad {
    pub(super) fn new(store: Arc<Shared>, table: TableId, on_duplicate: OnDuplicate) -> Self {
        let tables = vec![LoadTable { table, on_duplicate, unique: None }];
        Self { store, tables, rows: BTreeMap::new(), twice: Vec::new() }
    }

    fn put(&mut self, table: TableId, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        check_size("rowkey", key.len(), self.store.capabilities.max_key_bytes)?;
        check_size("row", fragment.len(), self.store.capabilities.max_fragment_bytes)?;
        self.store.with(|state| state.rows(table, family, state.last()).map(|_| ()))?;
        let place = (table, family, Bytes::copy_from_slice(key));
        if self.rows.insert(place.clone(), fragment.to_vec()).is_some() {
            self.twice.push(place);
        }
        Ok(())
    }

    fn install(&mut self, state: &mut State, now: Timestamp, limits: &Capabilities) -> StoreResult<CommitNo> {
        self.tables.iter().try_for_each(|of| self.refuse_duplicates(of, state))?;
        let rows = std::mem::take(&mut self.rows).into_iter();
        let rows = rows.map(|((table, family, key), fragment)| (table, family, key, fragment));
        let changes = Staged::new(state, now, limits).load(rows)?;
        let commit = state.install(changes, now);
        state.sync();
        Ok(commit)
    }

    fn refuse_duplicates(&self, of: &LoadTable, state: &State) -> StoreResult<()> {
        let duplicate = |key: &Bytes| Err(StoreError::DuplicateKey { table: of.table, key: key.clone() });
        let fails = of.on_duplicate == OnDuplicate::Fail;
        if fails && let Some((_, _, key)) = self.twice.iter().find(|(table, ..)| *table == of.table) {
            return duplicate(key);
        }
        for (_, family, key) in self.rows.keys().filter(|(table, ..)| *table == of.table) {
            let stored = state.rows(of.table, *family, state.last())?;
            if fails && stored.get(key, state.last()).is_some() {
                return duplicate(key);
            }
            let Some(unique) = &of.unique else { continue };
            let Some(prefix) = unique(key)?.and_then(|prefix| key.get(..prefix)) else { continue };
            let prefix = Bytes::copy_from_slice(prefix);
            let from = self.rows.range((of.table, *family, prefix.clone())..).map(|((_, _, other), _)| other);
            let mut loaded = from.take_while(|other| other.starts_with(&prefix));
            let range = KeyRange::prefix(prefix.clone());
            let mut stored = stored.range(&range, state.last()).map(|(other, _)| other);
            if loaded.any(|other| other != key) || stored.any(|other| other != key) {
                return duplicate(key);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl BulkLoad for ModelBulkLoad {
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        let Some(table) = self.tables.first().map(|of| of.table) else { return Err(StoreError::Closed) };
        self.put(table, family, key, fragment)
    }

    fn add_table(&mut self, table: LoadTable) -> StoreResult<()> {
        self.store.with(|state| state.table(table.table, state.last()).map(|_| ()))?;
        self.tables.push(table);
        Ok(())
    }

    async fn write_rows_of(&mut self, table: TableId, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
        if !self.tables.iter().any(|of| of.table == table) {
            return Err(StoreError::NoSuchTable { table });
        }
        rows.iter().try_for_each(|(key, fragment)| self.put(table, family, key, fragment))
    }

    async fn finish(mut self: Box<Self>) -> StoreResult<CommitNo> {
        let (store, now) = (self.store.clone(), self.store.clock.now());
        store.with(|state| {
            self.tables.iter().try_for_each(|of| state.table(of.table, state.last()).map(|_| ()))?;
            self.install(state, now, &store.capabilities)
        })
    }
}
