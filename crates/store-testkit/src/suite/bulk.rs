//! Bulk loads are atomic.

use super::fixture::{
    FAMILY, Fixture, OTHER, TABLE, all, create, delete, expected, expected_numbered, numbered, range, ranges, replace,
    row, skip, unstamped,
};
use std::sync::Arc;
use store::{CommitNo, FamilyId, OnDuplicate, PointRead, Store, StoreError, StoreResult};

/// Loads `rows` into [`TABLE`].
async fn load(f: &Fixture, on_duplicate: OnDuplicate, rows: &[(String, u64)]) -> StoreResult<CommitNo> {
    let mut load = f.store.bulk_load(TABLE, on_duplicate).await?;
    for (key, number) in rows {
        load.write(FAMILY, key.as_bytes(), &row(*number)).await?;
    }
    load.finish().await
}

/// A store with an empty table; `None` if it does not support bulk loads.
async fn fixture(store: Arc<dyn Store>) -> Option<Fixture> {
    if store.capabilities().bulk_load {
        return Some(Fixture::new(store).await);
    }
    let f = Fixture::new(store).await;
    let refused = f.store.bulk_load(TABLE, OnDuplicate::Fail).await.err();
    assert!(matches!(refused, Some(StoreError::Unsupported { .. })), "{refused:?}");
    skip("the store has no bulk load");
    None
}

/// The rows are returned in key order at the load's commit.
pub async fn rows_in_any_order_are_loaded(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let rows: Vec<_> = (0..5000).map(|i| i * 1237 % 5000).map(|number| (numbered(number), number)).collect();
    let commit = load(&f, OnDuplicate::Fail, &rows).await.unwrap();
    let snapshot = f.store.snapshot(commit).await.unwrap();
    assert_eq!(f.rows_at(&snapshot).await, expected_numbered(0..5000));
    assert_eq!(f.newest("0017").await, Some(17));
    assert_eq!(f.scan(ranges(vec![range("0100", "0102")])).await.numbers(), [100, 101]);
}

/// Sorted input, which backends optimize.
pub async fn sorted_rows_are_loaded(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let rows = expected_numbered(0..5000);
    load(&f, OnDuplicate::Fail, &rows).await.unwrap();
    assert_eq!(f.rows().await, rows);
    let mut reversed = f.scan(store::ScanRequest { reverse: true, ..all() }).await.rows();
    reversed.reverse();
    assert_eq!(reversed, rows);
}

/// Invisible in the newest state, too.
pub async fn a_load_is_invisible_until_finished(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let mut load = f.store.bulk_load(TABLE, OnDuplicate::Fail).await.unwrap();
    for number in 0..2000 {
        load.write(FAMILY, numbered(number).as_bytes(), &row(number)).await.unwrap();
    }
    assert_eq!((f.rows().await.len(), f.newest("0000").await), (0, None));
    let commit = load.finish().await.unwrap();
    assert!(f.store.snapshot(CommitNo(0)).await.unwrap().commit() >= commit, "a finished load is published");
    assert_eq!(f.rows().await.len(), 2000);
}

/// The same rows can be loaded after the drop.
pub async fn a_load_that_is_dropped_leaves_nothing(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    f.put(&[("x", 1)]).await;
    let mut dropped = f.store.bulk_load(TABLE, OnDuplicate::Fail).await.unwrap();
    for number in 0..3000 {
        dropped.write(FAMILY, numbered(number).as_bytes(), &row(number)).await.unwrap();
    }
    drop(dropped);
    assert_eq!(f.rows().await, expected(&[("x", 1)]));
    load(&f, OnDuplicate::Fail, &expected_numbered(0..3000)).await.unwrap();
    assert_eq!(f.rows().await.len(), 3001);
}

/// Duplicates may be adjacent or far apart.
pub async fn a_key_twice_in_a_load_fails_it(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    for second in [1u64, 1999] {
        let mut rows = expected_numbered(0..2000);
        rows.insert(second as usize + 1, (numbered(1), 7));
        let failed = load(&f, OnDuplicate::Fail, &rows).await;
        assert_eq!(failed, Err(StoreError::DuplicateKey { table: TABLE, key: "0001".into() }));
        assert_eq!((f.rows().await.len(), f.newest("0001").await), (0, None));
    }
}

