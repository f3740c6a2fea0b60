//! The effects of a commit, its visibility, and its errors.

use crate::support::*;
use bytes::Bytes;
use store::{
    CommitNo, Condition, Durability, Mutation, PointRead, Store, StoreError, TableChange, TableId, WriteBatch,
};

#[tokio::test]
async fn a_sync_commit_is_seen_after_its_sync_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    let applied = store.apply(batch(vec![put(1, "a", "1")]), Durability::Sync).await.unwrap();
    let before = now(&store).await;
    if before.commit() < applied {
        assert_eq!(get(&store, 1, "a", &before).await, None);
    }
    assert_eq!(store.get_newest(TableId(1), FAMILY, b"a").await.unwrap().map(|f| text(&f)), Some("1".into()));
    store.sync(applied).await.unwrap();
    assert_eq!(get(&store, 1, "a", &now(&store).await).await, Some("1".into()));
}

#[tokio::test]
async fn a_buffered_commit_is_seen_at_once_and_soon_durable() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    let applied = store.apply(batch(vec![put(1, "a", "1")]), Durability::Buffered).await.unwrap();
    assert_eq!(now(&store).await.commit(), applied);
    assert_eq!(get(&store, 1, "a", &now(&store).await).await, Some("1".into()));
    becomes_durable(&store, applied).await;
}

/// As if the caller of the sync had been cancelled.
#[tokio::test]
async fn a_sync_commit_that_nobody_waits_for_is_soon_durable_and_seen() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    let applied = store.apply(batch(vec![put(1, "a", "1")]), Durability::Sync).await.unwrap();
    becomes_durable(&store, applied).await;
    assert_eq!(get(&store, 1, "a", &now(&store).await).await, Some("1".into()));
}

/// No sync happens here that would also write the buffer.
#[tokio::test]
async fn a_buffered_commit_outlives_the_process_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let quiet = std::time::Duration::from_secs(600);
    let options = store_fjall::Options { buffered_sync_interval: quiet, ..options() };
    let store = store_fjall::FjallStore::open(folder.path(), options).unwrap();
    commit(&store, create(1)).await;
    let journal = || std::fs::read(folder.path().join("db/0.jnl")).unwrap();
    for round in 0..20 {
        let value = format!("written in round {round}");
        store.apply(batch(vec![put(1, "a", &value)]), Durability::Buffered).await.unwrap();
        let (journal, value) = (journal(), value.as_bytes());
        assert!(journal.windows(value.len()).any(|bytes| bytes == value), "round {round}");
    }
}

async fn becomes_durable(store: &store_fjall::FjallStore, commit: CommitNo) {
    for _ in 0..500 {
        if durable(store) >= commit.0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    panic!("still not durable after a second");
}

fn durable(store: &store_fjall::FjallStore) -> u64 {
    figure(store, "durable_commit")
}

pub(crate) fn figure(store: &store_fjall::FjallStore, name: &str) -> u64 {
    store.stats().values.iter().find(|(found, _)| *found == name).unwrap().1
}

#[tokio::test]
async fn a_session_sees_its_own_buffered_commit_behind_an_undurable_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    store.apply(batch(vec![put(1, "a", "1")]), Durability::Sync).await.unwrap();
    let own = store.apply(batch(vec![put(1, "b", "2")]), Durability::Buffered).await.unwrap();
    let snapshot = store.snapshot(own).await.unwrap();
    assert!(snapshot.commit() >= own);
    assert_eq!(scan(&store, 1, &snapshot).await.len(), 2);
}

