//! Keyspaces created and deleted around restarts: ids are never reused, and no folder of a table is deleted.

use crate::damage::copy;
use crate::support::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::{CommitNo, OnDuplicate, Store, StoreError, StoreResult, TableChange, TableId, WriteBatch};
use store_fjall::{FjallStore, Options};

const ROWS: u32 = 3000;

/// Loads of more than 20 kB are large.
fn open_small(path: &Path) -> Arc<FjallStore> {
    let small = Options { small_load_bytes: 20_000, load_buffer_bytes: 50_000, ..options() };
    FjallStore::open(path, small).unwrap()
}

fn key(n: u32) -> String {
    format!("k{n:06}")
}

async fn load(store: &FjallStore, table: u32, keys: impl Iterator<Item = u32>) -> StoreResult<CommitNo> {
    let mut load = store.bulk_load(TableId(table), OnDuplicate::Fail).await?;
    for n in keys {
        load.write(FAMILY, key(n).as_bytes(), &fragment("loaded")).await?;
    }
    load.finish().await
}

/// Loads rows in key order with a duplicate at the end.
async fn failed_load(store: &FjallStore, table: u32) {
    let failed = load(store, table, (0..ROWS).chain([ROWS - 1])).await;
    assert!(matches!(failed, Err(StoreError::DuplicateKey { .. })), "{failed:?}");
}

async fn good_load(store: &FjallStore, table: u32) {
    load(store, table, 0..ROWS).await.unwrap();
    assert_loaded(store, table).await;
}

async fn assert_loaded(store: &FjallStore, table: u32) {
    let rows = scan(store, table, &now(store).await).await;
    assert_eq!(rows.len(), ROWS as usize, "rows of table {table}");
}

fn change(tables: Vec<TableChange>) -> WriteBatch {
    WriteBatch { tables, ..WriteBatch::default() }
}

/// The ids of the keyspaces with a folder.
fn ids(folder: &Path) -> BTreeSet<u64> {
    let keyspaces = fs::read_dir(folder.join("db/keyspaces")).unwrap();
    keyspaces.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect()
}

/// Waits until keyspace `id` is deleted in the background.
async fn wait_until_deleted(folder: &Path, id: u64) {
    for _ in 0..200 {
        if !ids(folder).contains(&id) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("keyspace {id} is still there");
}

/// A clean close.
async fn close(store: Arc<FjallStore>) {
    store.close().await.unwrap();
}

/// Opens the folder twice more, because damage by one opening may only show in the next.
async fn assert_survives(folder: &Path, tables: &[u32]) {
    for _ in 0..2 {
        let store = open_small(folder);
        for table in tables {
            assert_loaded(&store, *table).await;
        }
        assert_eq!(store.check().await.unwrap().problems, []);
        close(store).await;
    }
}

#[tokio::test]
async fn a_load_after_a_failed_load_and_a_restart_survives() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    let before = ids(folder.path());
    failed_load(&store, 1).await;
    for _ in 0..200 {
        if ids(folder.path()) == before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(ids(folder.path()), before, "the keyspace of the failed load is deleted");
    close(store).await;
    let store = open_small(folder.path());
    good_load(&store, 1).await;
    close(store).await;
    assert_survives(folder.path(), &[1]).await;
}

#[tokio::test]
async fn a_load_after_a_drop_as_the_last_act_and_a_restart_survives() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    let before = ids(folder.path());
    commit(&store, create(1)).await;
    good_load(&store, 1).await;
    let loaded = *ids(folder.path()).difference(&before).next().unwrap();
    commit(&store, change(vec![TableChange::Drop(TableId(1))])).await;
    wait_until_deleted(folder.path(), loaded).await;
    close(store).await;
    let store = open_small(folder.path());
    commit(&store, create(2)).await;
    good_load(&store, 2).await;
    close(store).await;
    assert_survives(folder.path(), &[2]).await;
}

#[tokio::test]
async fn a_load_after_a_truncation_as_the_last_act_and_a_restart_survives() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    for _ in 0..3 {
        let before = ids(folder.path());
        good_load(&store, 1).await;
        let loaded = *ids(folder.path()).difference(&before).next().unwrap();
        commit(&store, change(vec![TableChange::Drop(TableId(1)), TableChange::Create(spec(1))])).await;
        wait_until_deleted(folder.path(), loaded).await;
    }
    close(store).await;
    let store = open_small(folder.path());
    good_load(&store, 1).await;
    close(store).await;
    assert_survives(folder.path(), &[1]).await;
}

#[tokio::test]
async fn a_load_after_one_that_was_killed_survives() {
    let folder = tempfile::tempdir().unwrap();
    let live = folder.path().join("live");
    let store = open_small(&live);
    commit(&store, create(1)).await;
    // Earlier deletions advance fjall's counter beyond the numbers in tables and journals.
    failed_load(&store, 1).await;
    let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
    for n in 0..ROWS {
        load.write(FAMILY, key(n).as_bytes(), &fragment("never finished")).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let killed = folder.path().join("killed");
    copy(&live, &killed);
    let store = open_small(&killed);
    good_load(&store, 1).await;
    close(store).await;
    assert_survives(&killed, &[1]).await;
}

#[tokio::test]
async fn no_keyspace_id_is_given_twice_whatever_was_deleted_before_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut given = 0;
    for round in 0..6 {
        let store = open_small(folder.path());
        if round == 0 {
            commit(&store, create(1)).await;
            given = ids(folder.path()).last().copied().unwrap();
        }
        let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
        for n in 0..ROWS {
            load.write(FAMILY, key(n).as_bytes(), &fragment("dropped")).await.unwrap();
        }
        let made = ids(folder.path()).last().copied().unwrap();
        assert!(made > given, "round {round}: keyspace {made} after {given}");
        given = made;
        drop(load);
        wait_until_deleted(folder.path(), made).await;
        if round % 2 == 0 {
            close(store).await;
        }
    }
}

