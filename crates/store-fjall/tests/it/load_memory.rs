//! Bulk loads with a memory limit for their buffers.

use crate::support::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::{LoadMemory, LoadRows, LoadTable, OnDuplicate, Store, StoreError, TableId};
use store_fjall::{FjallStore, Options};

const MIB: usize = 1 << 20;

/// The memory of one load.
#[derive(Debug)]
struct Pool {
    most: usize,
    peak: AtomicUsize,
    refused: AtomicUsize,
}

impl Pool {
    fn of(most: usize) -> Arc<Self> {
        Arc::new(Self { most, peak: AtomicUsize::new(0), refused: AtomicUsize::new(0) })
    }

    fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }
}

impl LoadMemory for Pool {
    fn hold(&self, bytes: usize) -> bool {
        let is_there = bytes <= self.most;
        match is_there {
            true => self.peak.fetch_max(bytes, Ordering::Relaxed),
            false => self.refused.fetch_add(1, Ordering::Relaxed),
        };
        is_there
    }
}

/// The buffer of a load may take 64 MiB.
fn open_large(path: &Path) -> Arc<FjallStore> {
    FjallStore::open(path, Options { small_load_bytes: 20_000, load_buffer_bytes: 64 * MIB, ..options() }).unwrap()
}

fn row(n: u32) -> (String, Vec<u8>) {
    (format!("k{n:06}"), fragment(&format!("{n:0200}")))
}

async fn count(store: &FjallStore, table: u32) -> usize {
    scan(store, table, &now(store).await).await.len()
}

/// Loads 40,000 rows, about 9 MiB, in the order of `keys`. Returns how often memory was refused.
async fn load_within(most: usize, keys: impl Iterator<Item = u32>) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let store = open_large(folder.path());
    commit(&store, create(1)).await;
    let pool = Pool::of(most);
    let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
    load.hold_memory(pool.clone());
    for (key, fragment) in keys.map(row) {
        load.write(FAMILY, key.as_bytes(), &fragment).await.unwrap();
    }
    load.finish().await.unwrap();
    assert_eq!(count(&store, 1).await, 40_000);
    assert!(pool.peak() <= most && pool.peak() > most / 8, "{} of {most}", pool.peak());
    assert_eq!(Arc::strong_count(&pool), 1, "the memory is given back at the end");
    pool.refused.load(Ordering::Relaxed)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_is_refused_memory_has_smaller_buffers_and_loses_nothing() {
    let shuffled = || (0..40_000_u32).map(|n| (n * 7919) % 40_000);
    assert_eq!(load_within(64 * MIB, shuffled()).await, 0);
    assert!(load_within(2 * MIB, shuffled()).await > 0);
    assert!(load_within(MIB / 2, shuffled()).await > 0);
    // Rows in key order are streamed to their final keyspace.
    load_within(4 * MIB, 0..40_000).await;
    assert!(load_within(MIB, 0..40_000).await > 0);
}

#[tokio::test]
async fn a_load_without_memory_fails_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_large(folder.path());
    commit(&store, create(1)).await;
    let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
    load.hold_memory(Pool::of(0));
    let (key, fragment) = row(1);
    let refused = load.write(FAMILY, key.as_bytes(), &fragment).await.unwrap_err();
    assert!(matches!(refused, StoreError::NoMemory { bytes } if bytes > 0), "{refused:?}");
    drop(load);
    assert_eq!(count(&store, 1).await, 0);
}

/// The entries of an index may hold the memory.
#[tokio::test]
async fn the_largest_buffer_of_a_load_makes_room_for_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_large(folder.path());
    commit(&store, create(1)).await;
    commit(&store, create(2)).await;
    let pool = Pool::of(2 * MIB);
    let mut load = store.bulk_load(TableId(1), OnDuplicate::Fail).await.unwrap();
    load.hold_memory(pool.clone());
    load.add_table(LoadTable { table: TableId(2), on_duplicate: OnDuplicate::Fail, unique: None }).unwrap();
    for n in 0..4_000 {
        let (key, fragment) = row((n * 7919) % 4_000);
        let mut entries = LoadRows::default();
        entries.push(key.as_bytes(), &fragment);
        load.write_rows_of(TableId(2), FAMILY, entries).await.unwrap();
    }
    for n in 0..9_000 {
        let (key, fragment) = row((n * 7919) % 9_000);
        load.write(FAMILY, key.as_bytes(), &fragment).await.unwrap();
    }
    load.finish().await.unwrap();
    assert_eq!((count(&store, 1).await, count(&store, 2).await), (9_000, 4_000));
    assert!(pool.refused.load(Ordering::Relaxed) > 0);
}
