//! Large commits, outside the journal: their effect on other commits, and what they leave behind.

use crate::support::{FAMILY, batch, commit, create, delete, fragment, get, now, open, options, put, scan, text};
use bytes::Bytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use store::{
    Condition, Durability, FamilyId, LargeRows, LargeWrite, Mutation, OnDuplicate, PointRead, Store, StoreError,
    StoreResult, TableId, WriteBatch,
};
use store_fjall::{FjallStore, Options};

/// Rows generated while they are read: `count` in each table.
#[derive(Debug)]
struct Made {
    tables: Vec<u32>,
    count: usize,
    row: Vec<u8>,
    /// Number of rows read so far.
    read: AtomicUsize,
    /// The first row is not returned before this is set.
    may_go_on: AtomicBool,
}

impl Made {
    fn new(tables: &[u32], count: usize, text: &str) -> Arc<Self> {
        Arc::new(Self {
            tables: tables.to_vec(),
            count,
            row: fragment(text),
            read: AtomicUsize::new(0),
            may_go_on: AtomicBool::new(true),
        })
    }
}

impl Made {
    fn stop(&self) {
        self.may_go_on.store(false, Ordering::Relaxed);
    }

    fn go_on(&self) {
        self.may_go_on.store(true, Ordering::Relaxed);
    }
}

impl LargeWrite for Made {
    fn families(&self) -> Vec<(TableId, FamilyId)> {
        self.tables.iter().map(|table| (TableId(*table), FAMILY)).collect()
    }

    fn bytes(&self) -> u64 {
        (self.tables.len() * self.count * self.row.len()) as u64
    }

    fn rows(&self, _: TableId, _: FamilyId) -> StoreResult<LargeRows<'_>> {
        let row = Bytes::copy_from_slice(&self.row);
        Ok(Box::new((0..self.count).map(move |number| {
            self.read.fetch_add(1, Ordering::Relaxed);
            while !self.may_go_on.load(Ordering::Relaxed) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            Ok((Bytes::from(format!("{number:09}")), Some(row.clone())))
        })))
    }
}

async fn load(store: &FjallStore, table: u32, rows: usize) {
    let mut load = store.bulk_load(TableId(table), OnDuplicate::Fail).await.unwrap();
    for number in 0..rows {
        load.write(FAMILY, format!("{number:09}").as_bytes(), &fragment(&"loaded".repeat(200))).await.unwrap();
    }
    load.finish().await.unwrap();
}

/// Only two or three commits would succeed if they had to wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_commits_go_on_beside_a_commit_of_200_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for table in [1, 2] {
        commit(&store, create(table)).await;
    }
    load(&store, 2, 8000).await;
    let write = Made::new(&[1, 2], 100_000, &"x".repeat(1000));
    let (large, reading) = (store.clone(), write.clone());
    let ended = Arc::new(AtomicBool::new(false));
    let end = ended.clone();
    let large = tokio::spawn(async move {
        let commit = large.apply_large(write, vec![], Durability::Sync).await;
        end.store(true, Ordering::Relaxed);
        large.sync(commit.unwrap()).await.unwrap();
    });
    let mut beside = 0;
    while !ended.load(Ordering::Relaxed) {
        commit(&store, batch(vec![put(1, "small", &beside.to_string()), put(2, "small", "row")])).await;
        beside += usize::from(reading.read.load(Ordering::Relaxed) > 0);
    }
    large.await.unwrap();
    assert!(beside >= 40, "{beside} small commits beside it");
    let at = now(&store).await;
    for table in [1, 2] {
        assert_eq!(scan(&store, table, &at).await.len(), 100_001);
    }
    assert_eq!(get(&store, 1, "small", &at).await, Some((beside - 1).to_string()));
}

