//! Fixtures for the tests of loads.

#![allow(clippy::unwrap_used)]

use crate::options::Options;
use crate::store::FjallStore;
use std::path::Path;
use std::sync::Arc;
use store::{Durability, FamilyId, FamilySpec, Store, TableChange, TableId, TableSpec, WriteBatch};

pub(super) const TABLE: TableId = TableId(1);
pub(super) const FAMILY: FamilyId = FamilyId(0);

/// A store with [`TABLE`] and options that make loads use small runs.
pub(super) async fn store(folder: &Path, load_threads: usize) -> Arc<FjallStore> {
    let options = Options { small_load_bytes: 1000, load_buffer_bytes: 100_000, load_threads, ..Options::default() };
    let store = FjallStore::open(folder, options).unwrap();
    create(&store, TABLE).await;
    store
}

/// Creates a table with one family.
pub(super) async fn create(store: &FjallStore, id: TableId) {
    let spec = TableSpec { id, families: vec![FamilySpec::new(FAMILY)], splits: vec![] };
    let creation = WriteBatch { tables: vec![TableChange::Create(spec)], ..WriteBatch::default() };
    store.apply(creation, Durability::Sync).await.unwrap();
}

/// A sample fragment.
pub(super) fn fragment() -> Vec<u8> {
    let mut fragment = Vec::new();
    fragment::encode_sparse(1, &[(1, b"some value")], &mut fragment).unwrap();
    fragment
}
