//! Bulk loads into several tables: rows and index entries, atomically.

use super::fixture::{FAMILY, Fixture, OTHER, TABLE, create, numbered, replace_in, row, skip};
use std::sync::Arc;
use store::{
    BulkLoad, CommitNo, KeyRange, LoadRows, LoadTable, OnDuplicate, ScanRequest, Snapshot, Store, StoreError,
    StoreResult, TableId,
};

/// A third table.
const THIRD: TableId = TableId(1003);

/// A size that fits in memory, and one that is sorted on disk.
const SIZES: [u64; 2] = [20, 3000];

/// A store with three empty tables; `None` if it does not support bulk loads.
async fn fixture(store: Arc<dyn Store>) -> Option<Fixture> {
    if !store.capabilities().bulk_load || !store.capabilities().store_snapshots() {
        skip("the store has no bulk load, or no snapshots of all tables");
        return None;
    }
    let f = Fixture::new(store).await;
    f.tables(vec![create(OTHER), create(THIRD)]).await.unwrap();
    Some(f)
}

/// Begins a load with a unique index: its entries have the row's four-digit value as unique prefix, then the key.
async fn begin(f: &Fixture) -> Box<dyn BulkLoad> {
    let mut load = f.store.bulk_load(TABLE, OnDuplicate::Fail).await.unwrap();
    let unique: store::UniquePrefix = Arc::new(|key| Ok((!key.starts_with(b"null")).then_some(4)));
    let table = |table, unique| LoadTable { table, on_duplicate: OnDuplicate::Replace, unique };
    load.add_table(table(OTHER, Some(unique))).unwrap();
    load.add_table(table(THIRD, None)).unwrap();
    load
}

/// Adds rows with these values, alternately one by one and as blocks.
async fn add(load: &mut dyn BulkLoad, rows: &[(String, String)]) -> StoreResult<()> {
    let (mut entries, mut others) = (LoadRows::default(), LoadRows::default());
    for (at, (key, value)) in rows.iter().enumerate() {
        let mut block = LoadRows::default();
        block.push(key.as_bytes(), &row(at as u64));
        if at % 2 == 0 {
            load.write(FAMILY, key.as_bytes(), &row(at as u64)).await?;
        } else {
            load.write_rows(FAMILY, block).await?;
        }
        entries.push(format!("{value}{key}").as_bytes(), &row(0));
        others.push(key.as_bytes(), &row(0));
    }
    load.write_rows_of(OTHER, FAMILY, entries).await?;
    load.write_rows_of(THIRD, FAMILY, others).await
}

/// Rows in shuffled order, with the numbers as keys and values that are larger by `shift`.
fn shuffled(numbers: std::ops::Range<u64>, shift: u64) -> Vec<(String, String)> {
    let (first, count) = (numbers.start, numbers.end - numbers.start);
    let number = |at| first + at * 7919 % count;
    (0..count).map(number).map(|number| (numbered(number), numbered(number + shift))).collect()
}

async fn load(f: &Fixture, rows: &[(String, String)]) -> StoreResult<CommitNo> {
    let mut load = begin(f).await;
    add(load.as_mut(), rows).await?;
    load.finish().await
}

/// The keys of the three tables.
async fn keys(f: &Fixture, snapshot: &Snapshot) -> [Vec<String>; 3] {
    let mut found = [const { Vec::new() }; 3];
    for (table, found) in [TABLE, OTHER, THIRD].into_iter().zip(&mut found) {
        let request = ScanRequest::new(table, FAMILY, vec![KeyRange::all()]);
        let rows = f.scan_at(request, snapshot).await.rows();
        found.extend(rows.into_iter().map(|(key, _)| key));
    }
    found
}

/// The expected result of [`keys`] for these rows.
fn wanted(rows: &[(String, String)]) -> [Vec<String>; 3] {
    let sorted = |mut keys: Vec<String>| {
        keys.sort();
        keys
    };
    let own = sorted(rows.iter().map(|(key, _)| key.clone()).collect());
    [own.clone(), sorted(rows.iter().map(|(key, value)| format!("{value}{key}")).collect()), own]
}

/// Loads into empty tables, tables with a few rows, and tables that were loaded before.
pub async fn rows_of_several_tables_are_loaded_as_one(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let mut all = Vec::new();
    let mut first = 0;
    for size in [SIZES[0], SIZES[1], SIZES[1], SIZES[0]] {
        let rows = shuffled(first..first + size, 1);
        first += size;
        let mut load = begin(&f).await;
        add(load.as_mut(), &rows).await.unwrap();
        let before = f.snapshot().await;
        assert!(keys(&f, &before).await == wanted(&all), "a load is seen before its end");
        let commit = load.finish().await.unwrap();
        assert!(keys(&f, &before).await == wanted(&all), "a snapshot before a load sees it");
        all.extend(rows);
        let after = f.store.snapshot(commit).await.unwrap();
        assert!(keys(&f, &after).await == wanted(&all));
        assert!(after.commit() >= commit);
    }
}