/// Staged rows are deleted once they are in their keyspaces.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_beside_the_keyspaces() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for table in [1, 2, 3] {
        commit(&store, create(table)).await;
    }
    load(&store, 2, 8000).await;
    let condition =
        Condition { table: TableId(1), family: FAMILY, key: Bytes::new(), expect: Some(store::CommitNo(1)) };
    let refused = store.apply_large(Made::new(&[1, 2], 50, "a"), vec![condition], Durability::Sync).await;
    assert!(matches!(refused, Err(StoreError::ConditionFailed { .. })), "{refused:?}");
    for _ in 0..3 {
        store.apply_large(Made::new(&[3, 2, 1], 500, "b"), vec![], Durability::Buffered).await.unwrap();
    }
    let staged = std::fs::read_dir(folder.path().join("staged")).unwrap().count();
    assert_eq!(staged, 0);
    store.close().await.unwrap();
    drop(store);
    let store = open(folder.path());
    let at = now(&store).await;
    assert_eq!((scan(&store, 1, &at).await.len(), scan(&store, 2, &at).await.len()), (500, 8000));
    let found = store.get_row(TableId(2), FAMILY, b"000000499", &at).await.unwrap().unwrap();
    assert_eq!(text(&found), "b");
}

/// The table files of the keyspaces with their sizes.
fn table_files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let keyspaces = std::fs::read_dir(folder.join("db/keyspaces")).unwrap();
    let folders = keyspaces.filter_map(|keyspace| std::fs::read_dir(keyspace.unwrap().path().join("tables")).ok());
    let files = folders.flatten().map(|file| file.unwrap());
    let mut files: Vec<_> = files.map(|file| (file.path(), file.metadata().unwrap().len())).collect();
    files.sort();
    files
}

/// The condition fails after the rows were written to files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_commit_that_is_refused_behind_its_rows_leaves_no_table_files() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for table in [1, 2] {
        commit(&store, create(table)).await;
    }
    load(&store, 2, 8000).await;
    let read = commit(&store, batch(vec![put(1, "read", "before")])).await;
    let before = table_files(folder.path());
    let condition =
        Condition { table: TableId(1), family: FAMILY, key: Bytes::from_static(b"read"), expect: Some(read) };
    let write = Made::new(&[1, 2], 20_000, &"x".repeat(1000));
    write.stop();
    let (large, reading) = (store.clone(), write.clone());
    let large = tokio::spawn(async move { large.apply_large(write, vec![condition], Durability::Sync).await });
    while reading.read.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    commit(&store, batch(vec![put(1, "read", "after")])).await;
    reading.go_on();
    let refused = large.await.unwrap();
    assert!(matches!(refused, Err(StoreError::ConditionFailed { .. })), "{refused:?}");
    assert!(reading.read.load(Ordering::Relaxed) == 40_000, "its rows were written before");
    let after: Vec<_> = table_files(folder.path()).into_iter().filter(|(_, length)| *length > 0).collect();
    assert_eq!(after, before);
}

/// Also if a load moves a table between two of its reads, and if a table is dropped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_may_be_moved_and_dropped_beside_a_large_commit() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for table in [1, 2] {
        commit(&store, create(table)).await;
    }
    let write = Made::new(&[1, 2], 20_000, &"y".repeat(500));
    write.stop();
    let (large, reading) = (store.clone(), write.clone());
    let large = tokio::spawn(async move { large.apply_large(write, vec![], Durability::Sync).await });
    while reading.read.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    // Table 2 moves to an own keyspace while rows for the shared one are written.
    load(&store, 2, 9000).await;
    commit(&store, batch(vec![put(2, "z", "beside")])).await;
    reading.go_on();
    store.sync(large.await.unwrap().unwrap()).await.unwrap();
    let at = now(&store).await;
    let rows = scan(&store, 2, &at).await;
    assert_eq!((scan(&store, 1, &at).await.len(), rows.len()), (20_000, 20_001));
    assert_eq!(rows.last(), Some(&("z".to_owned(), "beside".to_owned())));

    let write = Made::new(&[1, 2], 20_000, "z");
    write.stop();
    let (large, reading) = (store.clone(), write.clone());
    let large = tokio::spawn(async move { large.apply_large(write, vec![], Durability::Sync).await });
    while reading.read.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    let drop_it = WriteBatch { tables: vec![store::TableChange::Drop(TableId(1))], ..WriteBatch::default() };
    commit(&store, drop_it).await;
    reading.go_on();
    assert_eq!(large.await.unwrap(), Err(StoreError::NoSuchTable { table: TableId(1) }));
    let rows = scan(&store, 2, &now(&store).await).await;
    assert!(rows.iter().all(|(_, value)| value != "z"), "nothing of it is in the other table");
}

