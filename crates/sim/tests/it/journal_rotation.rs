//! fjall begins a new journal after 64 MB, and deletes the old one when all its rows are in tables. Power is lost
//! around both events, during small commits.
//!
//! `BENNU_SIM_ROTATION_POINTS` points, each with unsynced changes lost and torn.

use crate::folder;
use crate::history::{self, row};
use crate::random::{Random, setting};
use bennu_sim::power_loss::{Disk, Event, Log, Recording, Unsynced};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::{CommitNo, Durability, FamilyId, KeyRange, Mutation, ScanRequest, Store, TableId, WriteBatch};
use store_fjall::{FjallStore, Options};

const CHILD: &str = "JOURNAL_ROTATION_CHILD";
pub(crate) const TABLE: u32 = 1;
/// Number of long rows that fill the journal, in batches of [`BATCH`].
const LONG: u64 = 68;
pub(crate) const BATCH: u64 = 4;
/// First number of the small rows.
const SMALL: u64 = 1_000;

/// Explicit flushes only, and no large commits.
pub(crate) fn options() -> Options {
    let never = Duration::from_secs(24 * 3600);
    Options { idle_flush: never, memtable_entries: 1 << 20, large_commit_bytes: 64 << 20, ..history::options() }
}

/// An incompressible row of a megabyte.
pub(crate) fn long_row(number: u64) -> Vec<u8> {
    let mut random = Random::new(number + 1);
    let bytes: Vec<u8> = (0..1 << 17).flat_map(|_| random.below(u64::MAX).to_le_bytes()).collect();
    let mut row = Vec::new();
    fragment::encode_sparse(1, &[(1, &bytes)], &mut row).unwrap();
    row
}

pub(crate) fn put(number: u64, fragment: Vec<u8>) -> Mutation {
    Mutation::Replace { table: TableId(TABLE), family: FamilyId(0), key: row::key(number).into(), fragment }
}

/// Not a test by itself: run in the recorded process.
#[test]
fn child_that_fills_a_journal() {
    let Some(root) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let mut acks = std::fs::File::create(root.join("acks")).unwrap();
    let mut long_acks = std::fs::File::create(root.join("long acks")).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = FjallStore::open(root.join("data"), options()).unwrap();
        history::create_tables(&store, &[TABLE]).await.unwrap();
        let enough = Arc::new(AtomicBool::new(false));
        let (writing, until) = (store.clone(), enough.clone());
        let writer = tokio::spawn(async move {
            let mut number = SMALL;
            while !until.load(Ordering::Relaxed) {
                history::put_rows(&writing, std::iter::once((TABLE, number)), 1).await.unwrap();
                acks.write_all(b".").unwrap();
                number += 1;
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        });
        for first in (0..LONG).step_by(BATCH as usize) {
            let mutations = (first..first + BATCH).map(|number| put(number, long_row(number))).collect();
            let batch = WriteBatch { mutations, ..WriteBatch::default() };
            let commit = store.apply(batch, Durability::Sync).await.unwrap();
            store.sync(commit).await.unwrap();
            long_acks.write_all(b".").unwrap();
        }
        store.flush(TableId(TABLE), false).await.unwrap();
        let journals = || {
            std::fs::read_dir(root.join("data/db"))
                .unwrap()
                .filter(|file| is_journal(&file.as_ref().unwrap().path()))
                .count()
        };
        // The old journal is deleted only once the meta keyspace is flushed, too.
        for _ in 0..500 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if !root.join("data/db/0.jnl").exists() && journals() == 1 {
                break;
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        enough.store(true, Ordering::Relaxed);
        writer.await.unwrap();
        // Without destructors.
        std::process::exit(0);
    });
}

pub(crate) fn is_journal(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jnl")
}

/// Some events from shortly before the second journal is created to shortly after the first is deleted.
fn points(log: &Log) -> Vec<usize> {
    let second = |event: &Event| matches!(event, Event::Open { path, .. } if path.ends_with("db/1.jnl"));
    let begun = log.events.iter().position(second).expect("the journal is not begun anew");
    let first = |event: &Event| matches!(event, Event::Unlink { path } if path.ends_with("db/0.jnl"));
    let ended = log.events.iter().position(first).expect("the old journal stays");
    let (from, to) = (begun.saturating_sub(4), (ended + 12).min(log.events.len()));
    let count = setting("BENNU_SIM_ROTATION_POINTS", 4) as usize;
    // Always includes points around both events.
    let around = [begun, begun + 1, begun + 2, ended, ended + 1];
    let step = ((to - from) / count).max(1);
    let mut points: Vec<usize> = (from..to).step_by(step).chain(around).collect();
    points.sort_unstable();
    points.dedup();
    points
}

#[test]
fn what_is_durable_survives_a_loss_of_power_around_a_new_journal() {
    let Recording { root, log, .. } =
        &Recording::of("journal_rotation::child_that_fills_a_journal", CHILD, &[]).unwrap();
    let points = points(log);
    println!("{} events, {} points", log.events.len(), points.len());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (mut disk, mut random) = (Disk::new(root), Random::new(1));
    for (at, event) in log.events.iter().enumerate() {
        disk.apply(event);
        if points.binary_search(&at).is_err() {
            continue;
        }
        let count = |file: &str| disk.read(&root.join(file)).map_or(0, |acks| acks.len() as u64);
        let (acks, long) = (count("acks"), count("long acks") * BATCH);
        for torn in [false, true] {
            let left = folder::in_memory();
            let mut lucky = || random.percent(50);
            disk.store(left.path(), if torn { Unsynced::Torn(&mut lucky) } else { Unsynced::Lost }).unwrap();
            let found = runtime.block_on(rows(left.path()));
            let found = found.unwrap_or_else(|error| panic!("event {at}, torn {torn}: {error}"));
            let whole = found.0.is_multiple_of(BATCH) && found.0 >= long && found.1 >= acks;
            assert!(whole, "event {at}, torn {torn}: {found:?}, acknowledged {long} and {acks}");
        }
    }
}

/// The numbers of long and small rows, after checking their content.
pub(crate) async fn rows(left: &Path) -> Result<(u64, u64), String> {
    let store = FjallStore::open(left.join("data"), options()).map_err(|error| format!("opening: {error}"))?;
    let snapshot = store.snapshot(CommitNo(0)).await.map_err(|error| error.to_string())?;
    let request = ScanRequest::new(TableId(TABLE), FamilyId(0), vec![KeyRange::all()]);
    let mut scan = store.scan(request, &snapshot).await.map_err(|error| error.to_string())?;
    let mut found = (0, 0);
    while let Some(batch) = scan.next().await.map_err(|error| error.to_string())? {
        for (key, bytes) in batch.keys().zip(batch.fragments()) {
            let number = row::number_of(key).unwrap();
            if number >= SMALL {
                assert_eq!((number, row::writer_of(number, bytes)), (SMALL + found.1, Some(1)));
                found.1 += 1;
            } else {
                assert!(bytes.ends_with(&long_row(number)[1000..]), "row {number} is another one");
                found.0 += 1;
            }
        }
    }
    Ok(found)
}