#[tokio::test]
async fn conditions_are_checked_on_the_newest_state() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    let first = store.apply(batch(vec![put(1, "a", "1")]), Durability::Sync).await.unwrap();
    let expecting = |expect| WriteBatch {
        conditions: vec![Condition { table: TableId(1), family: FAMILY, key: Bytes::from_static(b"a"), expect }],
        mutations: vec![put(1, "a", "2"), put(1, "b", "2")],
        tables: vec![],
    };
    let failed = store.apply(expecting(None), Durability::Sync).await;
    assert!(matches!(failed, Err(StoreError::ConditionFailed { .. })), "{failed:?}");
    assert_eq!(store.get_newest(TableId(1), FAMILY, b"b").await.unwrap(), None);
    store.apply(expecting(Some(first)), Durability::Sync).await.unwrap();
    assert!(store.get_newest(TableId(1), FAMILY, b"b").await.unwrap().is_some());
}

/// Appends to a row with an optimistic read-modify-write and retries.
async fn append(store: &store_fjall::FjallStore, key: &str, what: &str) {
    loop {
        let old = store.get_newest(TableId(1), FAMILY, key.as_bytes()).await.unwrap();
        let expect = old.as_deref().and_then(fragment::header::commit_of);
        let on = Condition { table: TableId(1), family: FAMILY, key: Bytes::copy_from_slice(key.as_bytes()), expect };
        let longer = format!("{}{what}", old.as_deref().map(text).unwrap_or_default());
        let write = WriteBatch { conditions: vec![on], ..batch(vec![put(1, key, &longer)]) };
        match store.apply(write, Durability::Sync).await {
            Ok(made) => return store.sync(made).await.unwrap(),
            Err(StoreError::ConditionFailed { .. }) => tokio::task::yield_now().await,
            Err(other) => panic!("{other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_updates_of_one_row_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    append(&store, "a", "+").await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(get(&store, 1, "a", &now(&store).await).await.unwrap().len(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_at_the_same_time_share_syncs() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    let before = figure(&store, "syncs_total");
    let tasks: Vec<_> = (0..64)
        .map(|task| {
            let store = store.clone();
            tokio::spawn(async move {
                for round in 0..20 {
                    let made = commit(&store, batch(vec![put(1, &format!("{task}-{round}"), "v")])).await;
                    assert!(store.snapshot(made).await.unwrap().commit() >= made);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let syncs = figure(&store, "syncs_total") - before;
    assert!(syncs < 64 * 20 / 4, "{syncs} syncs for 1280 commits");
    assert_eq!(scan(&store, 1, &now(&store).await).await.len(), 1280);
}

#[tokio::test]
async fn a_dropped_table_is_gone_for_new_readers_and_still_there_for_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    commit(&store, batch((0..5000).map(|n| put(1, &format!("{n:05}"), "v")).collect())).await;
    let old = now(&store).await;
    let mut drop_and_make = create(2);
    drop_and_make.tables.insert(0, TableChange::Drop(TableId(1)));
    drop_and_make.mutations.push(put(2, "a", "1"));
    commit(&store, drop_and_make).await;
    let new = now(&store).await;
    let gone = store.get_row(TableId(1), FAMILY, b"00001", &new).await;
    assert_eq!(gone, Err(StoreError::NoSuchTable { table: TableId(1) }));
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(scan(&store, 1, &old).await.len(), 5000);
    assert_eq!(scan(&store, 2, &new).await.len(), 1);
}

#[tokio::test]
async fn errors_say_what_is_missing_and_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    let half = batch(vec![put(1, "a", "1"), put(9, "a", "1")]);
    let failed = store.apply(half, Durability::Sync).await;
    assert_eq!(failed, Err(StoreError::NoSuchTable { table: TableId(9) }));
    let twice = store.apply(create(1), Durability::Sync).await;
    assert_eq!(twice, Err(StoreError::TableExists { table: TableId(1) }));
    let long = vec![7; store.capabilities().max_key_bytes + 1];
    let change = Mutation::Delete { table: TableId(1), family: FAMILY, key: long.into() };
    assert!(matches!(store.apply(batch(vec![change]), Durability::Sync).await, Err(StoreError::TooLarge { .. })));
    assert_eq!(store.get_newest(TableId(1), FAMILY, b"a").await.unwrap(), None);
    assert_eq!(store.apply(WriteBatch::default(), Durability::Sync).await.unwrap(), CommitNo(1));
}
