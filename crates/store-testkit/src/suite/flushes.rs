//! Flushes and compactions are invisible to readers.

use super::fixture::{FAMILY, Fixture, TABLE, all, batch, delete, expected_numbered, numbered, ranges, replace, skip};
use std::sync::Arc;
use store::{CommitNo, Durability, KeyRange, PointRead, ScanRequest, Snapshot, Store, StoreError, WriteBatch};

/// Repeated flushes between writes.
pub async fn a_flush_changes_no_read(store: Arc<dyn Store>) {
    reads_stay_the_same(store, false).await;
}

/// Repeated major compactions between writes.
pub async fn a_major_compaction_changes_no_read(store: Arc<dyn Store>) {
    reads_stay_the_same(store, true).await;
}

async fn reads_stay_the_same(store: Arc<dyn Store>, major: bool) {
    let f = Fixture::new(store).await;
    let mut present = std::collections::BTreeSet::new();
    for round in 0..6u64 {
        let written = (0..600).filter(|number| number % 6 == round || number % 5 == 0);
        let deleted = (0..600).filter(|number| (number + round) % 4 == 3);
        present.extend(written.clone());
        deleted.clone().for_each(|number| _ = present.remove(&number));
        let mutations = written.map(|number| replace(numbered(number), number));
        f.write(mutations.chain(deleted.map(|number| delete(numbered(number)))).collect()).await.unwrap();
        let before = f.snapshot().await;
        f.store.flush(TABLE, major && round % 2 == 1).await.unwrap();
        for snapshot in [before, f.snapshot().await] {
            must_hold(&f, &snapshot, &expected_numbered(present.iter().copied())).await;
        }
    }
}

/// Checks that every kind of read returns `rows`.
async fn must_hold(f: &Fixture, snapshot: &Snapshot, rows: &[(String, u64)]) {
    assert_eq!(f.rows_at(snapshot).await, rows);
    let mut reversed = f.scan_at(ScanRequest { reverse: true, batch_rows: 13, ..all() }, snapshot).await.rows();
    reversed.reverse();
    assert_eq!(reversed, rows);
    assert_eq!(f.scan_at(ScanRequest { keys: false, values: false, ..all() }, snapshot).await.count, rows.len());
    let points = ranges(rows.iter().map(|(key, _)| KeyRange::point(key.clone())).collect());
    assert_eq!(f.scan_at(points, snapshot).await.rows(), rows);
    for (key, number) in rows.iter().step_by(29) {
        assert_eq!(f.get_at(key, snapshot).await, Some(*number));
    }
}

/// Versions that a snapshot reads are not reclaimed.
pub async fn a_held_snapshot_survives_compaction(store: Arc<dyn Store>) {
    if !store.capabilities().store_snapshots() {
        return skip("snapshots are of single rows or regions");
    }
    let f = Fixture::new(store).await;
    f.put_numbered(500).await;
    let held = f.snapshot().await;
    for _ in 0..3 {
        f.write((0..500).map(|number| replace(numbered(number), number + 1000)).collect()).await.unwrap();
        f.write((0..250).map(|number| delete(numbered(number))).collect()).await.unwrap();
        f.store.flush(TABLE, true).await.unwrap();
    }
    must_hold(&f, &held, &expected_numbered(0..500)).await;
    assert_eq!(f.rows().await.len(), 250);
}

/// A deleted row does not reappear when its tombstone is compacted away.
pub async fn deletes_survive_compaction(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(300).await;
    f.store.flush(TABLE, true).await.unwrap();
    f.write((0..300).filter(|number| number % 3 != 0).map(|number| delete(numbered(number))).collect()).await.unwrap();
    f.store.flush(TABLE, false).await.unwrap();
    f.store.flush(TABLE, true).await.unwrap();
    f.store.flush(TABLE, true).await.unwrap();
    must_hold(&f, &f.snapshot().await, &expected_numbered((0..300).step_by(3))).await;
}

/// The check finds all rows and no problems.
pub async fn a_check_finds_all_rows(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(700).await;
    f.store.flush(TABLE, true).await.unwrap();
    f.write((0..100).map(|number| delete(numbered(number))).collect()).await.unwrap();
    f.write((600..800).map(|number| replace(numbered(number), number)).collect()).await.unwrap();
    let report = f.store.check().await.unwrap();
    assert_eq!(report.problems, []);
    assert!(report.rows.contains(&(TABLE, FAMILY, 700)), "{report:?}");
    assert!(report.bytes >= 700 * 24, "{report:?}");
}

/// Every call fails with `Closed`.
pub async fn a_closed_store_refuses_calls(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put(&[("a", 1)]).await;
    let snapshot = f.snapshot().await;
    f.store.close().await.unwrap();
    let s = &f.store;
    assert_eq!(s.snapshot(CommitNo(0)).await.err(), Some(StoreError::Closed));
    assert_eq!(s.get_row(TABLE, FAMILY, b"a", &snapshot).await, Err(StoreError::Closed));
    assert_eq!(s.get_newest(TABLE, FAMILY, b"a").await, Err(StoreError::Closed));
    assert_eq!(s.scan(all(), &snapshot).await.err(), Some(StoreError::Closed));
    assert_eq!(s.apply(batch(vec![replace("a", 2)]), Durability::Sync).await, Err(StoreError::Closed));
    assert_eq!(s.apply(WriteBatch::default(), Durability::Sync).await, Err(StoreError::Closed));
    assert_eq!(s.regions(TABLE).await, Err(StoreError::Closed));
}
