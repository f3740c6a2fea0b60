//! Stores in temporary folders, and rows with text values.

use bytes::Bytes;
use std::path::Path;
use std::sync::Arc;
use store::{
    CommitNo, Durability, FamilyId, FamilySpec, KeyRange, Mutation, PointRead, ScanRequest, Snapshot, Store,
    TableChange, TableId, TableSpec, WriteBatch,
};
use store_fjall::{FjallStore, Options};

pub(crate) const FAMILY: FamilyId = FamilyId(0);

/// Small budgets, so that tests reach flushes and runs.
pub(crate) fn options() -> Options {
    Options { cache_bytes: 16 << 20, ..Options::default() }
}

pub(crate) fn open(path: &Path) -> Arc<FjallStore> {
    FjallStore::open(path, options()).unwrap()
}

/// A fragment with the text in one cell of a sparse row.
pub(crate) fn fragment(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    fragment::encode_sparse(1, &[(1, text.as_bytes())], &mut out).unwrap();
    out
}

/// The text in a fragment of [`fragment`].
pub(crate) fn text(bytes: &[u8]) -> String {
    let parsed = fragment::Fragment::parse(bytes).unwrap();
    let sparse = parsed.sparse().unwrap();
    String::from_utf8(sparse.cell(1).unwrap().to_vec()).unwrap()
}

pub(crate) fn spec(id: u32) -> TableSpec {
    TableSpec { id: TableId(id), families: vec![FamilySpec::new(FAMILY)], splits: vec![] }
}

pub(crate) fn create(id: u32) -> WriteBatch {
    WriteBatch { tables: vec![TableChange::Create(spec(id))], ..WriteBatch::default() }
}

pub(crate) fn put(table: u32, key: &str, value: &str) -> Mutation {
    let key = Bytes::copy_from_slice(key.as_bytes());
    Mutation::Replace { table: TableId(table), family: FAMILY, key, fragment: fragment(value) }
}

pub(crate) fn delete(table: u32, key: &str) -> Mutation {
    Mutation::Delete { table: TableId(table), family: FAMILY, key: Bytes::copy_from_slice(key.as_bytes()) }
}

pub(crate) fn batch(mutations: Vec<Mutation>) -> WriteBatch {
    WriteBatch { mutations, ..WriteBatch::default() }
}

/// Applies the batch and waits until it is durable.
pub(crate) async fn commit(store: &FjallStore, batch: WriteBatch) -> CommitNo {
    let commit = store.apply(batch, Durability::Sync).await.unwrap();
    store.sync(commit).await.unwrap();
    commit
}

pub(crate) async fn now(store: &FjallStore) -> Snapshot {
    store.snapshot(CommitNo(0)).await.unwrap()
}

pub(crate) async fn get(store: &FjallStore, table: u32, key: &str, at: &Snapshot) -> Option<String> {
    let found = store.get_row(TableId(table), FAMILY, key.as_bytes(), at).await.unwrap();
    found.map(|bytes| text(&bytes))
}

pub(crate) async fn scan(store: &FjallStore, table: u32, at: &Snapshot) -> Vec<(String, String)> {
    let request = ScanRequest::new(TableId(table), FAMILY, vec![KeyRange::all()]);
    let mut scan = store.scan(request, at).await.unwrap();
    let mut rows = Vec::new();
    while let Some(batch) = scan.next().await.unwrap() {
        let pairs = batch.keys().zip(batch.fragments());
        rows.extend(pairs.map(|(key, value)| (String::from_utf8(key.to_vec()).unwrap(), text(value))));
    }
    rows
}
