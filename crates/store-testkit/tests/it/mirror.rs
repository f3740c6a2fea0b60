//! The suite with two mirrored models, and the differences that a mirror finds.

use crate::rows::{FAMILY, TABLE, batch, commit, create, replace, row, rows};
use bennu_store_testkit::{LimitedStore, MirrorStore, ModelStore, Without};
use std::sync::Arc;
use store::{
    CommitNo, Durability, KeyRange, PointRead, ReadAt, ScanRequest, Store, StoreError, StoreResult, WriteBatch,
};

async fn new_store() -> Arc<dyn Store> {
    // Makes the commit numbers of the stores differ.
    let ahead: Arc<dyn Store> = Arc::new(ModelStore::new());
    create(&ahead).await;
    for value in [b"x", b"y"] {
        commit(&ahead, batch(vec![replace("k", value)])).await.unwrap();
    }
    let drop = vec![store::TableChange::Drop(TABLE)];
    commit(&ahead, WriteBatch { tables: drop, ..WriteBatch::default() }).await.unwrap();
    Arc::new(MirrorStore::new(Arc::new(ModelStore::new()), ahead))
}

mod suite {
    use super::new_store;
    bennu_store_testkit::conformance_tests!(new_store);
}

/// A mirror with a table, and its two stores.
async fn pair() -> (Arc<dyn Store>, Arc<dyn Store>, Arc<dyn Store>) {
    let (a, b): (Arc<dyn Store>, Arc<dyn Store>) = (Arc::new(ModelStore::new()), Arc::new(ModelStore::new()));
    let mirror: Arc<dyn Store> = Arc::new(MirrorStore::new(a.clone(), b.clone()));
    create(&mirror).await;
    commit(&mirror, batch(vec![replace("a", b"1"), replace("b", b"2")])).await.unwrap();
    (mirror, a, b)
}

fn is_difference<T: std::fmt::Debug>(result: StoreResult<T>) -> bool {
    matches!(&result, Err(StoreError::Corrupted { detail }) if detail.contains("mirrored stores differ"))
}

#[tokio::test]
async fn a_row_that_only_one_has_is_found() {
    for side in [0, 1] {
        let (mirror, a, b) = pair().await;
        commit([&a, &b][side], batch(vec![replace("c", b"3")])).await.unwrap();
        assert!(is_difference(rows(&mirror).await));
        let snapshot = mirror.snapshot(CommitNo(0)).await.unwrap();
        assert!(is_difference(mirror.get_row(TABLE, FAMILY, b"c", &snapshot).await));
        assert!(is_difference(mirror.get(TABLE, FAMILY, &[b"a", b"c"], ReadAt::Snapshot(&snapshot)).await));
        assert!(is_difference(mirror.get_newest(TABLE, FAMILY, b"c").await));
        assert_eq!(mirror.check().await.unwrap().problems.len(), 1);
        // Rows before the difference are returned only if their whole batch is equal.
        let few = ScanRequest::new(TABLE, FAMILY, vec![KeyRange::point("a")]);
        assert_eq!(mirror.scan(few, &snapshot).await.unwrap().next().await.unwrap().unwrap().len(), 1);
        let count =
            ScanRequest { keys: false, values: false, ..ScanRequest::new(TABLE, FAMILY, vec![KeyRange::all()]) };
        let mut count = mirror.scan(count, &snapshot).await.unwrap();
        let first = count.next().await;
        assert!(is_difference(match first {
            Ok(Some(_)) => count.next().await,
            other => other,
        }));
    }
}

#[tokio::test]
async fn a_value_that_differs_is_found() {
    let (mirror, _, b) = pair().await;
    commit(&b, batch(vec![replace("b", b"3")])).await.unwrap();
    assert!(is_difference(rows(&mirror).await));
    let found = mirror.get_newest(TABLE, FAMILY, b"b").await;
    assert!(is_difference(found));
    assert!(mirror.get_newest(TABLE, FAMILY, b"a").await.unwrap().is_some());
}

#[tokio::test]
async fn a_batch_that_only_one_refuses_is_found() {
    let (mirror, a, _) = pair().await;
    commit(&a, batch(vec![replace("c", b"3")])).await.unwrap();
    let insert = store::Condition { table: TABLE, family: FAMILY, key: "c".into(), expect: None };
    let refused = commit(&mirror, WriteBatch { conditions: vec![insert], ..batch(vec![replace("c", b"4")]) }).await;
    assert!(is_difference(refused));
}

#[tokio::test]
async fn stamps_may_differ() {
    let (mirror, a, b) = pair().await;
    let stamped = async |store: &Arc<dyn Store>| store.get_newest(TABLE, FAMILY, b"a").await.unwrap().unwrap();
    // Writes the same row again, in another commit of one store.
    commit(&b, batch(vec![replace("a", b"1")])).await.unwrap();
    assert_ne!(stamped(&a).await, stamped(&b).await);
    assert_eq!(stamped(&mirror).await, stamped(&a).await);
    assert_eq!(stamped(&a).await.len(), row(b"1").len());
}

#[tokio::test]
async fn a_mirror_can_what_both_can() {
    let without = Without { filter: true, keys_beyond: Some(100), ..Without::default() };
    let limited = Arc::new(LimitedStore::new(Arc::new(ModelStore::new()), without));
    let mirror: Arc<dyn Store> = Arc::new(MirrorStore::new(Arc::new(ModelStore::new()), limited));
    let can = mirror.capabilities();
    assert!(!can.filter && can.atomic_batches() && can.bulk_load && can.max_key_bytes == 100);
    bennu_store_testkit::suite::filter::a_limit_counts_rows_that_pass(mirror).await;
    let small = Arc::new(LimitedStore::new(Arc::new(ModelStore::new()), without));
    let mirror = Arc::new(MirrorStore::new(small, Arc::new(ModelStore::new())));
    bennu_store_testkit::suite::limits::a_key_over_the_limit_is_refused(mirror).await;
}

#[tokio::test]
async fn a_commit_that_one_has_published_is_in_both_halves_of_a_snapshot() {
    let (mirror, a, _) = pair().await;
    let commit = mirror.apply(batch(vec![replace("c", b"3")]), Durability::Sync).await.unwrap();
    // One store syncs independently.
    a.sync(commit).await.unwrap();
    assert_eq!(rows(&mirror).await.unwrap().len(), 3);
}
