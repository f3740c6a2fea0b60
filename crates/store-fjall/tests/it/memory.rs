//! Memory use of the store: memtables, and what readers keep of them.

use crate::support::{FAMILY, batch, commit, create, get, now, options, put, scan, text};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use store::{
    CommitNo, Durability, KeyRange, OnDuplicate, PointRead, ReadAt, ScanRequest, Store, StoreError, TableChange,
    TableId,
};
use store::{Snapshot, WriteBatch};
use store_fjall::{DiskSpace, FjallStore, Options, Space};

const MIB: u64 = 1 << 20;

fn stat(store: &FjallStore, name: &str) -> u64 {
    store.stats().values.iter().find(|(found, _)| *found == name).unwrap().1
}

/// Waits for the housekeeper, with a generous timeout.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Writes rows of 1 KiB with `keys`, in batches of 100.
async fn write(store: &FjallStore, table: u32, keys: std::ops::Range<u32>, round: u32) {
    let keys: Vec<u32> = keys.collect();
    for keys in keys.chunks(100) {
        let rows = keys.iter().map(|n| put(table, &format!("{n:06}"), &format!("{round}{}", "x".repeat(1000))));
        store.apply(batch(rows.collect()), Durability::Buffered).await.unwrap();
        tokio::task::yield_now().await;
    }
}

async fn everything(store: &FjallStore) -> Snapshot {
    let commit = store.apply(batch(vec![put(1, "mark", "mark")]), Durability::Sync).await.unwrap();
    store.sync(commit).await.unwrap();
    store.snapshot(commit).await.unwrap()
}

