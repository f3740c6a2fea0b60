//! The state after the store was closed, dropped, or opened incorrectly.

use crate::support::*;
use std::time::Duration;
use store::{Durability, Store, StoreError, TableChange, TableId, WriteBatch};
use store_fjall::{FjallStore, Options};

#[tokio::test]
async fn rows_and_tables_survive_a_close_and_a_drop() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..6_u32 {
        let store = open(folder.path());
        commit(&store, create(round + 1)).await;
        let at = now(&store).await;
        for earlier in 0..round {
            assert_eq!(get(&store, earlier + 1, "key", &at).await, Some(format!("round {earlier}")));
        }
        commit(&store, batch(vec![put(round + 1, "key", &format!("round {round}"))])).await;
        if round % 2 == 0 {
            store.close().await.unwrap();
            assert_eq!(store.snapshot(store::CommitNo(0)).await.unwrap_err(), StoreError::Closed);
        }
    }
}

#[tokio::test]
async fn commit_numbers_and_stamps_grow_over_a_reopen() {
    let folder = tempfile::tempdir().unwrap();
    let mut last = store::CommitNo(0);
    for round in 0..4 {
        let store = open(folder.path());
        if round == 0 {
            commit(&store, create(1)).await;
        }
        let made = commit(&store, batch(vec![put(1, "a", "1")])).await;
        assert!(made > last, "{made} after {last}");
        last = made;
        if round == 1 {
            store.close().await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_second_opener_is_refused_while_the_first_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let second = FjallStore::open(folder.path(), options());
    assert!(matches!(second, Err(StoreError::Locked { .. })), "{second:?}");
    drop(store);
    open(folder.path());
}

#[tokio::test]
async fn a_foreign_folder_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let refused = FjallStore::open(folder.path(), options());
    assert!(matches!(refused, Err(StoreError::Foreign { .. })), "{refused:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_temporary_store_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("gone");
    let store = FjallStore::open(&path, Options { temporary: true, ..options() }).unwrap();
    commit(&store, create(1)).await;
    assert!(path.exists());
    drop(store);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_purge_goes_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    for part in 0..10 {
        let rows = (0..2000).map(|n| put(1, &format!("{part}-{n}"), "v")).collect();
        store.apply(batch(rows), Durability::Buffered).await.unwrap();
    }
    commit(&store, WriteBatch { tables: vec![TableChange::Drop(TableId(1))], ..WriteBatch::default() }).await;
    drop(store);
    let store = open(folder.path());
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if crate::commit::figure(&store, "purges_waiting") == 0 {
            break;
        }
    }
    assert_eq!(crate::commit::figure(&store, "purges_waiting"), 0);
    // The slot of the dropped table is not reused.
    commit(&store, create(2)).await;
    assert_eq!(scan(&store, 2, &now(&store).await).await, []);
}
