//! Bulk loads: small and large, into empty, shared and own keyspaces; duplicates; cleanup.

use crate::support::*;
use std::path::Path;
use std::sync::Arc;
use store::{CommitNo, LoadRows, OnDuplicate, Store, StoreError, StoreResult, TableChange, TableId, WriteBatch};
use store_fjall::{FjallStore, Options};

/// Loads of more than 20 kB are large, and spill every 50 kB.
fn open_small(path: &Path) -> Arc<FjallStore> {
    let small = Options { small_load_bytes: 20_000, load_buffer_bytes: 50_000, ..options() };
    FjallStore::open(path, small).unwrap()
}

/// Keys in shuffled order.
fn shuffled(rows: u32) -> impl Iterator<Item = u32> {
    (0..rows).map(move |n| (n * 7919) % rows)
}

fn key(n: u32) -> String {
    format!("k{n:06}")
}

async fn load(
    store: &FjallStore,
    on_duplicate: OnDuplicate,
    rows: impl Iterator<Item = (String, String)>,
) -> StoreResult<CommitNo> {
    let mut load = store.bulk_load(TableId(1), on_duplicate).await?;
    for (key, value) in rows {
        load.write(FAMILY, key.as_bytes(), &fragment(&value)).await?;
    }
    load.finish().await
}

fn expected(rows: u32, value: impl Fn(u32) -> String) -> Vec<(String, String)> {
    (0..rows).map(|n| (key(n), value(n))).collect()
}

async fn rows(store: &FjallStore) -> Vec<(String, String)> {
    scan(store, 1, &now(store).await).await
}

#[tokio::test]
async fn a_small_load_is_there_as_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    let made = load(&store, OnDuplicate::Fail, shuffled(97).map(|n| (key(n), n.to_string()))).await.unwrap();
    assert_eq!(now(&store).await.commit(), made);
    assert_eq!(rows(&store).await, expected(97, |n| n.to_string()));
}

#[tokio::test]
async fn a_large_load_into_an_empty_table_moves_it_and_survives() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    let before = now(&store).await;
    let made = load(&store, OnDuplicate::Fail, shuffled(9973).map(|n| (key(n), n.to_string()))).await.unwrap();
    assert_eq!(now(&store).await.commit(), made);
    assert_eq!(scan(&store, 1, &before).await, [], "an older snapshot does not see it");
    assert_eq!(rows(&store).await, expected(9973, |n| n.to_string()));
    drop((before, store));
    let store = open_small(folder.path());
    assert_eq!(rows(&store).await, expected(9973, |n| n.to_string()));
    assert_eq!(std::fs::read_dir(folder.path().join("load")).map_or(0, Iterator::count), 0);
}

#[tokio::test]
async fn large_loads_add_to_rows_that_are_shared_and_then_to_a_keyspace_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    commit(&store, batch((0..100).map(|n| put(1, &key(n), "written")).collect())).await;
    let old = now(&store).await;
    let third = |part: u32| shuffled(3000).filter(move |n| n % 3 == part && *n >= 100);
    for part in 0..3 {
        load(&store, OnDuplicate::Fail, third(part).map(|n| (key(n), "loaded".into()))).await.unwrap();
        commit(&store, batch(vec![put(1, &key(part), "changed")])).await;
    }
    let value = |n| {
        if n < 3 {
            "changed"
        } else if n < 100 {
            "written"
        } else {
            "loaded"
        }
    };
    assert_eq!(rows(&store).await, expected(3000, |n| value(n).into()));
    assert_eq!(scan(&store, 1, &old).await, expected(100, |_| "written".into()));
    drop((old, store));
    let store = open_small(folder.path());
    assert_eq!(rows(&store).await, expected(3000, |n| value(n).into()));
}

