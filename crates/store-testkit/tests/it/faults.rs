//! Faults occur as planned, and the recorder sees every call.

use crate::rows::{FAMILY, TABLE, batch, commit, create, replace, row, rows};
use bennu_store_testkit::{Call, Counts, FaultPlan, FaultStore, ModelStore, Point, RecordingStore};
use std::sync::Arc;
use store::{CommitNo, Durability, OnDuplicate, PointRead, ReadAt, Store, StoreError};

async fn new_store() -> Arc<dyn Store> {
    let plan = FaultPlan::new();
    for point in [Point::Get, Point::Apply, Point::Sync, Point::ScanNext, Point::Snapshot] {
        plan.delay(point, 2);
    }
    Arc::new(FaultStore::new(Arc::new(RecordingStore::new(Arc::new(ModelStore::new()))), plan))
}

mod suite {
    use super::new_store;
    bennu_store_testkit::conformance_tests!(new_store);
}

async fn faulty() -> (Arc<dyn Store>, FaultPlan) {
    let plan = FaultPlan::new();
    let store: Arc<dyn Store> = Arc::new(FaultStore::new(Arc::new(ModelStore::new()), plan.clone()));
    create(&store).await;
    (store, plan)
}

fn io() -> StoreError {
    StoreError::Io { action: "a test".into(), reason: "planned".into() }
}

#[tokio::test]
async fn the_nth_call_fails_and_the_next_works() {
    let (store, plan) = faulty().await;
    plan.fail(Point::Apply, 2, io());
    commit(&store, batch(vec![replace("a", b"1")])).await.unwrap();
    assert_eq!(commit(&store, batch(vec![replace("b", b"2")])).await, Err(io()));
    commit(&store, batch(vec![replace("c", b"3")])).await.unwrap();
    assert_eq!(rows(&store).await.unwrap(), [("a".into(), "1".into()), ("c".into(), "3".into())]);
    assert_eq!(plan.struck(), 1);
}

#[tokio::test]
async fn a_lasting_fault_stays_until_it_is_cleared() {
    let (store, plan) = faulty().await;
    let read_only = StoreError::ReadOnly { reason: "planned".into(), disk_full: false };
    plan.fail_from(Point::Sync, 1, read_only.clone());
    for _ in 0..3 {
        assert_eq!(commit(&store, batch(vec![replace("a", b"1")])).await, Err(read_only.clone()));
    }
    assert_eq!(rows(&store).await.unwrap(), [], "what is not synced is not seen");
    plan.clear();
    commit(&store, batch(vec![])).await.unwrap();
    commit(&store, batch(vec![replace("b", b"2")])).await.unwrap();
    assert_eq!((rows(&store).await.unwrap().len(), plan.struck()), (2, 3));
}

#[tokio::test]
async fn a_failure_after_a_batch_leaves_it_written() {
    let (store, plan) = faulty().await;
    plan.fail(Point::AfterApply, 1, io());
    assert_eq!(store.apply(batch(vec![replace("a", b"1")]), Durability::Buffered).await, Err(io()));
    assert_eq!(rows(&store).await.unwrap().len(), 1);
}

#[tokio::test]
async fn reads_and_loads_fail_too() {
    let (store, plan) = faulty().await;
    commit(&store, batch(vec![replace("a", b"1")])).await.unwrap();
    for point in [Point::Snapshot, Point::Scan, Point::ScanNext] {
        plan.fail(point, 1, io());
        assert_eq!(rows(&store).await, Err(io()), "{point:?}");
    }
    plan.fail(Point::Get, 1, io());
    assert_eq!(store.get_newest(TABLE, FAMILY, b"a").await, Err(io()));
    plan.fail(Point::BulkLoad, 1, io());
    assert_eq!(store.bulk_load(TABLE, OnDuplicate::Fail).await.err(), Some(io()));
    plan.fail(Point::BulkWrite, 2, io());
    plan.fail(Point::BulkFinish, 1, io());
    let mut load = store.bulk_load(TABLE, OnDuplicate::Fail).await.unwrap();
    load.write(FAMILY, b"b", &row(b"2")).await.unwrap();
    assert_eq!(load.write(FAMILY, b"c", &row(b"3")).await, Err(io()));
    assert_eq!(load.finish().await, Err(io()));
    plan.fail(Point::Flush, 1, io());
    assert_eq!(store.flush(TABLE, true).await, Err(io()));
    assert_eq!((rows(&store).await.unwrap().len(), plan.struck()), (1, 8));
}

#[tokio::test]
async fn the_recorder_counts_and_remembers() {
    let recorder = RecordingStore::new(Arc::new(ModelStore::new()));
    let store: Arc<dyn Store> = Arc::new(recorder.clone());
    create(&store).await;
    recorder.reset();
    let last = commit(&store, batch(vec![replace("a", b"1"), replace("b", b"2")])).await.unwrap();
    assert_eq!(rows(&store).await.unwrap().len(), 2);
    let snapshot = store.snapshot(CommitNo(0)).await.unwrap();
    store.get_row(TABLE, FAMILY, b"a", &snapshot).await.unwrap();
    store.get(TABLE, FAMILY, &[b"a", b"b", b"c"], ReadAt::Snapshot(&snapshot)).await.unwrap();
    store.apply(batch(vec![]), Durability::Sync).await.unwrap();
    let expected = Counts {
        snapshots: 2,
        gets: 1,
        multi_gets: 1,
        keys: 4,
        scans: 1,
        batches: 1,
        mutations: 2,
        syncs: 1,
        ..Counts::default()
    };
    assert_eq!(recorder.counts(), expected);
    assert_eq!(recorder.scans().len(), 1);
    let calls = recorder.calls();
    assert!(
        matches!(&calls[..2], [Call::Apply(batch, Durability::Sync), Call::Sync(commit)] if batch.mutations.len() == 2 && *commit == last)
    );
    recorder.reset();
    assert_eq!((recorder.counts(), recorder.calls().len()), (Counts::default(), 0));
}

#[tokio::test]
async fn a_crash_of_the_model_takes_what_was_not_durable() {
    let model = ModelStore::new();
    let store: Arc<dyn Store> = Arc::new(model.clone());
    create(&store).await;
    commit(&store, batch(vec![replace("a", b"1")])).await.unwrap();
    store.apply(batch(vec![replace("a", b"2"), replace("b", b"2")]), Durability::Sync).await.unwrap();
    store.apply(batch(vec![replace("c", b"3")]), Durability::Buffered).await.unwrap();
    let reopened: Arc<dyn Store> = Arc::new(model.after_crash());
    assert_eq!(rows(&reopened).await.unwrap(), [("a".into(), "1".into())]);
    assert_eq!(
        rows(&store).await.unwrap(),
        [("a".into(), "1".into())],
        "a Sync commit before it hides the Buffered one"
    );
    commit(&reopened, batch(vec![replace("d", b"4")])).await.unwrap();
    assert_eq!(rows(&reopened).await.unwrap().len(), 2);
}