/// A batch of one row is stamped with its commit number, even as a large commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_of_its_own_commit_carries_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    let key = Bytes::from_static(b"k");
    let row = fragment(&"long".repeat(3 << 20));
    let large = Mutation::Replace { table: TableId(1), family: FAMILY, key, fragment: row };
    let number = commit(&store, batch(vec![large])).await;
    let found = store.get_newest(TableId(1), FAMILY, b"k").await.unwrap().unwrap();
    assert_eq!(fragment::header::commit_of(&found), Some(number));
}

fn figure(store: &FjallStore, name: &str) -> u64 {
    store.stats().values.iter().find(|(found, _)| *found == name).map_or(0, |(_, value)| *value)
}

/// Each row takes some microseconds under the commit lock, even if it is short.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_of_many_rows_goes_past_the_journal_unless_it_would_have_to_wait() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |first: u32| batch((first..first + 101).map(|n| put(1, &format!("{n:06}"), "short")).collect());
    let store = FjallStore::open(folder.path(), Options { large_commit_rows: 100, ..options() }).unwrap();
    for table in [1, 2] {
        commit(&store, create(table)).await;
    }
    let in_memtables = figure(&store, "memtable_entries");
    commit(&store, rows(0)).await;
    assert!(figure(&store, "memtable_entries") < in_memtables + 50, "they went to a table of their own");
    assert_eq!(scan(&store, 1, &now(&store).await).await.len(), 101);

    let write = Made::new(&[2], 10, "large");
    write.stop();
    let (large, reading) = (store.clone(), write.clone());
    let large = tokio::spawn(async move { large.apply_large(write, vec![], Durability::Sync).await });
    while reading.read.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    let in_memtables = figure(&store, "memtable_entries");
    commit(&store, rows(200)).await;
    assert!(figure(&store, "memtable_entries") >= in_memtables + 101, "the large commit is not waited for");
    reading.go_on();
    let made = large.await.unwrap().unwrap();
    store.sync(made).await.unwrap();
    let at = now(&store).await;
    assert_eq!((scan(&store, 1, &at).await.len(), scan(&store, 2, &at).await.len()), (202, 10));
}

/// A DROP TABLE also changes a catalog row, and a commit with a condition on that row must get the condition's error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_condition_that_does_not_hold_is_told_before_a_table_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for table in [1, 2] {
        commit(&store, create(table)).await;
    }
    let catalog = Bytes::from_static(b"version");
    let condition = Condition { table: TableId(1), family: FAMILY, key: catalog, expect: None };
    let write = Made::new(&[2], 10, "large");
    write.stop();
    let (large, reading, held) = (store.clone(), write.clone(), vec![condition.clone()]);
    let beside = tokio::spawn(async move { large.apply_large(write, held, Durability::Sync).await });
    while reading.read.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    let tables = vec![store::TableChange::Drop(TableId(2))];
    commit(&store, WriteBatch { tables, mutations: vec![put(1, "version", "2")], ..WriteBatch::default() }).await;
    reading.go_on();
    let during = beside.await.unwrap();
    let after = store.apply_large(Made::new(&[2], 10, "large"), vec![condition], Durability::Sync).await;
    for refused in [during, after] {
        assert!(matches!(refused, Err(StoreError::ConditionFailed { table: TableId(1), .. })), "{refused:?}");
    }
}

/// The journal contains the rows, but not their deletion.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_a_large_commit_deleted_do_not_come_back_from_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let small = || FjallStore::open(folder.path(), Options { large_commit_rows: 3, ..options() }).unwrap();
    let store = small();
    commit(&store, create(1)).await;
    let keys: Vec<String> = (0..20).map(|number| format!("{number:03}")).collect();
    for key in &keys {
        commit(&store, batch(vec![put(1, key, "first")])).await;
    }
    commit(&store, batch(keys.iter().map(|key| delete(1, key)).collect())).await;
    // The tombstones must be compacted away with the rows; fjall allows that after a reopening or many snapshots.
    store.close().await.unwrap();
    drop(store);
    let store = small();
    store.flush(TableId(1), true).await.unwrap();
    commit(&store, batch(vec![put(1, "020", "later")])).await;
    assert_eq!(scan(&store, 1, &now(&store).await).await.len(), 1);
    drop(store);
    for _ in 0..2 {
        let store = small();
        assert_eq!(scan(&store, 1, &now(&store).await).await, [("020".to_owned(), "later".to_owned())]);
        store.close().await.unwrap();
    }
}