#[tokio::test]
async fn a_duplicate_fails_a_load_of_any_size_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    commit(&store, batch(vec![put(1, &key(50), "first")])).await;
    for size in [100, 5000] {
        let twice_inside = (60..size).chain([77]).map(|n| (key(n), "x".to_owned()));
        let failed = load(&store, OnDuplicate::Fail, twice_inside).await;
        let expected_key = key(77).into_bytes().into();
        assert_eq!(failed, Err(StoreError::DuplicateKey { table: TableId(1), key: expected_key }));
        let there_already = (0..size).map(|n| (key(n), "x".to_owned()));
        let failed = load(&store, OnDuplicate::Fail, there_already).await;
        assert!(matches!(failed, Err(StoreError::DuplicateKey { .. })), "{failed:?}");
        assert_eq!(rows(&store).await, [(key(50), "first".into())]);
    }
    // Loads into an own keyspace append.
    load(&store, OnDuplicate::Fail, (1000..4000).map(|n| (key(n), "y".to_owned()))).await.unwrap();
    let failed = load(&store, OnDuplicate::Fail, (3999..8000).map(|n| (key(n), "z".to_owned()))).await;
    let expected_key = key(3999).into_bytes().into();
    assert_eq!(failed, Err(StoreError::DuplicateKey { table: TableId(1), key: expected_key }));
    assert_eq!(rows(&store).await.len(), 3001);
}

#[tokio::test]
async fn with_replace_the_last_row_wins() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    commit(&store, batch((0..50).map(|n| put(1, &key(n), "written")).collect())).await;
    for (round, size) in [(0, 40), (1, 4000), (2, 4000)] {
        let twice = (0..size).chain(0..size).enumerate().map(move |(at, n)| (key(n), format!("{round} {at}")));
        load(&store, OnDuplicate::Replace, twice).await.unwrap();
        let found = rows(&store).await;
        assert_eq!(found.len(), size.max(50) as usize);
        for n in 0..size {
            assert_eq!(found[n as usize], (key(n), format!("{round} {}", size + n)));
        }
    }
}

#[tokio::test]
async fn a_dropped_load_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
    for n in shuffled(5000) {
        load.write(FAMILY, key(n).as_bytes(), &fragment(&key(n))).await.unwrap();
    }
    let runs = || std::fs::read_dir(folder.path().join("load")).map_or(0, Iterator::count);
    assert!(runs() > 0);
    drop(load);
    // A run that is being written is discarded when it is finished.
    for _ in 0..100 {
        if runs() > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    assert_eq!(runs(), 0);
    assert_eq!(rows(&store).await, []);
}

