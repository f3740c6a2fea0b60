//! fjall's memory use for which the store has a workaround: `docs/architecture/fjall.md`.

use fjall::{AbstractTree, Database, Keyspace, Readable, Snapshot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn open(folder: &Path) -> (Database, Keyspace) {
    let db = Database::builder(folder).worker_threads(2).open().unwrap();
    let rows = db.keyspace("rows", Default::default).unwrap();
    (db, rows)
}

/// Overwrites the rows and flushes them.
fn write_and_flush(rows: &Keyspace, value: &str) {
    (0..100_u32).for_each(|row| rows.insert(row.to_be_bytes(), value).unwrap());
    rows.rotate_memtable_and_wait().unwrap();
}

fn values(snapshot: &Snapshot, rows: &Keyspace) -> Vec<fjall::Slice> {
    snapshot.iter(rows).map(|row| row.value().unwrap()).collect()
}

#[test]
fn an_open_snapshot_keeps_every_later_version_of_a_tree_and_its_memtables() {
    let folder = tempfile::tempdir().unwrap();
    let (db, rows) = open(folder.path());
    write_and_flush(&rows, "old");
    let snapshot = db.snapshot();
    let flushed: Vec<_> = (0..3)
        .map(|_| {
            let memtable = Arc::downgrade(&rows.tree.active_memtable());
            write_and_flush(&rows, "new");
            memtable
        })
        .collect();
    assert!(flushed.iter().all(|memtable| memtable.upgrade().is_some()), "all are on disk, and in memory too");
    assert!(rows.tree.version_free_list_len() >= 3);
    assert_eq!(values(&snapshot, &rows).len(), 100);
}

#[test]
fn the_memtable_of_the_last_flush_stays_until_something_is_flushed_again() {
    let folder = tempfile::tempdir().unwrap();
    let (db, rows) = open(folder.path());
    write_and_flush(&rows, "old");
    let memtable = Arc::downgrade(&rows.tree.active_memtable());
    write_and_flush(&rows, "new");
    assert!(memtable.upgrade().is_some() && rows.tree.version_free_list_len() > 0);
    // The workaround of `nonces.rs`.
    let newest = db.snapshot();
    rows.tree.get_version_history_lock().maintenance(rows.path(), newest.seqno()).unwrap();
    assert_eq!(rows.tree.version_free_list_len(), 0);
    assert_eq!(values(&newest, &rows).len(), 100);
    let begun = Instant::now();
    while memtable.upgrade().is_some() {
        assert!(begun.elapsed() < Duration::from_secs(30), "a thread of fjall may hold it for a moment");
    }
}

#[test]
fn a_version_that_was_dropped_panics_when_a_snapshot_asks_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let (db, rows) = open(folder.path());
    write_and_flush(&rows, "old");
    let snapshot = db.snapshot();
    write_and_flush(&rows, "new");
    rows.tree.get_version_history_lock().maintenance(rows.path(), db.visible_seqno()).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| snapshot.get(&rows, 0_u32.to_be_bytes()))).is_err());
}

#[test]
fn compaction_drops_what_an_older_snapshot_reads_so_that_only_its_own_version_serves_it() {
    let folder = tempfile::tempdir().unwrap();
    let (db, rows) = open(folder.path());
    write_and_flush(&rows, "old");
    // The watermark stays two numbers below the oldest snapshot.
    (0..4_u32).for_each(|row| rows.insert((1000 + row).to_be_bytes(), "later").unwrap());
    let snapshot = db.snapshot();
    write_and_flush(&rows, "new");
    write_and_flush(&rows, "newer");
    rows.major_compact().unwrap();
    let key = 0_u32.to_be_bytes();
    assert_eq!(snapshot.get(&rows, key).unwrap().unwrap(), "old");
    let newest = rows.tree.current_version();
    let entries: u64 = newest.iter_tables().map(|table| table.metadata.item_count).sum();
    assert!(entries < 304, "{entries}: the old values are not all there");
}

#[test]
fn the_counter_of_bytes_in_memtables_keeps_those_of_deleted_keyspaces() {
    let folder = tempfile::tempdir().unwrap();
    let (db, rows) = open(folder.path());
    (0..100_u32).for_each(|row| rows.insert(row.to_be_bytes(), "value").unwrap());
    let counted = db.write_buffer_size();
    db.delete_keyspace(rows).unwrap();
    assert!(counted > 0 && db.write_buffer_size() == counted);
}

#[test]
fn memtables_are_numbered_one_after_the_other_and_flushed_all_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (_db, rows) = open(folder.path());
    let first = rows.tree.active_memtable().id();
    write_and_flush(&rows, "old");
    assert_eq!(rows.tree.active_memtable().id(), first + 1);
    let mut ingestion = rows.start_ingestion().unwrap();
    ingestion.write([9], "loaded").unwrap();
    rows.insert([1], "beside").unwrap();
    ingestion.finish().unwrap();
    assert_eq!((rows.tree.active_memtable().id(), rows.sealed_memtable_count()), (first + 2, 0));
}