/// The rows are in key order, their entries are not.
pub async fn sorted_rows_are_loaded_with_their_entries(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let mut all = Vec::new();
    for first in [0, 3000] {
        let value = |number: u64| numbered((number * 7919) % 3000 + first);
        let rows: Vec<_> = (0..3000).map(|number| (numbered(first + number), value(number))).collect();
        load(&f, &rows).await.unwrap();
        all.extend(rows);
        assert!(keys(&f, &f.snapshot().await).await == wanted(&all));
    }
}

/// Duplicate keys and values, within the load and with stored rows, fail the load for all tables.
pub async fn a_duplicate_in_one_table_fails_the_load_of_all(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let mut there: Vec<(String, String)> = Vec::new();
    for size in SIZES {
        let first = there.len() as u64;
        let good = shuffled(first..first + size, 0);
        let fails = async |key: String, value: String, table, duplicate: String| {
            let mut rows = good.clone();
            rows.insert(rows.len() / 2, (key, value));
            let failed = load(&f, &rows).await;
            let Err(StoreError::DuplicateKey { table: found, key }) = failed else { panic!("{failed:?}") };
            assert_eq!((found, key.starts_with(duplicate.as_bytes())), (table, true), "{key:?}, {duplicate}");
        };
        fails(good[3].0.clone(), "9999".into(), TABLE, good[3].0.clone()).await;
        fails("9999".into(), good[3].1.clone(), OTHER, good[3].1.clone()).await;
        if let Some((key, value)) = there.first().cloned() {
            fails(key.clone(), "9999".into(), TABLE, key).await;
            fails("9999".into(), value.clone(), OTHER, value).await;
        }
        assert!(keys(&f, &f.snapshot().await).await == wanted(&there));
        load(&f, &good).await.unwrap();
        there.extend(good);
        assert!(keys(&f, &f.snapshot().await).await == wanted(&there));
    }
    // Also in tables that were loaded before.
    let next = there.len() as u64;
    let mut rows = shuffled(next..next + 3000, 0);
    rows[1500].1 = there[7].1.clone();
    let failed = load(&f, &rows).await;
    assert!(matches!(failed, Err(StoreError::DuplicateKey { table: OTHER, .. })), "{failed:?}");
    assert!(keys(&f, &f.snapshot().await).await == wanted(&there));
}

/// Entries without a unique prefix may be equal except for the key.
pub async fn keys_without_a_unique_prefix_are_no_duplicates(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let mut all = Vec::new();
    for size in [SIZES[0], SIZES[1], SIZES[1]] {
        let first = all.len() as u64;
        let rows: Vec<_> = (first..first + size).map(|number| (numbered(number), "null".to_string())).collect();
        load(&f, &rows).await.unwrap();
        all.extend(rows);
        assert!(keys(&f, &f.snapshot().await).await == wanted(&all));
    }
}

/// All tables are unchanged.
pub async fn a_load_of_several_tables_that_is_dropped_leaves_nothing(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let rows = shuffled(0..3000, 1);
    let mut dropped = begin(&f).await;
    add(dropped.as_mut(), &rows).await.unwrap();
    drop(dropped);
    assert!(keys(&f, &f.snapshot().await).await == wanted(&[]));
    load(&f, &rows).await.unwrap();
    assert!(keys(&f, &f.snapshot().await).await == wanted(&rows));
}

/// Rows committed to one of the tables during the load are kept, and conflict with duplicates in the load.
pub async fn rows_written_beside_a_load_of_several_tables_are_kept(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    for size in SIZES {
        let first = if size == SIZES[0] { 0 } else { 1000 };
        let rows = shuffled(first..first + size, 0);
        let mut load = begin(&f).await;
        add(load.as_mut(), &rows).await.unwrap();
        let beside = format!("8{:03}beside", size % 1000);
        f.write(vec![replace_in(OTHER, &beside, row(1)), replace_in(THIRD, &beside, row(1))]).await.unwrap();
        load.finish().await.unwrap();
        let [own, entries, third] = keys(&f, &f.snapshot().await).await;
        assert!(entries.contains(&beside) && third.contains(&beside));
        assert_eq!(entries.len(), third.len());

        let mut load = begin(&f).await;
        let more = shuffled(first + size..first + 2 * size, 0);
        add(load.as_mut(), &more).await.unwrap();
        let twin = format!("{}twin", more[1].1);
        f.write(vec![replace_in(OTHER, &twin, row(1))]).await.unwrap();
        let failed = load.finish().await;
        assert!(matches!(failed, Err(StoreError::DuplicateKey { table: OTHER, .. })), "{failed:?}");
        assert_eq!(keys(&f, &f.snapshot().await).await[0].len(), own.len());
        f.write(vec![store::Mutation::Delete { table: OTHER, family: FAMILY, key: twin.into() }]).await.unwrap();
    }
}

/// The error is returned at once, or when rows for the table are written.
pub async fn a_table_that_a_load_does_not_know_is_refused(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let mut load = f.store.bulk_load(TABLE, OnDuplicate::Fail).await.unwrap();
    let gone = TableId(1999);
    let unknown = load.add_table(LoadTable { table: gone, on_duplicate: OnDuplicate::Fail, unique: None });
    assert_eq!(unknown, Err(StoreError::NoSuchTable { table: gone }));
    let failed = load.write_rows_of(OTHER, FAMILY, LoadRows::default()).await;
    assert_eq!(failed, Err(StoreError::NoSuchTable { table: OTHER }));
}
