//! Snapshots: which commits readers see, and when.

use super::fixture::{FAMILY, Fixture, TABLE, all, batch, delete, expected, number, numbered, replace, skip};
use std::sync::Arc;
use std::time::Duration;
use store::{CommitNo, Durability, ReadAt, Store};

/// A timeout that no store should need.
const PATIENCE: Duration = Duration::from_secs(20);

/// Independent of concurrent writes, deletes and loads.
pub async fn a_snapshot_repeats_exactly(store: Arc<dyn Store>) {
    if !store.capabilities().store_snapshots() {
        return skip("snapshots are of single rows or regions");
    }
    let f = Fixture::new(store).await;
    f.put(&[("a", 1), ("b", 2), ("c", 3)]).await;
    let snapshot = f.snapshot().await;
    f.write(vec![replace("a", 10), delete("b"), replace("d", 4)]).await.unwrap();
    assert_eq!(f.rows_at(&snapshot).await, expected(&[("a", 1), ("b", 2), ("c", 3)]));
    assert_eq!((f.get_at("a", &snapshot).await, f.get_at("d", &snapshot).await), (Some(1), None));
    let keys: [&[u8]; 3] = [b"a", b"b", b"d"];
    let many = f.store.get(TABLE, FAMILY, &keys, ReadAt::Snapshot(&snapshot)).await.unwrap();
    assert_eq!(many.iter().map(|row| row.as_deref().map(number)).collect::<Vec<_>>(), [Some(1), Some(2), None]);
    assert_eq!(f.rows().await, expected(&[("a", 10), ("c", 3), ("d", 4)]));
    let copy = snapshot.clone();
    drop(snapshot);
    assert_eq!(f.rows_at(&copy).await, expected(&[("a", 1), ("b", 2), ("c", 3)]));
}

/// The commit number of a snapshot determines which commits it contains.
pub async fn a_snapshot_holds_a_commit_whole_or_not_at_all(store: Arc<dyn Store>) {
    if !store.capabilities().store_snapshots() {
        return skip("snapshots are of single rows or regions");
    }
    let f = Fixture::new(store).await;
    let mut commits = Vec::new();
    for number in 0..30 {
        let durability = if number % 4 == 1 { Durability::Buffered } else { Durability::Sync };
        let commit = f.store.apply(batch(vec![replace(numbered(number), number)]), durability).await.unwrap();
        commits.push(commit);
        if number % 7 == 0 {
            f.store.sync(commit).await.unwrap();
        }
        let snapshot = f.store.snapshot(CommitNo(0)).await.unwrap();
        let inside = commits.iter().filter(|&&commit| commit <= snapshot.commit()).count();
        assert_eq!(f.scan_at(all(), &snapshot).await.count, inside, "{snapshot:?} of {commits:?}");
    }
}

/// A session sees its own write: its snapshot waits for the sync.
pub async fn a_snapshot_waits_for_its_commit(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let commit = f.store.apply(batch(vec![replace("a", 1)]), Durability::Sync).await.unwrap();
    let store = f.store.clone();
    let reader = tokio::spawn(async move { store.snapshot(commit).await.unwrap() });
    tokio::time::sleep(Duration::from_millis(10)).await;
    f.store.sync(commit).await.unwrap();
    let snapshot = tokio::time::timeout(PATIENCE, reader).await.expect("the snapshot comes after the sync").unwrap();
    assert!(snapshot.commit() >= commit);
    assert_eq!(f.get_at("a", &snapshot).await, Some(1));
}

/// Immediately, for all sessions.
pub async fn a_synced_commit_is_published(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    for number in 0..20 {
        let commit = f.put(&[("a", number)]).await;
        let snapshot = f.store.snapshot(CommitNo(0)).await.unwrap();
        assert!(snapshot.commit() >= commit);
        assert_eq!(f.get_at("a", &snapshot).await, Some(number));
    }
}

/// Without an explicit sync.
pub async fn a_buffered_commit_is_published_by_itself(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let commit = f.store.apply(batch(vec![replace("a", 1)]), Durability::Buffered).await.unwrap();
    let waiting = tokio::time::timeout(PATIENCE, f.store.snapshot(commit));
    let snapshot = waiting.await.expect("the snapshot comes without a sync").unwrap();
    assert_eq!(f.get_at("a", &snapshot).await, Some(1));
}

