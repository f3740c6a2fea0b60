//! How long a batch holds the commit lock, by size and path.
//!
//! `cargo bench -p bennu-store-fjall --bench commit_lock`: each line is one batch of about that size, with rows of
//! 1,000 or 50 bytes, through the journal or as a large commit, in a table of 200,000 rows.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs)]

extern crate bennu_store_fjall as store_fjall;

use bytes::Bytes;
use std::time::{Duration, Instant};
use store::{
    Condition, Durability, FamilyId, FamilySpec, Mutation, Store, TableChange, TableId, TableSpec, WriteBatch,
};
use store_fjall::{FjallStore, Options};

const FAMILY: FamilyId = FamilyId(0);
const TABLE: TableId = TableId(1);
const BATCHES: u32 = 5;

/// Keys in random order, like those of an index.
fn key(n: u32) -> Bytes {
    Bytes::copy_from_slice(&n.wrapping_mul(0x9E37_79B1).to_be_bytes())
}

fn row(n: u32, bytes: usize) -> Mutation {
    let mut fragment = Vec::new();
    let body: Vec<u8> = (0..bytes as u32).map(|at| ((at ^ n).wrapping_mul(0x9E37_79B1) >> 13) as u8).collect();
    fragment::encode_sparse(1, &[(1, &body)], &mut fragment).unwrap();
    Mutation::Replace { table: TABLE, family: FAMILY, key: key(n), fragment }
}

async fn write(store: &FjallStore, batch: WriteBatch) {
    let commit = store.apply(batch, Durability::Sync).await.unwrap();
    store.sync(commit).await.unwrap();
}

fn figure(store: &FjallStore, name: &str) -> u64 {
    let stats = store.stats();
    stats.values.iter().find(|(found, _)| *found == name).map_or(0, |(_, value)| *value)
}

struct Case {
    bytes: usize,
    row: usize,
    conditions: bool,
    past_the_journal: bool,
}

async fn run(case: &Case) {
    let folder = tempfile::tempdir().unwrap();
    let large_commit_bytes = if case.past_the_journal { 1 } else { 1 << 30 };
    let options = Options { large_commit_bytes, memtable_bytes: 1 << 30, ..Options::default() };
    let store = FjallStore::open(folder.path(), options).unwrap();
    let spec = TableSpec { id: TABLE, families: vec![FamilySpec::new(FAMILY)], splits: vec![] };
    write(&store, WriteBatch { tables: vec![TableChange::Create(spec)], ..WriteBatch::default() }).await;
    for part in 0..4 {
        let mutations = (0..50_000).map(|n| row(1_000_000_000 + part * 50_000 + n, 50)).collect();
        write(&store, WriteBatch { mutations, ..WriteBatch::default() }).await;
    }
    store.flush(TABLE, false).await.unwrap();
    let rows = (case.bytes / (case.row + 40)) as u32;
    let (mut held, mut all) = (Vec::new(), Vec::new());
    for batch in 0..BATCHES {
        let numbers = batch * rows..(batch + 1) * rows;
        let mutations: Vec<_> = numbers.clone().map(|n| row(n, case.row)).collect();
        let new = |n| Condition { table: TABLE, family: FAMILY, key: key(n), expect: None };
        let conditions = if case.conditions { numbers.map(new).collect() } else { vec![] };
        let (begun, before) = (Instant::now(), figure(&store, "commit_lock_held_us_total"));
        write(&store, WriteBatch { mutations, conditions, ..WriteBatch::default() }).await;
        all.push(begun.elapsed());
        held.push(Duration::from_micros(figure(&store, "commit_lock_held_us_total") - before));
    }
    held.sort_unstable();
    all.sort_unstable();
    let middle = BATCHES as usize / 2;
    println!(
        "{:5} KB in {rows:6} rows {}{}: lock held {:?} (of {:?}), longest {:?}",
        case.bytes >> 10,
        if case.past_the_journal { "past the journal" } else { "journal" },
        if case.conditions { ", a condition each" } else { "" },
        held[middle],
        all[middle],
        held[BATCHES as usize - 1],
    );
    store.close().await.unwrap();
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for row in [1000, 50] {
        for bytes in [512 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20] {
            for (conditions, past_the_journal) in [(false, false), (true, false), (false, true)] {
                runtime.block_on(run(&Case { bytes, row, conditions, past_the_journal }));
            }
        }
    }
}
