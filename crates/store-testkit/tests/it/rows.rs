//! A table with rows, for the tests of wrappers.

use std::sync::Arc;
use store::{
    Bytes, CommitNo, Durability, FamilyId, FamilySpec, KeyRange, Mutation, ScanRequest, Store, StoreResult,
    TableChange, TableId, TableSpec, WriteBatch,
};

pub(crate) const TABLE: TableId = TableId(1);
pub(crate) const FAMILY: FamilyId = FamilyId(0);

/// Creates [`TABLE`].
pub(crate) async fn create(store: &Arc<dyn Store>) {
    let spec = TableSpec { id: TABLE, families: vec![FamilySpec::new(FAMILY)], splits: Vec::new() };
    commit(store, WriteBatch { tables: vec![TableChange::Create(spec)], ..WriteBatch::default() }).await.unwrap();
}

pub(crate) async fn commit(store: &Arc<dyn Store>, batch: WriteBatch) -> StoreResult<CommitNo> {
    let commit = store.apply(batch, Durability::Sync).await?;
    store.sync(commit).await.map(|()| commit)
}

pub(crate) fn batch(mutations: Vec<Mutation>) -> WriteBatch {
    WriteBatch { mutations, ..WriteBatch::default() }
}

pub(crate) fn replace(key: &'static str, value: &[u8]) -> Mutation {
    Mutation::Replace { table: TABLE, family: FAMILY, key: Bytes::from(key), fragment: row(value) }
}

pub(crate) fn row(value: &[u8]) -> Vec<u8> {
    let mut fragment = Vec::new();
    fragment::encode_sparse(1, &[(0, value)], &mut fragment).unwrap();
    fragment
}

/// Keys and values of all rows.
pub(crate) async fn rows(store: &Arc<dyn Store>) -> StoreResult<Vec<(Bytes, Bytes)>> {
    let snapshot = store.snapshot(CommitNo(0)).await?;
    let mut scan = store.scan(ScanRequest::new(TABLE, FAMILY, vec![KeyRange::all()]), &snapshot).await?;
    let mut rows = Vec::new();
    while let Some(batch) = scan.next().await? {
        let value = |bytes| fragment::Fragment::parse(bytes).unwrap().sparse().unwrap().cell(0).unwrap();
        let pairs = batch.keys().zip(batch.fragments());
        rows.extend(pairs.map(|(key, bytes)| (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value(bytes)))));
    }
    Ok(rows)
}