/// A sync includes all earlier commits, also buffered ones.
pub async fn a_sync_covers_earlier_commits(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let first = f.store.apply(batch(vec![replace("a", 1)]), Durability::Sync).await.unwrap();
    f.store.apply(batch(vec![replace("b", 2)]), Durability::Buffered).await.unwrap();
    let third = f.store.apply(batch(vec![replace("c", 3)]), Durability::Sync).await.unwrap();
    f.store.sync(third).await.unwrap();
    let snapshot = f.store.snapshot(CommitNo(0)).await.unwrap();
    assert_eq!(f.rows_at(&snapshot).await, expected(&[("a", 1), ("b", 2), ("c", 3)]));
    // Syncing a durable commit again is no error.
    f.store.sync(first).await.unwrap();
    f.store.sync(CommitNo(0)).await.unwrap();
}

/// Writers read the newest state.
pub async fn the_newest_state_is_there_before_the_sync(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let commit = f.store.apply(batch(vec![replace("a", 1)]), Durability::Sync).await.unwrap();
    assert_eq!(f.newest("a").await, Some(1));
    f.store.apply(batch(vec![delete("a"), replace("b", 2)]), Durability::Sync).await.unwrap();
    assert_eq!((f.newest("a").await, f.newest("b").await), (None, Some(2)));
    f.store.sync(commit).await.unwrap();
}

/// Rows written during a scan are not returned.
pub async fn a_scan_keeps_its_snapshot(store: Arc<dyn Store>) {
    if !store.capabilities().store_snapshots() {
        return skip("snapshots are of single rows or regions");
    }
    let f = Fixture::new(store).await;
    f.put_numbered(500).await;
    let snapshot = f.snapshot().await;
    let mut request = all();
    request.batch_rows = 50;
    let mut scan = f.store.scan(request, &snapshot).await.unwrap();
    drop(snapshot);
    let mut numbers = Vec::new();
    while let Some(batch) = scan.next().await.unwrap() {
        numbers.extend(batch.fragments().map(number));
        let next = numbers.len() as u64;
        let changes = vec![delete(numbered(next)), replace(numbered(next + 1), 7), replace(format!("{next:04}x"), 8)];
        f.write(changes).await.unwrap();
    }
    assert_eq!(numbers, (0..500).collect::<Vec<_>>());
}

/// Also with snapshots of single rows: keys ascend, and unchanged rows are all returned.
pub async fn a_scan_returns_each_row_once_beside_writers(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(300).await;
    for reverse in [false, true] {
        let snapshot = f.snapshot().await;
        let request = store::ScanRequest { batch_rows: 25, reverse, ..all() };
        let mut scan = f.store.scan(request, &snapshot).await.unwrap();
        let mut keys: Vec<Vec<u8>> = Vec::new();
        while let Some(batch) = scan.next().await.unwrap() {
            keys.extend(batch.keys().map(<[u8]>::to_vec));
            let next = keys.len() as u64;
            f.write(vec![replace(numbered(next % 300), next % 300), replace(format!("{next:04}x"), 8)]).await.unwrap();
        }
        assert!(keys.is_sorted_by(|a, b| if reverse { a > b } else { a < b }), "{keys:?}");
        let untouched = keys.iter().filter(|key| key.len() == 4).count();
        assert_eq!(untouched, 300);
    }
}

/// All waiters return, and each commit is in the next snapshot.
pub async fn many_waiters_share_a_sync(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let tasks: Vec<_> = (0..32u64)
        .map(|number| {
            let store = f.store.clone();
            tokio::spawn(async move {
                let commit =
                    store.apply(batch(vec![replace(numbered(number), number)]), Durability::Sync).await.unwrap();
                store.sync(commit).await.unwrap();
                let snapshot = store.snapshot(CommitNo(0)).await.unwrap();
                assert_eq!(Fixture { store }.get_at(&numbered(number), &snapshot).await, Some(number));
            })
        })
        .collect();
    for task in tasks {
        tokio::time::timeout(PATIENCE, task).await.expect("every sync returns").unwrap();
    }
    assert_eq!(f.rows().await.len(), 32);
}
