//! Durable commits and point reads of the store compared with plain fjall. `cargo bench -p bennu-store-fjall`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs)]

use bennu_store_fjall::{FjallStore, Options};
use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{
    CommitNo, Durability, FamilyId, FamilySpec, Mutation, PointRead, Store, TableChange, TableId, TableSpec, WriteBatch,
};

const TABLE: TableId = TableId(1);
const FAMILY: FamilyId = FamilyId(0);
const RUN: Duration = Duration::from_secs(3);

fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

fn key(n: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mix(n).to_be_bytes());
    key[8..].copy_from_slice(&n.to_be_bytes());
    key
}

fn fragment(n: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let half: Vec<u8> = (0..6).flat_map(|at| mix(n + at).to_be_bytes()).chain([7; 40]).collect();
    fragment::encode_sparse(1, &[(1, &half)], &mut out).unwrap();
    out
}

fn put(n: u64) -> WriteBatch {
    let key = Bytes::copy_from_slice(&key(n));
    let mutations = vec![Mutation::Replace { table: TABLE, family: FAMILY, key, fragment: fragment(n) }];
    WriteBatch { mutations, ..WriteBatch::default() }
}

async fn open() -> (tempfile::TempDir, Arc<FjallStore>) {
    let folder = tempfile::tempdir_in(".").unwrap();
    let store = FjallStore::open(folder.path(), Options::default()).unwrap();
    let spec = TableSpec { id: TABLE, families: vec![FamilySpec::new(FAMILY)], splits: vec![] };
    let made = WriteBatch { tables: vec![TableChange::Create(spec)], ..WriteBatch::default() };
    let made = store.apply(made, Durability::Sync).await.unwrap();
    store.sync(made).await.unwrap();
    (folder, store)
}

async fn commits(clients: u64) {
    let (_folder, store) = open().await;
    let begun = Instant::now();
    let tasks: Vec<_> = (0..clients)
        .map(|client| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                while begun.elapsed() < RUN {
                    let at = Instant::now();
                    let made =
                        store.apply(put((client << 40) + latencies.len() as u64), Durability::Sync).await.unwrap();
                    store.sync(made).await.unwrap();
                    latencies.push(at.elapsed());
                }
                latencies
            })
        })
        .collect();
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await.unwrap());
    }
    all.sort_unstable();
    let syncs = store.stats().values.iter().find(|(name, _)| *name == "syncs_total").unwrap().1;
    println!(
        "  {clients:3} clients: {:6.0} commits/s, {:.1} per sync, p50 {:?} p99 {:?} max {:?}",
        all.len() as f64 / begun.elapsed().as_secs_f64(),
        all.len() as f64 / syncs as f64,
        all[all.len() / 2],
        all[all.len() * 99 / 100],
        all[all.len() - 1],
    );
}

fn bare_fjall_commits() {
    let folder = tempfile::tempdir_in(".").unwrap();
    let db = fjall::Database::builder(folder.path()).open().unwrap();
    let keyspace = db.keyspace("t", Default::default).unwrap();
    let begun = Instant::now();
    let mut made = 0;
    while begun.elapsed() < RUN {
        let mut batch = db.batch().durability(Some(fjall::PersistMode::SyncData));
        batch.insert(&keyspace, key(made), fragment(made));
        batch.commit().unwrap();
        made += 1;
    }
    println!("  fjall alone, 1 thread, sync each: {:.0} commits/s", made as f64 / begun.elapsed().as_secs_f64());
}