#[tokio::test]
async fn a_dropped_load_of_sorted_rows_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    let keyspaces = || std::fs::read_dir(folder.path().join("db/keyspaces")).unwrap().count();
    commit(&store, create(1)).await;
    let before = keyspaces();
    let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
    for n in 0..5000 {
        load.write(FAMILY, key(n).as_bytes(), &fragment("v")).await.unwrap();
    }
    assert_eq!(keyspaces(), before + 1);
    drop(load);
    for _ in 0..100 {
        if keyspaces() > before {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
    assert_eq!(keyspaces(), before);
    assert_eq!(rows(&store).await, []);
}

#[tokio::test]
async fn a_loaded_table_can_be_dropped_and_its_keyspace_goes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    let keyspaces = || std::fs::read_dir(folder.path().join("db/keyspaces")).unwrap().count();
    commit(&store, create(1)).await;
    let before = keyspaces();
    load(&store, OnDuplicate::Fail, (0..5000).map(|n| (key(n), "v".to_owned()))).await.unwrap();
    assert_eq!(keyspaces(), before + 1);
    commit(&store, WriteBatch { tables: vec![TableChange::Drop(TableId(1))], ..WriteBatch::default() }).await;
    for _ in 0..100 {
        if keyspaces() == before {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the keyspace is still there");
}

/// The first `sorted` rows are in key order, the others in reverse order.
fn mostly_sorted(rows: u32, sorted: u32) -> impl Iterator<Item = u32> {
    (0..sorted).chain((sorted..rows).rev())
}

#[tokio::test]
async fn rows_in_key_order_are_loaded_as_they_come_and_so_are_those_that_break_it() {
    for sorted in [9973, 9972, 5000] {
        let folder = tempfile::tempdir().unwrap();
        let store = open_small(folder.path());
        commit(&store, create(1)).await;
        let before = now(&store).await;
        let in_order = mostly_sorted(9973, sorted).map(|n| (key(n), n.to_string()));
        let made = load(&store, OnDuplicate::Fail, in_order).await.unwrap();
        assert_eq!(now(&store).await.commit(), made);
        assert_eq!(scan(&store, 1, &before).await, [], "an older snapshot does not see it");
        assert_eq!(rows(&store).await, expected(9973, |n| n.to_string()));
        drop((before, store));
        let store = open_small(folder.path());
        assert_eq!(rows(&store).await, expected(9973, |n| n.to_string()));
    }
}

#[tokio::test]
async fn rows_by_the_buffer_are_as_rows_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    for (table, sorted) in [(1, 9973), (2, 6000), (3, 10)] {
        commit(&store, create(table)).await;
        let mut load = store.bulk_load(TableId(table), OnDuplicate::Fail).await.unwrap();
        let order: Vec<u32> = mostly_sorted(9973, sorted).collect();
        for some in order.chunks(777) {
            let mut buffer = LoadRows::default();
            some.iter().for_each(|n| buffer.push(key(*n).as_bytes(), &fragment(&n.to_string())));
            load.write_rows(FAMILY, buffer).await.unwrap();
        }
        load.finish().await.unwrap();
        assert_eq!(scan(&store, table, &now(&store).await).await, expected(9973, |n| n.to_string()));
    }
}

#[tokio::test]
async fn a_key_that_comes_again_after_rows_in_order_is_a_duplicate() {
    for (rows_before, again) in [(9000, 8999), (9000, 0), (9000, 4321)] {
        let folder = tempfile::tempdir().unwrap();
        let store = open_small(folder.path());
        commit(&store, create(1)).await;
        let twice = || (0..rows_before).chain([again]).map(|n| (key(n), n.to_string()));
        let error = load(&store, OnDuplicate::Fail, twice()).await.unwrap_err();
        let wrong = key(again).into_bytes();
        assert_eq!(error, StoreError::DuplicateKey { table: TableId(1), key: wrong.into() });
        assert_eq!(rows(&store).await, []);
        let last = (0..rows_before).map(|n| (key(n), n.to_string())).chain([(key(again), "last".to_string())]);
        load(&store, OnDuplicate::Replace, last).await.unwrap();
        let value = |n: u32| if n == again { "last".to_string() } else { n.to_string() };
        assert_eq!(rows(&store).await, expected(rows_before, value));
    }
}

/// The table files of all keyspaces.
fn table_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let keyspaces = std::fs::read_dir(folder.join("db/keyspaces")).unwrap();
    let folders = keyspaces.filter_map(|keyspace| std::fs::read_dir(keyspace.unwrap().path().join("tables")).ok());
    let mut files: Vec<_> = folders.flatten().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_failed_append_leaves_no_table_files() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    load(&store, OnDuplicate::Fail, (0..4000).map(|n| (key(n), "y".to_owned()))).await.unwrap();
    let before = table_files(folder.path());
    for _ in 0..5 {
        let twice = shuffled(9000).filter(|n| *n >= 3999).map(|n| (key(n), "z".to_owned()));
        let failed = load(&store, OnDuplicate::Fail, twice).await;
        assert!(matches!(failed, Err(StoreError::DuplicateKey { .. })), "{failed:?}");
    }
    assert_eq!(table_files(folder.path()), before);
    load(&store, OnDuplicate::Fail, (4000..9000).map(|n| (key(n), "y".to_owned()))).await.unwrap();
    assert_eq!(rows(&store).await, expected(9000, |_| "y".into()));
}

#[tokio::test]
async fn rows_that_others_write_during_a_load_stay() {
    // Sorted and unsorted, into an empty table, one with rows, and one in an own keyspace.
    for sorted in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let store = open_small(folder.path());
        commit(&store, create(1)).await;
        for part in 0..3 {
            let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
            let mut keys: Vec<u32> = (0..3000).map(|n| part * 10_000 + n).collect();
            if !sorted {
                keys.reverse();
            }
            for n in keys {
                load.write(FAMILY, key(n).as_bytes(), &fragment("loaded")).await.unwrap();
            }
            commit(&store, batch(vec![put(1, &key(part * 10_000 + 5000), "written")])).await;
            load.finish().await.unwrap();
        }
        let part = |part: u32| (0..3000).chain([5000]).map(move |n| part * 10_000 + n);
        let value = |n: u32| if n % 10_000 == 5000 { "written" } else { "loaded" };
        let all: Vec<_> = (0..3).flat_map(part).map(|n| (key(n), value(n).to_owned())).collect();
        assert!(rows(&store).await == all, "sorted: {sorted}");
        drop(store);
        assert!(rows(&open_small(folder.path())).await == all, "sorted: {sorted}, reopened");
    }
}

