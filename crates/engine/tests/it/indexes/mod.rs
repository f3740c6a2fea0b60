//! Indexes: entries match the rows, whichever statement writes them, and whatever fails.

mod build;
mod check;
mod concurrency;
mod loads;
mod online;
mod random;
mod refreshed;
mod statements;

use crate::client::Client;
use catalog::{CatalogCache, RowCodec, Table};
use engine::Engine;
use index::IndexCodec;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Bytes, Durability, FamilyId, KeyRange, ScanRequest, Store, TableId, WriteBatch};
use store_fjall::FjallStore;
use store_testkit::ModelStore;

const FAMILY: FamilyId = FamilyId(0);

/// An engine with its store, so that tests can read the store directly.
struct World {
    engine: Arc<Engine>,
    store: Arc<dyn Store>,
    client: Client,
}

impl World {
    async fn over(store: Arc<dyn Store>) -> Self {
        let engine = crate::client::engine_over(Arc::clone(&store)).await;
        let client = Client::of(&engine);
        Self { engine, store, client }
    }

    /// Over the model.
    async fn new() -> Self {
        Self::over(Arc::new(ModelStore::new())).await
    }

    /// Over the embedded store.
    async fn embedded() -> Self {
        let options = store_fjall::Options { temporary: true, ..store_fjall::Options::default() };
        Self::over(FjallStore::open(tempfile::tempdir().unwrap().keep(), options).unwrap()).await
    }

    /// The table's definition as stored. No DDL may run meanwhile.
    async fn table(&self, name: &str) -> Arc<Table> {
        let catalog = CatalogCache::open(Arc::clone(&self.store)).await.unwrap();
        Arc::clone(catalog.current().table("public", name).unwrap())
    }

    /// Keys, and fragments without their commit stamps.
    async fn rows(&self, table: TableId) -> BTreeMap<Bytes, Vec<u8>> {
        let last = self.store.apply(WriteBatch::default(), Durability::Buffered).await.unwrap();
        let snapshot = self.store.snapshot(last).await.unwrap();
        let request = ScanRequest::new(table, FAMILY, vec![KeyRange::all()]);
        let mut scan = self.store.scan(request, &snapshot).await.unwrap();
        let mut rows = BTreeMap::new();
        while let Some(batch) = scan.next().await.unwrap() {
            for (key, fragment) in batch.keys().zip(batch.fragments()) {
                let mut fragment = fragment.to_vec();
                fragment[4..20].fill(0);
                rows.insert(Bytes::copy_from_slice(key), fragment);
            }
        }
        rows
    }

    /// Checks that each index of the table has exactly the entries of its rows, and that CHECK agrees. Returns the
    /// number of rows.
    async fn verify(&mut self, name: &str) -> usize {
        self.verify_after(name, "").await
    }

    /// As [`Self::verify`]; `done` is part of the assertion message.
    async fn verify_after(&mut self, name: &str, done: &str) -> usize {
        let table = self.table(name).await;
        let codec = RowCodec::new(&table).unwrap();
        let rows = self.rows(table.storage_id()).await;
        // Only the engine compiles index expressions; CHECK compares the entries of such indexes.
        let computes = |index: &&catalog::Index| index.texts().next().is_some();
        for index in table.indexes.iter().filter(|index| index.state.takes_deletes() && !computes(index)) {
            let of_index = IndexCodec::new(&table, index).unwrap();
            let entry = |(key, fragment): (&Bytes, &Vec<u8>)| {
                let entry = of_index.entry(&codec.decode_full(key, fragment).unwrap()).unwrap()?;
                Some((entry.key, entry.fragment.to_vec()))
            };
            let expected: BTreeMap<Bytes, Vec<u8>> = rows.iter().filter_map(entry).collect();
            let there = self.rows(index.storage_id()).await;
            assert_eq!(there.len(), expected.len(), "entries of {} {done}", index.name);
            assert!(there == expected, "entries of {} {done}", index.name);
        }
        assert_eq!(self.client.run(&format!("CHECK TABLE {name}")).await, "CHECK 0", "{done}");
        rows.len()
    }

    /// The storages that exist in the store, those of indexes included.
    async fn storages(&self) -> Vec<u32> {
        let mut found = Vec::new();
        for id in 0..200 {
            if self.store.regions(TableId(id)).await.is_ok() {
                found.push(id);
            }
        }
        found
    }
}