/// Creates and closes a store with one loaded table. Returns the id of the table's keyspace.
async fn loaded(folder: &Path) -> u64 {
    let store = open_small(folder);
    commit(&store, create(1)).await;
    good_load(&store, 1).await;
    close(store).await;
    *ids(folder).last().unwrap()
}

/// fjall's records of keyspaces.
fn records(folder: &Path) -> std::path::PathBuf {
    folder.join("db/keyspaces/0")
}

/// Writes tombstones with higher sequence numbers than the records of keyspace `id`, like those of an earlier keyspace
/// with this id after fjall's sequence numbers restarted.
fn hide(folder: &Path, id: u64) {
    use lsm_tree::{AbstractTree, Config, Guard, SequenceNumberCounter};
    let visible = SequenceNumberCounter::default();
    let tree = Config::new(records(folder), SequenceNumberCounter::new(1 << 40), visible).open().unwrap();
    let keys = tree.iter(lsm_tree::SeqNo::MAX, None).map(|record| record.key().unwrap());
    let keys: Vec<_> = keys.filter(|key| key[1..9] == id.to_be_bytes()).collect();
    assert!(keys.len() > 10, "{keys:?}");
    let mut ingestion = tree.ingestion().unwrap();
    keys.into_iter().for_each(|key| ingestion.write_tombstone(key).unwrap());
    ingestion.finish().unwrap();
}

#[tokio::test]
async fn a_keyspace_whose_records_are_hidden_is_restored_with_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let id = loaded(folder.path()).await;
    hide(folder.path(), id);
    assert_survives(folder.path(), &[1]).await;
    // The restored records hide the tombstones, and so do later ones.
    let store = open_small(folder.path());
    commit(&store, change(vec![TableChange::Drop(TableId(1)), TableChange::Create(spec(1))])).await;
    wait_until_deleted(folder.path(), id).await;
    close(store).await;
    let store = open_small(folder.path());
    good_load(&store, 1).await;
    close(store).await;
    assert_survives(folder.path(), &[1]).await;
}

#[tokio::test]
async fn a_folder_that_a_table_names_stays_when_fjall_has_no_record_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    close(store).await;
    let before = folder.path().join("records before");
    copy(&records(folder.path()), &before);
    let store = open_small(folder.path());
    good_load(&store, 1).await;
    close(store).await;
    let id = *ids(folder.path()).last().unwrap();
    let with_rows = folder.path().join("records with rows");
    fs::rename(records(folder.path()), &with_rows).unwrap();
    copy(&before, &records(folder.path()));
    for _ in 0..2 {
        let refused = FjallStore::open(folder.path(), options());
        assert!(matches!(refused, Err(StoreError::Corrupted { .. })), "{refused:?}");
    }
    fs::remove_dir_all(records(folder.path())).unwrap();
    fs::rename(&with_rows, records(folder.path())).unwrap();
    assert_survives(folder.path(), &[1]).await;
    assert!(ids(folder.path()).contains(&id));
}

#[tokio::test]
async fn a_folder_that_no_table_names_goes_when_the_tables_are_known() {
    let folder = tempfile::tempdir().unwrap();
    loaded(folder.path()).await;
    let stray = folder.path().join("db/keyspaces/77");
    fs::create_dir_all(stray.join("tables")).unwrap();
    assert_survives(folder.path(), &[1]).await;
    assert!(!stray.exists() && !folder.path().join("unnamed").exists());
    let store = open_small(folder.path());
    commit(&store, create(2)).await;
    good_load(&store, 2).await;
    assert!(ids(folder.path()).last().unwrap() > &77);
}

#[tokio::test]
async fn a_keyspace_whose_deletion_was_cut_by_a_power_loss_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    good_load(&store, 1).await;
    let id = *ids(folder.path()).last().unwrap();
    let keyspace = folder.path().join(format!("db/keyspaces/{id}"));
    let before = folder.path().join("before");
    copy(&keyspace, &before);
    commit(&store, change(vec![TableChange::Drop(TableId(1)), TableChange::Create(spec(1))])).await;
    wait_until_deleted(folder.path(), id).await;
    good_load(&store, 1).await;
    close(store).await;
    // All files remain; the tables are missing; the manifest is missing.
    for round in 0..3 {
        copy(&before, &keyspace);
        match round {
            0 => {}
            1 => fs::remove_dir_all(keyspace.join("tables")).unwrap(),
            _ => fs::remove_file(keyspace.join("current")).unwrap(),
        }
        assert_survives(folder.path(), &[1]).await;
        assert!(!keyspace.exists(), "round {round}");
    }
}
