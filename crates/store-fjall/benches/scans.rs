//! Scans of a large table with and without a block cache, and point reads beside them: `cargo bench -p
//! bennu-store-fjall --bench scans`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs)]

mod bed;

use bed::{FAMILY, TABLE, cpu};
use bennu_store_fjall::{FjallStore, Options};
use bytes::Bytes;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use store::{CommitNo, KeyRange, OnDuplicate, PointRead, ScanRequest, Store};

const ROWS: u64 = 2_500_000;
/// Hot rows, spread over the table: their blocks are a few percent of it.
const HOT: u64 = 500;

fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

fn fragment(n: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let half: Vec<u8> = (0..6).flat_map(|at| mix(n + at).to_be_bytes()).chain([7; 40]).collect();
    fragment::encode_sparse(1, &[(1, &half)], &mut out).unwrap();
    out
}

async fn load(folder: &Path) {
    let store = bed::store(folder).await;
    let mut load = store.bulk_load(TABLE, OnDuplicate::Fail).await.unwrap();
    for n in 0..ROWS {
        load.write(FAMILY, &n.to_be_bytes(), &fragment(n)).await.unwrap();
    }
    load.finish().await.unwrap();
    store.close().await.unwrap();
}

/// Returns wall time and CPU time in milliseconds.
async fn scan(store: &FjallStore) -> (u128, u128) {
    let (begun, before) = (Instant::now(), cpu());
    let at = store.snapshot(CommitNo(0)).await.unwrap();
    let request = ScanRequest { keys: false, ..ScanRequest::new(TABLE, FAMILY, vec![KeyRange::all()]) };
    let mut scan = store.scan(request, &at).await.unwrap();
    let mut rows = 0;
    while let Some(batch) = scan.next().await.unwrap() {
        rows += batch.fragments().filter(|fragment| !fragment.is_empty()).count() as u64;
    }
    assert_eq!(rows, ROWS);
    (begun.elapsed().as_millis(), (cpu() - before).as_millis())
}

/// Returns the time per hot row in microseconds.
async fn points(store: &FjallStore) -> f64 {
    let at = store.snapshot(CommitNo(0)).await.unwrap();
    let begun = Instant::now();
    for n in 0..HOT {
        let key = Bytes::copy_from_slice(&(n * (ROWS / HOT)).to_be_bytes());
        assert!(store.get_row(TABLE, FAMILY, &key, &at).await.unwrap().is_some());
    }
    begun.elapsed().as_secs_f64() * 1e6 / HOT as f64
}

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default() >> 10
}

async fn with_cache(folder: &Path, mib: u64) {
    let store = FjallStore::open(folder, Options { cache_bytes: mib << 20, ..Options::default() }).unwrap();
    let before = resident_mib();
    let store: Arc<FjallStore> = store;
    for _ in 0..3 {
        points(&store).await;
    }
    let warm = points(&store).await;
    let mut scans = Vec::new();
    let mut resident = Vec::new();
    for _ in 0..7 {
        scans.push(scan(&store).await);
        resident.push(resident_mib().saturating_sub(before));
    }
    println!(
        "  cache of {mib} MiB: scans {scans:?} (clock, processor) ms, memory above that at the beginning {resident:?} MiB, \
         hot rows {warm:.1} us before and {:.1} us after them",
        points(&store).await
    );
    store.close().await.unwrap();
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir_in(".").unwrap();
    let path = folder.path().to_owned();
    runtime.block_on(async {
        tokio::spawn(async move {
            load(&path).await;
            for mib in [4, 64, 1024, 4, 64, 1024] {
                with_cache(&path, mib).await;
            }
        })
        .await
        .unwrap();
    });
}
