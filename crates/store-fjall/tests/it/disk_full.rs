//! A full disk: writes are refused, reads continue, and writes succeed once there is space again.

use crate::support::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::{Durability, OnDuplicate, Store, StoreError, TableChange, TableId, WriteBatch};
use store_fjall::{DiskSpace, FjallStore, Options, Space};

const TOTAL: u64 = 100 << 30;

#[derive(Debug)]
struct Disk(AtomicU64);

impl DiskSpace for Disk {
    fn space(&self, _: &Path) -> Option<Space> {
        Some(Space { free: self.0.load(Ordering::Relaxed), total: TOTAL })
    }
}

impl Disk {
    /// Sets the free space, and waits until the store has checked it.
    async fn set(&self, free: u64) {
        self.0.store(free, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

fn is_full<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> bool {
    match outcome {
        Err(StoreError::DiskFull { .. }) => true,
        Ok(_) => false,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_full_disk_is_survived_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(Disk(AtomicU64::new(TOTAL)));
    let with_disk = Options { disk: disk.clone(), small_load_bytes: 20_000, load_buffer_bytes: 50_000, ..options() };
    let store = FjallStore::open(folder.path(), with_disk).unwrap();
    commit(&store, create(1)).await;
    commit(&store, create(2)).await;
    commit(&store, batch(vec![put(1, "before", "1")])).await;

    disk.set(10 << 20).await;
    assert!(is_full(store.apply(batch(vec![put(1, "k", "1")]), Durability::Sync).await));
    let large = (0..2000).map(|n| put(1, &format!("{n:04}"), "v")).collect();
    assert!(is_full(store.apply(batch(large), Durability::Sync).await));
    let mut load = store.bulk_load(TableId(2), OnDuplicate::Fail).await.unwrap();
    let mut refused = false;
    for n in 0..3000 {
        refused = refused || is_full(load.write(FAMILY, format!("{n:04}").as_bytes(), &fragment("v")).await);
    }
    assert!(refused);
    drop(load);
    assert_eq!(scan(&store, 1, &now(&store).await).await, [("before".into(), "1".into())]);
    // A batch that frees space is accepted.
    commit(&store, WriteBatch { tables: vec![TableChange::Drop(TableId(2))], ..WriteBatch::default() }).await;

    disk.set(TOTAL).await;
    commit(&store, batch(vec![put(1, "k", "2")])).await;
    let large = (0..2000).map(|n| put(1, &format!("{n:04}"), "v")).collect();
    commit(&store, batch(large)).await;
    assert_eq!(scan(&store, 1, &now(&store).await).await.len(), 2002);
    store.close().await.unwrap();
    drop(store);
    let store = open(folder.path());
    assert_eq!(scan(&store, 1, &now(&store).await).await.len(), 2002);
}
