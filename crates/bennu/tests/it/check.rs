//! `bennu check` compares indexes with their tables while the folder is not in use.

use bennu::Bennu;
use std::sync::Arc;
use store::{Bytes, Durability, FamilyId, KeyRange, Mutation, ScanRequest, Store, TableId, WriteBatch};
use store_fjall::FjallStore;

/// Finds the storage with the entries of index `i`: its keys are two texts.
async fn entries(store: &Arc<FjallStore>) -> (TableId, Vec<Bytes>) {
    let state = store.snapshot(store::CommitNo(0)).await.unwrap();
    for id in (16..32).rev().map(TableId) {
        let request = ScanRequest::new(id, FamilyId(0), vec![KeyRange::all()]);
        let Ok(mut scan) = store.scan(request, &state).await else { continue };
        if let Some(batch) = scan.next().await.unwrap() {
            return (id, batch.keys().map(Bytes::copy_from_slice).collect());
        }
    }
    panic!("there are no entries");
}

#[tokio::test]
async fn a_missing_entry_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let db = Bennu::open(&data).await.unwrap();
    let mut session = db.session().unwrap();
    let rows = "INSERT INTO t SELECT g, 'b' || g FROM generate_series(1, 9) AS s (g)";
    for statement in ["CREATE TABLE t (k integer PRIMARY KEY, b text)", rows, "CREATE INDEX i ON t (b)"] {
        session.execute(statement).await.unwrap();
    }
    drop(session);
    db.close().await.unwrap();
    drop(db);
    let report = Bennu::check(&data).await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert!(report.tables.contains(&("public.i (an index)".to_string(), 9)), "{:?}", report.tables);
    let store = FjallStore::open(&data, store_fjall::Options::default()).unwrap();
    let (table, keys) = entries(&store).await;
    let gone = Mutation::Delete { table, family: FamilyId(0), key: keys[3].clone() };
    let commit =
        store.apply(WriteBatch { mutations: vec![gone], ..WriteBatch::default() }, Durability::Sync).await.unwrap();
    store.sync(commit).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let report = Bennu::check(&data).await.unwrap();
    assert_eq!(report.problems, ["public.t, index i: missing entry (b)=(b4)"]);
}
