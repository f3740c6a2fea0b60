//! Behaviour of fjall that the store must work around. A failure after an upgrade means that a workaround may have
//! become unnecessary or wrong: `docs/architecture/fjall.md`.

use fjall::{Database, Keyspace, PersistMode, Readable};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

fn open(folder: &Path) -> Database {
    Database::builder(folder).worker_threads(1).open().unwrap()
}

fn keyspace(db: &Database, name: &str) -> Keyspace {
    db.keyspace(name, Default::default).unwrap()
}

/// Ingests rows, which are in no journal, as a load does.
fn ingest(keyspace: &Keyspace, rows: u32) {
    let mut ingestion = keyspace.start_ingestion().unwrap();
    (0..rows).for_each(|row| ingestion.write(row.to_be_bytes(), "loaded").unwrap());
    ingestion.finish().unwrap();
}

fn rows(db: &Database, name: &str) -> usize {
    db.snapshot().iter(&keyspace(db, name)).count()
}

/// Twenty batches of one row each, synced.
fn written(folder: &Path) {
    let db = open(folder);
    let rows = keyspace(&db, "rows");
    for row in 0..20_u32 {
        let mut batch = db.batch();
        batch.insert(&rows, row.to_be_bytes(), "value");
        batch.commit().unwrap();
    }
    db.persist(PersistMode::SyncAll).unwrap();
}

/// The size of each batch of [`written`]: start, item with 4 and 5 bytes, end.
const BATCH: usize = 13 + 21 + 9 + 13;

/// Flips one bit in the eleventh batch of the journal.
fn damage(folder: &Path, at: usize) {
    let journal = folder.join("0.jnl");
    let mut bytes = fs::read(&journal).unwrap();
    bytes[10 * BATCH + at] ^= 1;
    fs::write(journal, bytes).unwrap();
}

/// The reason for `new_journal.rs`.
#[test]
fn a_journal_that_is_opened_again_has_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let len = || fs::metadata(folder.path().join("0.jnl")).unwrap().len();
    written(folder.path());
    let db = open(folder.path());
    assert_eq!(len(), 20 * BATCH as u64);
    keyspace(&db, "rows").insert("k", "v").unwrap();
    db.persist(PersistMode::Buffer).unwrap();
    assert!((20 * BATCH as u64 + 1..64_000_000).contains(&len()), "{} bytes", len());
}

#[test]
fn the_id_of_a_deleted_keyspace_is_given_again() {
    let folder = tempfile::tempdir().unwrap();
    let db = open(folder.path());
    keyspace(&db, "stays").insert("k", "v").unwrap();
    let loaded = keyspace(&db, "loaded");
    ingest(&loaded, 10);
    let id = loaded.id();
    db.delete_keyspace(loaded).unwrap();
    drop(db);
    assert_eq!(keyspace(&open(folder.path()), "another").id(), id);
}

#[test]
fn sequence_numbers_begin_anew_behind_those_of_deleted_keyspaces() {
    let folder = tempfile::tempdir().unwrap();
    let db = open(folder.path());
    keyspace(&db, "stays").insert("k", "v").unwrap();
    let loaded = keyspace(&db, "loaded");
    ingest(&loaded, 10);
    db.delete_keyspace(loaded).unwrap();
    let reached = db.seqno();
    drop(db);
    assert!(open(folder.path()).seqno() < reached);
}

#[test]
fn sequence_numbers_can_be_moved_forward() {
    let folder = tempfile::tempdir().unwrap();
    let db = open(folder.path());
    let rows = keyspace(&db, "rows");
    rows.insert("a", "1").unwrap();
    db.supervisor.seqno.fetch_max(1 << 30);
    db.supervisor.snapshot_tracker.set(1 << 30);
    let before = db.snapshot();
    rows.insert("b", "2").unwrap();
    assert_eq!((before.iter(&rows).count(), db.snapshot().iter(&rows).count()), (1, 2));
    assert!(db.seqno() > 1 << 30);
    drop((rows, before, db));
    assert!(open(folder.path()).seqno() > 1 << 30);
}

#[test]
fn a_folder_without_a_record_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let unknown = folder.path().join("keyspaces/17");
    fs::create_dir(&unknown).unwrap();
    fs::write(unknown.join("current"), "x").unwrap();
    let db = open(folder.path());
    assert!(!unknown.exists());
    assert_eq!(keyspace(&db, "next").id(), 18, "and its id is behind the next");
}

#[test]
fn a_keyspace_without_its_manifest_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    fs::remove_file(folder.path().join("keyspaces/1/current")).unwrap();
    drop(open(folder.path()));
    assert!(!folder.path().join("keyspaces/1").exists());
}

#[test]
fn a_folder_whose_name_is_no_number_panics() {
    let folder = tempfile::tempdir().unwrap();
    let db = open(folder.path());
    drop(db);
    fs::create_dir(folder.path().join("keyspaces/lost+found")).unwrap();
    // In a process of its own, because a destructor takes the lock that the panic poisons, which aborts the process.
    let outcome = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["fjall_traps::child_that_opens", "--exact"])
        .env("BENNU_TEST_OPENS", folder.path())
        .output();
    assert!(!outcome.unwrap().status.success());
}

/// Run by the test above in a child process.
#[test]
fn child_that_opens() {
    if let Some(folder) = std::env::var_os("BENNU_TEST_OPENS") {
        drop(open(Path::new(&folder)));
    }
}

#[test]
fn without_the_version_file_it_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    fs::remove_file(folder.path().join("version")).unwrap();
    fs::remove_file(folder.path().join("0.jnl")).unwrap();
    assert_eq!(open(folder.path()).keyspace_count(), 0);
}

#[test]
fn replay_ends_silently_at_damage() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    damage(folder.path(), 0);
    assert_eq!(rows(&open(folder.path()), "rows"), 10);
}

#[test]
fn the_sequence_number_of_a_batch_is_not_covered_by_its_checksum() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    // A bit in the sequence number, bytes 5..13 of a batch.
    damage(folder.path(), 6);
    assert_eq!(rows(&open(folder.path()), "rows"), 20);
}

#[test]
fn a_batch_into_a_deleted_keyspace_is_lost_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let db = open(folder.path());
    let gone = keyspace(&db, "gone");
    db.delete_keyspace(gone.clone()).unwrap();
    let mut batch = db.batch();
    batch.insert(&gone, "k", "v");
    batch.commit().unwrap();
    drop((gone, db));
    assert!(!open(folder.path()).keyspace_exists("gone"));
}

#[test]
fn an_empty_key_panics() {
    let folder = tempfile::tempdir().unwrap();
    let db = open(folder.path());
    let rows = keyspace(&db, "rows");
    let mut batch = db.batch();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        batch.insert(&rows, "", "v");
        batch.commit()
    }));
    assert!(outcome.is_err());
}
