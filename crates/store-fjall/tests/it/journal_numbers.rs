//! Flipped bits in the sequence numbers of journal batches, which fjall's checksum does not cover.

use crate::damage::copy;
use crate::support::*;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use store::{KeyRange, OnDuplicate, ScanRequest, Store, StoreError, TableId};
use store_fjall::{FjallStore, Options};

/// A table with bulk-loaded rows, some over rows that were written before.
const LOADED: u32 = 3;
const LOADED_ROWS: u32 = 400;

fn open_small(path: &Path) -> Result<Arc<FjallStore>, StoreError> {
    FjallStore::open(path, Options { small_load_bytes: 5_000, load_buffer_bytes: 20_000, ..options() })
}

async fn load(store: &FjallStore, value: &str) {
    let mut load = store.bulk_load(TableId(LOADED), OnDuplicate::Replace).await.unwrap();
    for n in 0..LOADED_ROWS {
        load.write(FAMILY, format!("k{n:04}").as_bytes(), &fragment(value)).await.unwrap();
    }
    load.finish().await.unwrap();
}

/// Commits two rows of its own per table, and a row with the last number.
async fn number(store: &FjallStore, number: u32) {
    let row = format!("c{number:04}");
    let last = number.to_string();
    commit(store, batch(vec![put(1, &row, "v"), put(2, &row, "v"), put(1, "last", &last), put(2, "last", &last)]))
        .await;
}

/// A folder after a crash, and its active journal.
struct Crashed {
    folder: PathBuf,
    journal: &'static str,
}

/// Commits, with everything in between that takes sequence numbers: loads, flushes, a crash. Returns the folders of two
/// crashes, each `pause` after the last commit.
async fn history(folder: &Path, pause: Duration) -> [Crashed; 2] {
    let crashed = |name: &str, journal| Crashed { folder: folder.join(name), journal };
    let (first, second) = (crashed("first", "db/0.jnl"), crashed("second", "db/1.jnl"));
    let live = folder.join("live");
    let store = open_small(&live).unwrap();
    for table in 1..=LOADED {
        commit(&store, create(table)).await;
    }
    load(&store, "first").await;
    number(&store, 0).await;
    store.flush(TableId(1), false).await.unwrap();
    number(&store, 1).await;
    commit(&store, batch(vec![put(LOADED, "k0005", "written")])).await;
    load(&store, "second").await;
    tokio::time::sleep(pause).await;
    copy(&live, &first.folder);
    drop(store);
    fs::remove_dir_all(&live).unwrap();
    copy(&first.folder, &live);
    let store = open_small(&live).unwrap();
    for n in 2..5 {
        number(&store, n).await;
    }
    commit(&store, batch(vec![put(LOADED, "k0007", "written")])).await;
    store.flush(TableId(2), false).await.unwrap();
    number(&store, 5).await;
    number(&store, 6).await;
    tokio::time::sleep(pause).await;
    copy(&live, &second.folder);
    drop(store);
    [first, second]
}

/// The offsets of the batches.
fn batches(journal: &[u8]) -> Vec<usize> {
    let number = |at: usize, bytes: usize| (0..bytes).rev().fold(0, |n, byte| n << 8 | usize::from(journal[at + byte]));
    let mut found = Vec::new();
    let mut at = 0;
    while journal.get(at) == Some(&1) {
        found.push(at);
        let items = number(at + 1, 4);
        at += 13;
        for _ in 0..items {
            at += 21 + number(at + 11, 2) + number(at + 17, 4);
        }
        at += 13;
    }
    found
}

/// All rows, or the error of the opening. A table whose creation is lost has none.
async fn rows(folder: &Path) -> Result<Vec<Vec<(String, String)>>, StoreError> {
    let store = open_small(folder)?;
    let at = now(&store).await;
    let mut found = Vec::new();
    for table in 1..=LOADED {
        let request = ScanRequest::new(TableId(table), FAMILY, vec![KeyRange::all()]);
        match store.scan(request, &at).await {
            Err(StoreError::NoSuchTable { .. }) => found.push(Vec::new()),
            _ => found.push(scan(&store, table, &at).await),
        }
    }
    assert_eq!(store.check().await.unwrap().problems, []);
    Ok(found)
}

/// Opens a copy of the folder for some bits of each sequence number.
async fn flip_bits(
    Crashed { folder, journal: name }: &Crashed,
    judge: impl Fn(usize, u32, Result<Vec<Vec<(String, String)>>, StoreError>),
) -> usize {
    let journal = fs::read(folder.join(name)).unwrap();
    let batches = batches(&journal);
    for (index, start) in batches.iter().enumerate() {
        for bit in [0, 1, 2, 3, 5, 19, 63].into_iter().skip(index % 2).step_by(2) {
            let target = tempfile::tempdir().unwrap();
            copy(folder, target.path());
            let at = start + 5 + bit as usize / 8;
            let file = File::options().write(true).open(target.path().join(name)).unwrap();
            file.write_all_at(&[journal[at] ^ 1 << (bit % 8)], at as u64).unwrap();
            judge(index, bit, rows(target.path()).await);
        }
    }
    batches.len()
}

#[tokio::test]
async fn a_flipped_bit_in_a_durable_sequence_number_is_refused_or_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut batches, refused) = (0, std::cell::Cell::new(0));
    // The watermark advances once a second.
    for crashed in history(folder.path(), Duration::from_millis(1300)).await {
        let sound = tempfile::tempdir().unwrap();
        copy(&crashed.folder, sound.path());
        let expected = rows(sound.path()).await.unwrap();
        batches += flip_bits(&crashed, |index, bit, found| match found {
            Err(StoreError::Corrupted { detail }) if detail.contains(".jnl") => refused.set(refused.get() + 1),
            other => assert_eq!(other.unwrap(), expected, "{}, batch {index}, bit {bit}", crashed.journal),
        })
        .await;
    }
    assert!(batches >= 15 && refused.get() >= 45, "{} of {batches} batches were refused", refused.get());
}

#[tokio::test]
async fn a_flipped_bit_behind_the_watermark_costs_at_most_what_follows_it() {
    let folder = tempfile::tempdir().unwrap();
    for crashed in history(folder.path(), Duration::ZERO).await {
        let at = |index, bit| format!("{}, batch {index}, bit {bit}", crashed.journal);
        flip_bits(&crashed, |index, bit, found| match found {
            Err(StoreError::Corrupted { detail }) => {
                assert!(detail.contains(".jnl"), "{}: {detail}", at(index, bit));
            }
            other => {
                let tables = other.unwrap();
                for rows in &tables[..2] {
                    let commits = rows.iter().filter(|(key, _)| key.starts_with('c')).count();
                    let last = rows.iter().find(|(key, _)| key == "last").map(|(_, value)| value.clone());
                    let expected = commits.checked_sub(1).map(|last| last.to_string());
                    assert_eq!(last, expected, "{}: the first {commits} commits", at(index, bit));
                }
            }
        })
        .await;
    }
}
