//! What the child process does to the store: many writers, each batch over two tables, and loads.
//!
//! Batch `n` writes the keys `n/0 .. n/WIDTH` to both tables with the value `n`. It is acknowledged by a
//! line in the file `acks`, written only after the store said that it is durable.

use fragment::Layout;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use store::*;
use store_fjall::{FjallStore, Options};

pub(crate) const TABLES: [TableId; 2] = [TableId(100), TableId(101)];
/// Bulk loads go here, one table each, since they are the way into keyspaces of their own.
pub(crate) const LOADED: [TableId; 3] = [TableId(200), TableId(201), TableId(202)];
pub(crate) const FAMILY: FamilyId = FamilyId(0);
pub(crate) const WIDTH: u64 = 3;
pub(crate) const LOAD_ROWS: u64 = 1_500;
const WRITERS: u64 = 4;

pub(crate) fn options() -> Options {
    Options { cache_bytes: 4 << 20, memtable_bytes: 256 << 10, ..Options::default() }
}

pub(crate) fn key(batch: u64, part: u64) -> Vec<u8> {
    [batch.to_be_bytes(), part.to_be_bytes()].concat()
}

/// A fragment that says which batch wrote it; long enough that memtables rotate within the test.
pub(crate) fn value(batch: u64, part: u64) -> Vec<u8> {
    let layout = layout();
    let mut out = Vec::new();
    let filler = vec![(batch % 251) as u8; 40 + (batch * 7 + part) as usize % 1200];
    fragment::encode_dense(&layout, &[Some(&batch.to_be_bytes()), Some(&filler)], &mut out).unwrap();
    out
}

/// The batch that wrote `fragment`, if its filler is what that batch wrote.
pub(crate) fn batch_of(fragment: &[u8], part: u64) -> Option<u64> {
    let layout = layout();
    let parsed = fragment::Fragment::parse(fragment).ok()?;
    let view = parsed.dense(&layout).ok()?;
    let batch = u64::from_be_bytes(view.cell(0)?.try_into().ok()?);
    let wanted = value(batch, part);
    let (old, new) = (view.cell(1)?, fragment::Fragment::parse(&wanted).ok()?);
    (old == new.dense(&layout).ok()?.cell(1)?).then_some(batch)
}

fn layout() -> Layout {
    let column = |qualifier, width| fragment::LayoutColumn { qualifier, width };
    Layout::new(1, vec![column(1, Some(8)), column(2, None)])
}

/// Runs until `batches` are acknowledged or the process is killed.
pub(crate) fn run(folder: &Path, batches: u64) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let acks = std::fs::File::create(folder.join("acks")).unwrap();
    runtime.block_on(async {
        let store = FjallStore::open(folder.join("data"), options()).unwrap();
        let create =
            |id| TableChange::Create(TableSpec { id, families: vec![FamilySpec::new(FAMILY)], splits: vec![] });
        let tables = TABLES.iter().chain(&LOADED).map(|id| create(*id)).collect();
        let made = store.apply(WriteBatch { tables, ..WriteBatch::default() }, Durability::Sync).await.unwrap();
        store.sync(made).await.unwrap();
        let acks = Arc::new(Mutex::new(acks));
        acknowledge(&acks, "tables");
        let next = Arc::new(AtomicU64::new(0));
        let mut tasks = Vec::new();
        for _ in 0..WRITERS {
            tasks.push(tokio::spawn(write(store.clone(), acks.clone(), next.clone(), batches)));
        }
        tasks.push(tokio::spawn(load(store.clone(), acks.clone())));
        for task in tasks {
            task.await.unwrap();
        }
        store.close().await.unwrap();
    });
}

fn acknowledge(acks: &Mutex<std::fs::File>, line: &str) {
    acks.lock().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
}

async fn write(store: Arc<FjallStore>, acks: Arc<Mutex<std::fs::File>>, next: Arc<AtomicU64>, batches: u64) {
    loop {
        let batch = next.fetch_add(1, Ordering::Relaxed);
        if batch >= batches {
            return;
        }
        let mut mutations = Vec::new();
        for table in TABLES {
            for part in 0..WIDTH {
                let (key, fragment) = (key(batch, part).into(), value(batch, part));
                mutations.push(Mutation::Replace { table, family: FAMILY, key, fragment });
            }
        }
        let written = WriteBatch { mutations, ..WriteBatch::default() };
        let commit = store.apply(written, Durability::Sync).await.unwrap();
        store.sync(commit).await.unwrap();
        acknowledge(&acks, &format!("batch {batch}"));
    }
}

async fn load(store: Arc<FjallStore>, acks: Arc<Mutex<std::fs::File>>) {
    for table in LOADED {
        // Twice: into an empty table, then into one that has rows.
        for half in 0..2 {
            let mut load = store.bulk_load(table, OnDuplicate::Fail).await.unwrap();
            for row in (half..LOAD_ROWS * 2).step_by(2) {
                // The first table is loaded in order, the others are not.
                let row = if table == LOADED[0] { row } else { (row * 7_919) % (LOAD_ROWS * 2) };
                if row % 2 == half {
                    load.write(FAMILY, &key(row, 0), &value(row, 0)).await.unwrap();
                }
            }
            load.finish().await.unwrap();
            acknowledge(&acks, &format!("load {} {half}", table.0));
        }
    }
}
