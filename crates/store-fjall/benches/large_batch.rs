//! The impact of a large batch on others: latency of point reads and small commits, alone and during a batch of 200 MB.
//!
//! `cargo bench -p bennu-store-fjall --bench large_batch [-- MEGABYTES [LARGE]]`: batches of more than LARGE MB become
//! large commits, outside the journal.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs)]

extern crate bennu_store_fjall as store_fjall;

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::{
    CommitNo, Durability, FamilyId, FamilySpec, Mutation, PointRead, Store, TableChange, TableId, TableSpec, WriteBatch,
};
use store_fjall::{FjallStore, Options};

const FAMILY: FamilyId = FamilyId(0);
const TABLE: TableId = TableId(1);
const ROW_BYTES: usize = 1000;

fn row(n: u32, bytes: usize) -> Mutation {
    let mut fragment = Vec::new();
    // Incompressible.
    let body: Vec<u8> = (0..bytes as u32).map(|at| ((at ^ n).wrapping_mul(0x9E37_79B1) >> 13) as u8).collect();
    fragment::encode_sparse(1, &[(1, &body)], &mut fragment).unwrap();
    let key = Bytes::copy_from_slice(&n.to_be_bytes());
    Mutation::Replace { table: TABLE, family: FAMILY, key, fragment }
}

async fn write(store: &FjallStore, mutations: Vec<Mutation>) {
    let batch = WriteBatch { mutations, ..WriteBatch::default() };
    let commit = store.apply(batch, Durability::Sync).await.unwrap();
    store.sync(commit).await.unwrap();
}

async fn point_read(store: &FjallStore, n: u32) {
    let snapshot = store.snapshot(CommitNo(0)).await.unwrap();
    store.get_row(TABLE, FAMILY, &n.to_be_bytes(), &snapshot).await.unwrap();
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 1000).min(times.len() - 1)];
    println!("{what:32} {:7} times  p50 {:?}  p99 {:?}  max {:?}", times.len(), at(500), at(990), at(999));
}

/// Reads and commits until `done`, in tasks on shared threads like connections.
async fn measure(store: &Arc<FjallStore>, what: &str, done: Arc<AtomicBool>) {
    let reader = |seed: u32| {
        let (store, done) = (store.clone(), done.clone());
        tokio::spawn(async move {
            let (mut times, mut n) = (Vec::new(), seed);
            while !done.load(Ordering::Relaxed) {
                n = n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let begun = Instant::now();
                point_read(&store, n % 20_000).await;
                tokio::task::yield_now().await;
                times.push(begun.elapsed());
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            times
        })
    };
    let (readers, writer) = ([reader(1), reader(2), reader(3)], {
        let (store, done) = (store.clone(), done.clone());
        tokio::spawn(async move {
            let mut times = Vec::new();
            while !done.load(Ordering::Relaxed) {
                let begun = Instant::now();
                write(&store, vec![row(4_000_000, 100)]).await;
                times.push(begun.elapsed());
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            times
        })
    });
    let mut reads = Vec::new();
    for reader in readers {
        reads.extend(reader.await.unwrap());
    }
    show(&format!("point reads, {what}"), reads);
    show(&format!("small commits, {what}"), writer.await.unwrap());
}

async fn run(megabytes: usize, large: Option<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.large_commit_bytes = large.map_or(options.large_commit_bytes, |megabytes| megabytes * 1_000_000);
    let store = FjallStore::open(folder.path(), options).unwrap();
    let spec = TableSpec { id: TABLE, families: vec![FamilySpec::new(FAMILY)], splits: vec![] };
    let tables = vec![TableChange::Create(spec)];
    store.apply(WriteBatch { tables, ..WriteBatch::default() }, Durability::Sync).await.unwrap();
    write(&store, (0..20_000).map(|n| row(n, 100)).collect()).await;

    let done = Arc::new(AtomicBool::new(false));
    let stop = done.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(3)).await;
        stop.store(true, Ordering::Relaxed);
    });
    measure(&store, "alone", done).await;

    let rows = megabytes * 1_000_000 / ROW_BYTES;
    let batch: Vec<Mutation> = (0..rows as u32).map(|n| row(100_000 + n, ROW_BYTES)).collect();
    let done = Arc::new(AtomicBool::new(false));
    let (large, stop) = (store.clone(), done.clone());
    tokio::spawn(async move {
        let begun = Instant::now();
        write(&large, batch).await;
        println!("{rows} rows written in {:?}", begun.elapsed());
        stop.store(true, Ordering::Relaxed);
    });
    measure(&store, "beside a large batch", done).await;
    store.close().await.unwrap();
}

fn main() {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let (megabytes, large) = (numbers.next().unwrap_or(200), numbers.next());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(run(megabytes, large));
}
