//! Batches over two keyspaces while one of them is flushed continuously: a flush must not make rows durable whose batch
//! is not durable in the journal.

use bennu_sim::power_loss::{Disk, Event, Log, Recording, Unsynced};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use store::*;
use store_fjall::{FjallStore, Options};

const OWN: TableId = TableId(1);
const SHARED: TableId = TableId(2);
const FAMILY: FamilyId = FamilyId(0);
const CHILD: &str = "HALF_BATCHES_CHILD";
const POINTS: usize = 500;
/// Number of flushes of one keyspace.
const FLUSHES: usize = 300;

/// Not a test by itself: run in the recorded process.
#[test]
fn child_that_flushes() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
        runtime.block_on(run(Path::new(&folder)));
    }
}

/// Only necessary syncs.
fn options() -> Options {
    let quiet = Duration::from_secs(600);
    Options { cache_bytes: 4 << 20, small_load_bytes: 1000, buffered_sync_interval: quiet, ..Options::default() }
}

fn fragment(n: u32) -> Vec<u8> {
    let mut out = Vec::new();
    fragment::encode_sparse(1, &[(1, &[n as u8; 300])], &mut out).unwrap();
    out
}

async fn run(folder: &Path) {
    let store = FjallStore::open(folder.join("data"), options()).unwrap();
    let create = |id| TableChange::Create(TableSpec { id, families: vec![FamilySpec::new(FAMILY)], splits: vec![] });
    let tables = vec![create(OWN), create(SHARED)];
    store.apply(WriteBatch { tables, ..WriteBatch::default() }, Durability::Sync).await.unwrap();
    let mut load = store.bulk_load(OWN, OnDuplicate::Fail).await.unwrap();
    for n in 0..100_u32 {
        load.write(FAMILY, &(n + 1_000_000).to_be_bytes(), &fragment(n)).await.unwrap();
    }
    load.finish().await.unwrap();
    let flushes = Arc::new(AtomicUsize::new(0));
    let flushing: Vec<_> = (0..4)
        .map(|_| {
            let (store, flushes) = (store.clone(), flushes.clone());
            tokio::spawn(async move {
                while flushes.fetch_add(1, Ordering::Relaxed) < FLUSHES {
                    store.flush(OWN, false).await.unwrap();
                }
            })
        })
        .collect();
    let mut n = 0_u32;
    while flushes.load(Ordering::Relaxed) < FLUSHES {
        let row = |table| Mutation::Replace {
            table,
            family: FAMILY,
            key: n.to_be_bytes().to_vec().into(),
            fragment: fragment(n),
        };
        let batch = WriteBatch { mutations: vec![row(OWN), row(SHARED)], ..WriteBatch::default() };
        store.apply(batch, Durability::Buffered).await.unwrap();
        tokio::time::sleep(Duration::from_micros(100)).await;
        n += 1;
    }
    for task in flushing {
        task.await.unwrap();
    }
}

async fn keys(store: &FjallStore, table: TableId) -> BTreeSet<Vec<u8>> {
    let snapshot = store.snapshot(CommitNo(0)).await.unwrap();
    let ranges = vec![KeyRange { start: Default::default(), end: Some(1_000_000_u32.to_be_bytes().to_vec().into()) }];
    let mut scan = store.scan(ScanRequest::new(table, FAMILY, ranges), &snapshot).await.unwrap();
    let mut keys = BTreeSet::new();
    while let Some(batch) = scan.next().await.unwrap() {
        keys.extend(batch.keys().map(<[u8]>::to_vec));
    }
    keys
}

/// The events just after a manifest with a flushed table is durable.
fn points(log: &Log) -> Vec<usize> {
    let renames = log.events.iter().enumerate().filter(|(_, event)| matches!(event, Event::Rename { .. }));
    let durable = renames.filter_map(|(at, _)| {
        let syncs = log.events.iter().enumerate().skip(at);
        syncs.filter(|(_, event)| matches!(event, Event::SyncEnd { .. })).map(|(at, _)| at).next()
    });
    let all: Vec<usize> = durable.collect();
    let step = all.len().div_ceil(POINTS).max(1);
    all.into_iter().step_by(step).collect()
}

#[test]
fn a_flush_makes_no_half_of_a_batch_durable() {
    let Recording { root, log, .. } = &Recording::of("half_batches::child_that_flushes", CHILD, &[]).unwrap();
    let points: BTreeSet<usize> = points(log).into_iter().collect();
    assert!(points.len() > 50, "{} flushes only", points.len());

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut disk = Disk::new(root);
    for (at, event) in log.events.iter().enumerate() {
        disk.apply(event);
        if points.contains(&at) {
            let left = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
            disk.store(left.path(), Unsynced::Lost).unwrap();
            runtime.block_on(whole_batches(left.path(), at));
        }
    }
}

async fn whole_batches(left: &Path, at: usize) {
    let Ok(store) = FjallStore::open(left.join("data"), options()) else { return };
    if store.regions(SHARED).await.is_ok() {
        let (own, shared) = (keys(&store, OWN).await, keys(&store, SHARED).await);
        let halves = own.symmetric_difference(&shared).count();
        assert_eq!(
            halves,
            0,
            "event {at}: {} and {} rows, {halves} of them halves of batches",
            own.len(),
            shared.len()
        );
    }
    store.close().await.unwrap();
}
