//! Closing concurrent to other operations.

use crate::support::*;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::{CommitNo, Durability, OnDuplicate, Store, StoreError, TableId};
use store_fjall::{FjallStore, Options};

/// A timeout that distinguishes hanging from slow.
const PATIENCE: Duration = Duration::from_secs(60);

fn key(writer: usize, n: usize) -> String {
    format!("{writer:02}-{n:06}")
}

/// Commits until the store is closed. Returns the number of acknowledged commits, and the last commit number.
async fn write_until_closed(store: Arc<FjallStore>, writer: usize) -> (usize, CommitNo) {
    let (mut acknowledged, mut last) = (0, CommitNo(0));
    loop {
        let row = batch(vec![put(1, &key(writer, acknowledged), "v")]);
        let commit = match store.apply(row, Durability::Sync).await {
            Ok(commit) => commit,
            Err(StoreError::Closed) => return (acknowledged, last),
            Err(error) => panic!("{error}"),
        };
        last = commit;
        match store.sync(commit).await {
            Ok(()) => acknowledged += 1,
            Err(StoreError::Closed) => return (acknowledged, last),
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commits_beside_the_end_are_acknowledged_and_kept_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = 0;
    for round in 0..25 {
        let store = open(folder.path());
        if round == 0 {
            commit(&store, create(1)).await;
        }
        let before = now(&store).await.commit();
        let writers: Vec<_> =
            (0..8).map(|at| tokio::spawn(write_until_closed(store.clone(), round * 8 + at))).collect();
        tokio::time::sleep(Duration::from_millis(round as u64 % 7)).await;
        tokio::time::timeout(PATIENCE, store.close()).await.expect("close hangs").unwrap();
        let mut last = CommitNo(0);
        for writer in writers {
            let (acknowledged, newest) = tokio::time::timeout(PATIENCE, writer).await.expect("a commit hangs").unwrap();
            rows += acknowledged;
            last = last.max(newest);
        }
        drop(store);
        let store = open(folder.path());
        let next = commit(&store, batch(vec![put(1, "next", "v")])).await;
        assert!(next > last && next > before, "{next} was given before: {last}");
        let found = scan(&store, 1, &now(&store).await).await.len();
        assert!(found > rows, "{rows} rows were acknowledged, {found} are there");
        rows = found - 1;
        store.close().await.unwrap();
    }
}

async fn load_beside_the_end(folder: &Path, delay: Duration) {
    let small = Options { small_load_bytes: 20_000, load_buffer_bytes: 50_000, ..options() };
    let store = FjallStore::open(folder, small).unwrap();
    commit(&store, create(1)).await;
    let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
    for n in 0..2000 {
        load.write(FAMILY, key(0, n).as_bytes(), &fragment("v")).await.unwrap();
    }
    let finishing = tokio::spawn(async move {
        tokio::time::sleep(delay).await;
        load.finish().await
    });
    tokio::time::timeout(PATIENCE, store.close()).await.expect("close hangs").unwrap();
    let finished = tokio::time::timeout(PATIENCE, finishing).await.expect("a load hangs").unwrap();
    drop(store);
    let store = open(folder);
    let found = scan(&store, 1, &now(&store).await).await.len();
    match finished {
        Ok(commit) => {
            assert_eq!(found, 2000);
            assert!(now(&store).await.commit() >= commit);
        }
        Err(StoreError::Closed) => assert_eq!(found, 0),
        Err(error) => panic!("{error}"),
    }
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_load_beside_the_end_is_whole_or_refused() {
    for micros in (0..20).map(|round| round * 700) {
        let folder = tempfile::tempdir().unwrap();
        load_beside_the_end(folder.path(), Duration::from_micros(micros)).await;
    }
}

#[tokio::test]
async fn a_load_that_outlives_its_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
    load.write(FAMILY, b"k", &fragment("v")).await.unwrap();
    drop(store);
    assert_eq!(load.finish().await, Err(StoreError::Closed));
}

#[tokio::test]
async fn a_commit_that_was_never_made_cannot_be_synced() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let made = commit(&store, create(1)).await;
    let sync = tokio::time::timeout(PATIENCE, store.sync(CommitNo(made.0 + 1))).await.expect("it waits for ever");
    assert!(matches!(sync, Err(StoreError::Unsupported { .. })), "{sync:?}");
    store.close().await.unwrap();
    assert_eq!(store.sync(made).await, Ok(()));
}