/// The existing rows are unchanged.
pub async fn a_key_that_is_there_fails_the_load(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    f.put(&[("0500", 5), ("0600", 6)]).await;
    f.write(vec![delete("0600")]).await.unwrap();
    let failed = load(&f, OnDuplicate::Fail, &expected_numbered(0..2000)).await;
    assert_eq!(failed, Err(StoreError::DuplicateKey { table: TABLE, key: "0500".into() }));
    assert_eq!(f.rows().await, expected(&[("0500", 5)]));
    f.write(vec![delete("0500")]).await.unwrap();
    load(&f, OnDuplicate::Fail, &expected_numbered(0..2000)).await.unwrap();
    assert_eq!(f.rows().await, expected_numbered(0..2000));
}

/// The last row wins over stored rows and over rows of the load.
pub async fn replacing_loads_let_the_last_row_win(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    f.put(&[("0500", 5), ("x", 8)]).await;
    let mut rows = expected_numbered(0..2000);
    rows.push((numbered(3), 33));
    rows.push((numbered(3), 333));
    load(&f, OnDuplicate::Replace, &rows).await.unwrap();
    let mut loaded = expected_numbered(0..2000);
    loaded[3].1 = 333;
    loaded.push(("x".into(), 8));
    assert_eq!(f.rows().await, loaded);
}

/// Existing rows with other keys before, between and after the loaded ones are kept.
pub async fn a_load_into_rows_keeps_the_others(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let odd = |numbers: std::ops::Range<u64>| expected_numbered(numbers.filter(|number| number % 2 == 1));
    let even = (0..2000).step_by(2).map(|number| replace(numbered(number), number));
    f.write(even.collect()).await.unwrap();
    load(&f, OnDuplicate::Fail, &odd(0..1000)).await.unwrap();
    load(&f, OnDuplicate::Fail, &odd(1000..2000)).await.unwrap();
    assert_eq!(f.rows().await, expected_numbered(0..2000));
}

/// An empty load writes nothing.
pub async fn an_empty_load_is_fine(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    f.put(&[("a", 1)]).await;
    load(&f, OnDuplicate::Fail, &[]).await.unwrap();
    assert_eq!(f.rows().await, expected(&[("a", 1)]));
}

/// Loaded rows have stamps and can be updated like other rows.
pub async fn loaded_rows_are_stamped_and_writable(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let before = f.put(&[("x", 1)]).await;
    let commit = load(&f, OnDuplicate::Fail, &expected_numbered(0..2000)).await.unwrap();
    assert!(commit > before);
    let found = f.store.get_newest(TABLE, FAMILY, b"0007").await.unwrap().unwrap();
    assert_eq!((fragment::header::commit_of(&found), unstamped(&found)), (Some(commit), row(7)));
    f.add("0007", 3, store::Durability::Sync).await;
    f.write(vec![delete("0008"), replace("0009", 90)]).await.unwrap();
    assert_eq!((f.get("0007").await, f.get("0008").await, f.get("0009").await), (Some(10), None, Some(90)));
    assert_eq!(f.rows().await.len(), 2000);
}

/// Earlier snapshots are repeatable.
pub async fn snapshots_before_a_load_do_not_see_it(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    f.put(&[("0500", 5)]).await;
    let before = f.snapshot().await;
    load(&f, OnDuplicate::Replace, &expected_numbered(0..2000)).await.unwrap();
    assert_eq!(f.rows_at(&before).await, expected(&[("0500", 5)]));
    assert_eq!((f.get_at("0001", &before).await, f.get_at("0500", &before).await), (None, Some(5)));
    assert_eq!(f.rows().await, expected_numbered(0..2000));
}

/// The error is returned by `finish` at the latest.
pub async fn a_load_into_an_unknown_table_or_family_is_refused(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let unknown = f.store.bulk_load(OTHER, OnDuplicate::Fail).await.err();
    assert_eq!(unknown, Some(StoreError::NoSuchTable { table: OTHER }));
    let mut load = f.store.bulk_load(TABLE, OnDuplicate::Fail).await.unwrap();
    let family = FamilyId(9);
    let failed = match load.write(family, b"a", &row(1)).await {
        Ok(()) => load.finish().await.err(),
        Err(error) => Some(error),
    };
    assert_eq!(failed, Some(StoreError::NoSuchFamily { table: TABLE, family }));
    // A table that is dropped during the load.
    f.tables(vec![create(OTHER)]).await.unwrap();
    let mut load = f.store.bulk_load(OTHER, OnDuplicate::Fail).await.unwrap();
    load.write(FAMILY, b"a", &row(1)).await.unwrap();
    f.tables(vec![store::TableChange::Drop(OTHER)]).await.unwrap();
    assert_eq!(load.finish().await, Err(StoreError::NoSuchTable { table: OTHER }));
}