#[tokio::test]
async fn a_key_that_others_write_during_a_load_is_a_duplicate() {
    for size in [50, 3000] {
        let folder = tempfile::tempdir().unwrap();
        let store = open_small(folder.path());
        commit(&store, create(1)).await;
        let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
        for n in 0..size {
            load.write(FAMILY, key(n).as_bytes(), &fragment("loaded")).await.unwrap();
        }
        commit(&store, batch(vec![put(1, &key(7), "written")])).await;
        let failed = load.finish().await;
        assert_eq!(failed, Err(StoreError::DuplicateKey { table: TableId(1), key: key(7).into_bytes().into() }));
        assert_eq!(rows(&store).await, [(key(7), "written".to_owned())]);
    }
}

#[tokio::test]
async fn a_table_made_anew_under_its_id_is_not_the_one_loaded_into() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
    for n in 0..3000 {
        load.write(FAMILY, key(n).as_bytes(), &fragment("loaded")).await.unwrap();
    }
    let again = vec![TableChange::Drop(TableId(1)), TableChange::Create(spec(1))];
    commit(&store, WriteBatch { tables: again, ..WriteBatch::default() }).await;
    commit(&store, batch(vec![put(1, "k", "new")])).await;
    let finished = load.finish().await;
    let found = rows(&store).await;
    match finished {
        Ok(_) => assert_eq!((found.len(), found.first().cloned()), (3001, Some(("k".into(), "new".into())))),
        Err(error) => assert_eq!((error, found.len()), (StoreError::TableChanged { table: TableId(1) }, 1)),
    }
}

/// Writers run continuously, so that loads end between any of their commits.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_acknowledged_row_is_lost_at_the_end_of_a_load() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writers: Vec<_> = (0..3)
        .map(|writer| {
            let (store, stop) = (store.clone(), stop.clone());
            tokio::spawn(async move {
                let mut written = 0;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    commit(&store, batch(vec![put(1, &format!("w{writer}-{written:06}"), "written")])).await;
                    written += 1;
                    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                }
                written
            })
        })
        .collect();
    let mut loaded = 0;
    for round in 0..12_u32 {
        let keys =
            (0..1500).map(|n| (key(round * 10_000 + if round % 2 == 0 { n } else { 1499 - n }), "loaded".to_owned()));
        match load(&store, OnDuplicate::Fail, keys).await {
            Ok(_) => loaded += 1500,
            Err(StoreError::TableChanged { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let mut written = 0;
    for writer in writers {
        written += writer.await.unwrap();
    }
    let found = rows(&store).await;
    let of = |first: char| found.iter().filter(|(key, _)| key.starts_with(first)).count();
    assert_eq!((of('w'), of('k')), (written, loaded));
}

#[tokio::test]
async fn an_empty_rowkey_is_refused_where_no_slot_is_before_it_and_nothing_stops() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    commit(&store, create(1)).await;
    let refused = load(&store, OnDuplicate::Replace, [(String::new(), "x".to_owned())].into_iter()).await;
    assert!(matches!(refused, Err(StoreError::Unsupported { .. })), "{refused:?}");
    load(&store, OnDuplicate::Fail, (0..5000).map(|n| (key(n), "v".to_owned()))).await.unwrap();
    for change in [put(1, "", "x"), delete(1, "")] {
        let refused = store.apply(batch(vec![put(1, "with", "it"), change]), store::Durability::Sync).await;
        assert!(matches!(refused, Err(StoreError::Unsupported { .. })), "{refused:?}");
    }
    let at = now(&store).await;
    assert_eq!((get(&store, 1, "", &at).await, get(&store, 1, "with", &at).await), (None, None));
    commit(&store, batch(vec![put(1, "after", "1")])).await;
    assert_eq!(rows(&store).await.len(), 5001);
}

#[tokio::test]
async fn regions_count_the_rows_of_scans() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path());
    let split = store::TableSpec { splits: vec![bytes::Bytes::from_static(b"k000030")], ..spec(1) };
    commit(&store, WriteBatch { tables: vec![TableChange::Create(split)], ..WriteBatch::default() }).await;
    commit(&store, batch((0..100).map(|n| put(1, &key(n), "v")).collect())).await;
    let reads = async || store.regions(TableId(1)).await.unwrap().iter().map(|region| region.reads).collect::<Vec<_>>();
    assert_eq!(rows(&store).await.len(), 100);
    assert_eq!(reads().await, [30, 70]);
    get(&store, 1, &key(40), &now(&store).await).await;
    assert_eq!(reads().await, [30, 71]);
}