async fn gets() {
    use fjall::Readable;
    const ROWS: u64 = 300_000;
    let (_folder, store) = open().await;
    for chunk in 0..ROWS / 1000 {
        let mut batch = WriteBatch::default();
        for n in 0..1000 {
            batch.mutations.extend(put(chunk * 1000 + n).mutations);
        }
        store.apply(batch, Durability::Buffered).await.unwrap();
    }
    store.flush(TABLE, true).await.unwrap();
    let folder = tempfile::tempdir_in(".").unwrap();
    let db = fjall::Database::builder(folder.path()).cache_size(384 << 20).open().unwrap();
    let options = || {
        fjall::KeyspaceCreateOptions::default()
            .data_block_size_policy(fjall::config::BlockSizePolicy::all(16 << 10))
            .data_block_compression_policy(fjall::config::CompressionPolicy::all(fjall::CompressionType::Lz4))
    };
    let keyspace = db.keyspace("t", options).unwrap();
    for n in 0..ROWS {
        keyspace.insert(key(n), fragment(n)).unwrap();
    }
    keyspace.rotate_memtable_and_wait().unwrap();
    keyspace.major_compact().unwrap();
    for round in 0..3 {
        let snapshot = db.snapshot();
        let begun = Instant::now();
        for n in 0..ROWS {
            assert!(snapshot.get(&keyspace, key(mix(n + round) % ROWS)).unwrap().is_some());
        }
        let bare = begun.elapsed() / ROWS as u32;
        let begun = Instant::now();
        for n in 0..ROWS {
            let snapshot = store.snapshot(CommitNo(0)).await.unwrap();
            assert!(store.get_row(TABLE, FAMILY, &key(mix(n + round) % ROWS), &snapshot).await.unwrap().is_some());
        }
        let ours = begun.elapsed() / ROWS as u32;
        println!(
            "  get: fjall {bare:?}, with snapshot() {ours:?}, ratio {:.2}",
            bare.as_secs_f64() / ours.as_secs_f64()
        );
    }
}

/// Replay after a crash: the time to the first answer.
async fn reopen() {
    let folder = tempfile::tempdir_in(".").unwrap();
    let path = folder.path().join("live");
    let store = FjallStore::open(&path, Options::default()).unwrap();
    let spec = TableSpec { id: TABLE, families: vec![FamilySpec::new(FAMILY)], splits: vec![] };
    let made = WriteBatch { tables: vec![TableChange::Create(spec)], ..WriteBatch::default() };
    store.apply(made, Durability::Buffered).await.unwrap();
    for n in 0..1_500_000_u64 {
        store.apply(put(n), Durability::Buffered).await.unwrap();
        if n % 150_000 == 140_000 {
            let copied = folder.path().join(format!("copy{n}"));
            let status = std::process::Command::new("cp").arg("-a").arg(&path).arg(&copied).status().unwrap();
            assert!(status.success());
            let begun = Instant::now();
            let crashed = FjallStore::open(&copied, Options::default());
            let took = begun.elapsed();
            let figure = |name| store.stats().values.iter().find(|(found, _)| *found == name).unwrap().1;
            println!(
                "  after {n} rows: open {took:?} ({}) entries {} journals {}",
                crashed.is_ok(),
                figure("memtable_entries"),
                figure("journals")
            );
            drop(crashed);
            std::fs::remove_dir_all(copied).unwrap();
        }
    }
}

/// A bulk load of rows similar to those of TPC-H lineitem.
async fn load(sorted: bool) {
    const ROWS: u64 = 3_000_000;
    let (_folder, store) = open().await;
    let begun = Instant::now();
    let mut load = store.bulk_load(TABLE, store::OnDuplicate::Fail).await.unwrap();
    let row = fragment(7);
    for n in 0..ROWS {
        let key = if sorted { n.to_be_bytes().to_vec() } else { key(n).to_vec() };
        load.write(FAMILY, &key, &row).await.unwrap();
    }
    let written = begun.elapsed();
    load.finish().await.unwrap();
    println!(
        "  load sorted {sorted}: {:.2} M rows/s, written {written:?} of {:?}",
        ROWS as f64 / begun.elapsed().as_secs_f64() / 1e6,
        begun.elapsed()
    );
}

fn main() {
    let runtime =
        |threads| tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap();
    let single = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let want = |name: &str| wanted.is_empty() || wanted.iter().any(|arg| arg == name);
    if want("commits") {
        bare_fjall_commits();
        for clients in [1, 4, 16, 64] {
            runtime(2).block_on(async { tokio::spawn(commits(clients)).await.unwrap() });
        }
        println!("one thread:");
        for clients in [1, 16] {
            single().block_on(async { tokio::spawn(commits(clients)).await.unwrap() });
        }
    }
    if want("gets") {
        runtime(2).block_on(async { tokio::spawn(gets()).await.unwrap() });
    }
    if want("load") {
        for sorted in [true, false] {
            runtime(2).block_on(async { tokio::spawn(load(sorted)).await.unwrap() });
        }
    }
    if want("reopen") {
        runtime(2).block_on(async { tokio::spawn(reopen()).await.unwrap() });
    }
}