fn small() -> Options {
    Options { memtable_bytes: 4 * MIB, snapshot_bytes: 64 * MIB, ..options() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_beside_an_open_reader_hold_no_more_than_the_memtables_of_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = FjallStore::open(folder.path(), small()).unwrap();
    commit(&store, create(1)).await;
    write(&store, 1, 0..3000, 0).await;
    let reader = everything(&store).await;
    let before = scan(&store, 1, &reader).await;
    let request = ScanRequest { batch_rows: 100, ..ScanRequest::new(TableId(1), FAMILY, vec![KeyRange::all()]) };
    let mut suspended = store.scan(request, &reader).await.unwrap();
    let first = suspended.next().await.unwrap().unwrap();
    until("the snapshot is frozen", || stat(&store, "snapshot_oldest_milliseconds") > 500).await;
    for round in 1..20 {
        write(&store, 1, 0..3000, round).await;
    }
    // 60 MB were written and flushed; only the memtables of the reader's snapshot remain in memory.
    until("flushed memtables are freed", || {
        stat(&store, "flushes_waiting") == 0
            && stat(&store, "memtable_bytes") <= 12 * MIB
            && stat(&store, "retained_memtable_bytes") <= 12 * MIB
    })
    .await;
    assert_eq!(scan(&store, 1, &reader).await, before);
    assert_eq!(
        get(&store, 1, "000007", &reader).await,
        before.iter().find(|row| row.0 == "000007").map(|row| row.1.clone())
    );
    assert_eq!(get(&store, 1, "nothing", &reader).await, None);
    let mut rows = first.len();
    while let Some(batch) = suspended.next().await.unwrap() {
        assert!(batch.fragments().all(|fragment| !text(fragment).starts_with("19")));
        rows += batch.len();
    }
    assert_eq!(rows, before.len());
    assert_eq!(stat(&store, "snapshots_ended_total"), 0);
    drop((suspended, reader));
    until("nothing is retained", || stat(&store, "retained_memtable_bytes") == 0).await;
}

/// A disk whose syncs and free-space queries take long.
#[derive(Debug)]
struct SlowDisk;

impl DiskSpace for SlowDisk {
    fn space(&self, _: &Path) -> Option<Space> {
        // The housekeeper queries the space before it flushes, so this delays flushes like a slow sync.
        std::thread::sleep(Duration::from_millis(700));
        Some(Space { free: 1 << 40, total: 1 << 40 })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memtables_stay_within_twice_their_budget_when_flushes_come_late() {
    let folder = tempfile::tempdir().unwrap();
    let store = FjallStore::open(folder.path(), Options { disk: Arc::new(SlowDisk), ..small() }).unwrap();
    commit(&store, create(1)).await;
    let most = Arc::new(AtomicU64::new(0));
    let (looking, seen) = (store.clone(), most.clone());
    let look = tokio::spawn(async move {
        loop {
            seen.fetch_max(stat(&looking, "memtable_bytes"), Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    for round in 0..10 {
        write(&store, 1, 0..3000, round).await;
    }
    look.abort();
    let most = most.load(Ordering::Relaxed);
    assert!((4 * MIB..=9 * MIB).contains(&most), "{} KiB", most >> 10);
    assert!(stat(&store, "write_pauses_total") > 0);
}

/// Many memtables that are too small for a flush each, but too large together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_memtables_are_flushed_when_commits_wait_for_room() {
    let folder = tempfile::tempdir().unwrap();
    let budget = Options { memtable_bytes: MIB, small_load_bytes: 1 << 10, load_buffer_bytes: 64 << 10, ..small() };
    let store = FjallStore::open(folder.path(), budget).unwrap();
    for id in 1..6 {
        load_into_own_keyspace(&store, id).await;
    }
    let writes = async {
        for id in 1..6 {
            write(&store, id, 1000..1800, 0).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), writes).await.expect("commits wait for ever");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_memtable_of_the_last_flush_is_freed_though_nothing_more_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = FjallStore::open(folder.path(), Options { idle_flush: Duration::from_secs(3600), ..small() }).unwrap();
    commit(&store, create(1)).await;
    write(&store, 1, 0..2000, 0).await;
    store.flush(TableId(1), false).await.unwrap();
    until("it is freed", || stat(&store, "retained_memtable_bytes") + stat(&store, "memtable_bytes") < MIB).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_ends_with_an_error_at_its_age() {
    let folder = tempfile::tempdir().unwrap();
    let limit = Options { snapshot_max_age: Duration::from_millis(1500), ..small() };
    let store = FjallStore::open(folder.path(), limit).unwrap();
    commit(&store, create(1)).await;
    write(&store, 1, 0..1000, 0).await;
    let old = everything(&store).await;
    let request = ScanRequest { batch_rows: 10, ..ScanRequest::new(TableId(1), FAMILY, vec![KeyRange::all()]) };
    let mut suspended = store.scan(request.clone(), &old).await.unwrap();
    suspended.next().await.unwrap().unwrap();
    let mut untouched = store.scan(request.clone(), &old).await.unwrap();
    until("it ends", || stat(&store, "snapshots_ended_total") == 1).await;
    let too_old = |error: StoreError| assert!(matches!(error, StoreError::SnapshotTooOld { .. }), "{error}");
    too_old(suspended.next().await.unwrap_err());
    too_old(suspended.next().await.unwrap_err());
    too_old(untouched.next().await.unwrap_err());
    too_old(store.scan(request, &old).await.err().unwrap());
    too_old(store.get_row(TableId(1), FAMILY, b"000001", &old).await.unwrap_err());
    too_old(store.get(TableId(1), FAMILY, &[b"000001"], ReadAt::Snapshot(&old)).await.unwrap_err());
    assert_eq!(scan(&store, 1, &now(&store).await).await.len(), 1001);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_snapshots_the_oldest_end_when_they_hold_too_many_memtables() {
    let folder = tempfile::tempdir().unwrap();
    let limit = Options { snapshot_bytes: 8 * MIB, ..small() };
    let store = FjallStore::open(folder.path(), limit).unwrap();
    commit(&store, create(1)).await;
    let mut held = Vec::new();
    for round in 0..8 {
        write(&store, 1, 0..2000, round).await;
        let snapshot = everything(&store).await;
        let row = get(&store, 1, "000001", &snapshot).await;
        held.push((snapshot, row));
        // A snapshot of the newest commit is refreshed after a flush, and then holds no memtables.
        write(&store, 1, 0..1, round).await;
        tokio::time::sleep(Duration::from_millis(600)).await;
        store.flush(TableId(1), false).await.unwrap();
    }
    until("they are within the budget", || stat(&store, "retained_memtable_bytes") <= 10 * MIB).await;
    let before = stat(&store, "snapshots_ended_total");
    let mut found = Vec::new();
    for (snapshot, _) in &held {
        found.push(store.get_row(TableId(1), FAMILY, b"000001", snapshot).await);
    }
    // One more may end during the reads.
    let after = stat(&store, "snapshots_ended_total");
    assert!(before >= 1 && after < 8, "{before} to {after} of 8 ended");
    for (at, (found, (_, row))) in (0u64..).zip(found.into_iter().zip(&held)) {
        match found {
            Ok(found) => assert!(at >= before && found.map(|bytes| text(&bytes)) == *row, "snapshot {at}"),
            Err(error) => assert!(at < after && matches!(error, StoreError::SnapshotTooOld { .. }), "snapshot {at}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_of_the_newest_commit_moves_on_to_what_was_flushed() {
    let folder = tempfile::tempdir().unwrap();
    let store = FjallStore::open(folder.path(), small()).unwrap();
    commit(&store, create(1)).await;
    write(&store, 1, 0..2000, 0).await;
    let reader = everything(&store).await;
    let before = scan(&store, 1, &reader).await;
    store.flush(TableId(1), false).await.unwrap();
    until("its memtable is freed", || stat(&store, "retained_memtable_bytes") < MIB).await;
    assert_eq!(scan(&store, 1, &reader).await, before);
}

/// Loads a table into an own keyspace, and writes 3 MiB that stay in memtables.
async fn loaded_and_written(store: &FjallStore, id: u32) {
    load_into_own_keyspace(store, id).await;
    write(store, id, 1000..4000, 0).await;
}

/// Loads a new table with 200 rows.
async fn load_into_own_keyspace(store: &FjallStore, id: u32) {
    commit(store, create(id)).await;
    let mut load = store.bulk_load(TableId(id), OnDuplicate::Fail).await.unwrap();
    for n in 0..200 {
        let row = crate::support::fragment(&"y".repeat(1000));
        load.write(FAMILY, format!("{n:06}").as_bytes(), &row).await.unwrap();
    }
    load.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_dropped_tables_leave_the_budget_of_memtables() {
    let folder = tempfile::tempdir().unwrap();
    let budget =
        Options { memtable_bytes: 4 * MIB, small_load_bytes: 1 << 10, load_buffer_bytes: 64 << 10, ..options() };
    let store = FjallStore::open(folder.path(), budget).unwrap();
    commit(&store, create(1)).await;
    for id in 10..14 {
        loaded_and_written(&store, id).await;
        let dropping = WriteBatch { tables: vec![TableChange::Drop(TableId(id))], ..WriteBatch::default() };
        commit(&store, dropping).await;
        until("its keyspace is deleted", || stat(&store, "keyspaces") == 2).await;
    }
    until("they are not counted", || stat(&store, "memtable_bytes") < MIB).await;
    let tables = stat(&store, "sorted_tables");
    // Within the budget, so nothing is flushed.
    write(&store, 1, 0..2000, 0).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(stat(&store, "sorted_tables"), tables);
    assert!((MIB..4 * MIB).contains(&stat(&store, "memtable_bytes")), "{}", stat(&store, "memtable_bytes"));
    assert_eq!(store.snapshot(CommitNo(0)).await.unwrap().commit().0, stat(&store, "published_commit"));
}
