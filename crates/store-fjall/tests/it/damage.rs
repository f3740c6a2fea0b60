//! Damaged folders: a torn tail is cut, other damage is refused with the file name.

use crate::support::*;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use store::{Durability, Store, StoreError, StoreResult};
use store_fjall::FjallStore;

/// Copies the folder of a running store, as after a crash. Restarts if a listed file is gone, because the store's
/// threads rename and delete files meanwhile.
pub(crate) fn copy(from: &Path, to: &Path) {
    for _ in 0..100 {
        match try_copy(from, to) {
            Err(error) if error.kind() == ErrorKind::NotFound && from.exists() => fs::remove_dir_all(to).unwrap(),
            copied => return copied.unwrap(),
        }
    }
    panic!("the files of {} change too fast to be copied", from.display());
}

fn try_copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            try_copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// A crashed store: rows a0..a99 are durable and covered by the watermark, followed by `tail` batches that are not.
/// Returns the folder and the offset of those batches in the journal.
async fn crashed(folder: &Path, tail: usize, value_bytes: usize) -> (PathBuf, usize) {
    let store = open(&folder.join("live"));
    commit(&store, create(1)).await;
    for n in 0..100 {
        store.apply(batch(vec![put(1, &format!("a{n:03}"), &"v".repeat(200))]), Durability::Buffered).await.unwrap();
    }
    commit(&store, batch(vec![put(1, "last", "synced")])).await;
    // The watermark advances once a second.
    tokio::time::sleep(std::time::Duration::from_millis(1300)).await;
    let durable = written_bytes(&journal(&folder.join("live")));
    for n in 0..tail {
        let value: String = (0..value_bytes).map(|at| char::from(b'a' + ((at * 7 + at / 13 + n) % 26) as u8)).collect();
        store.apply(batch(vec![put(1, &format!("b{n:03}"), &value)]), Durability::Buffered).await.unwrap();
    }
    let copied = folder.join("crashed");
    copy(&folder.join("live"), &copied);
    (copied, durable)
}

fn journal(folder: &Path) -> PathBuf {
    folder.join("db/0.jnl")
}

/// The offset of the trailing zeros.
fn written_bytes(path: &Path) -> usize {
    fs::read(path).unwrap().iter().rposition(|&byte| byte != 0).unwrap() + 1
}

fn overwrite(path: &Path, at: usize, bytes: &[u8]) {
    File::options().write(true).open(path).unwrap().write_all_at(bytes, at as u64).unwrap();
}

fn reopen(folder: &Path) -> StoreResult<std::sync::Arc<FjallStore>> {
    FjallStore::open(folder, options())
}

fn assert_refused(folder: &Path, name: &str) {
    match reopen(folder) {
        Err(StoreError::Corrupted { detail }) => assert!(detail.contains(name), "{detail}"),
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_torn_tail_is_cut_whatever_its_values_and_wherever_it_is_torn() {
    for value_bytes in [100, 6_000, 40_000] {
        let folder = tempfile::tempdir().unwrap();
        let (crashed, durable) = crashed(folder.path(), 3, value_bytes).await;
        let whole = written_bytes(&journal(&crashed));
        // A power loss drops pages of 4 KiB from the end backwards; some cuts are within a page.
        for back in [1, 5, 14, 100, 3000, 9000, 20_000].into_iter().filter(|back| *back < whole - durable) {
            let at = whole - back;
            let torn = folder.path().join(format!("torn-{back}"));
            copy(&crashed, &torn);
            overwrite(&journal(&torn), at, &[0; 4096][..4096.min(whole - at)]);
            let store = reopen(&torn).unwrap();
            let rows = scan(&store, 1, &now(&store).await).await;
            let kept = rows.iter().filter(|(key, _)| key.starts_with('b')).count();
            assert!(rows.len() - kept == 101 && kept < 3, "{value_bytes} {back}: {} {kept}", rows.len());
            // The store is fully usable: new rows survive another crash.
            commit(&store, batch(vec![put(1, "after", "1")])).await;
            drop(store);
            let again = reopen(&torn).unwrap();
            assert_eq!(get(&again, 1, "after", &now(&again).await).await, Some("1".into()));
        }
    }
}

/// fjall may begin a new journal after a partly failed write, once the disk has space again.
#[tokio::test]
async fn a_half_written_batch_before_an_empty_journal_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let (crashed, _) = crashed(folder.path(), 3, 6_000).await;
    let whole = written_bytes(&journal(&crashed));
    overwrite(&journal(&crashed), whole - 20, &[0; 20]);
    let before_a_batch = folder.path().join("before-a-batch");
    copy(&crashed, &before_a_batch);
    File::create(crashed.join("db/1.jnl")).unwrap().set_len(64 << 20).unwrap();
    let store = reopen(&crashed).unwrap();
    assert_eq!(scan(&store, 1, &now(&store).await).await.len(), 103);
    commit(&store, batch(vec![put(1, "after", "1")])).await;
    drop(store);
    let again = reopen(&crashed).unwrap();
    assert_eq!(scan(&again, 1, &now(&again).await).await.len(), 104);

    // Refused before a journal with a batch, which is only begun once this one is durable.
    fs::copy(journal(&before_a_batch), before_a_batch.join("db/1.jnl")).unwrap();
    assert_refused(&before_a_batch, "0.jnl is damaged");
}

#[tokio::test]
async fn damage_in_what_was_durable_is_refused_and_names_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let (crashed, durable) = crashed(folder.path(), 2, 100).await;
    for (number, at) in [20, durable / 3, durable / 2, durable - 400].into_iter().enumerate() {
        for (kind, bytes) in [("flip", vec![0xA5; 3]), ("zeros", vec![0; 4096.min(durable - at)])] {
            let damaged = folder.path().join(format!("damaged-{number}-{kind}"));
            copy(&crashed, &damaged);
            overwrite(&journal(&damaged), at, &bytes);
            assert_refused(&damaged, "0.jnl is damaged");
        }
    }
    let cut = folder.path().join("cut");
    copy(&crashed, &cut);
    File::options().write(true).open(journal(&cut)).unwrap().set_len(durable as u64 / 2).unwrap();
    assert_refused(&cut, "0.jnl is damaged");
}

#[tokio::test]
async fn missing_files_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (crashed, _) = crashed(folder.path(), 0, 0).await;
    for (file, named) in [("db/0.jnl", "journal"), ("watermark", "watermark"), ("db/version", "version")] {
        let missing = folder.path().join(file.replace('/', "-"));
        copy(&crashed, &missing);
        fs::remove_file(missing.join(file)).unwrap();
        assert_refused(&missing, named);
    }
}

/// A closed store with 3,000 rows in table 1, all flushed.
async fn flushed(path: &Path) {
    let store = open(path);
    commit(&store, create(1)).await;
    commit(&store, batch((0..3000).map(|n| put(1, &format!("{n:05}"), &format!("value {n}"))).collect())).await;
    store.flush(store::TableId(1), false).await.unwrap();
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_keyspace_that_lost_a_file_or_its_folder_is_refused_and_nothing_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    flushed(&path).await;
    let keyspaces = fs::read_dir(path.join("db/keyspaces")).unwrap().map(|entry| entry.unwrap().file_name());
    for keyspace in keyspaces.collect::<Vec<_>>() {
        let keyspace = keyspace.to_str().unwrap();
        let damaged = folder.path().join(format!("current-{keyspace}"));
        copy(&path, &damaged);
        let current = damaged.join("db/keyspaces").join(keyspace).join("current");
        let kept = fs::read(&current).unwrap();
        fs::remove_file(&current).unwrap();
        for _ in 0..2 {
            assert_refused(&damaged, &format!("keyspaces/{keyspace}/current is missing"));
        }
        fs::write(&current, kept).unwrap();
        let report = reopen(&damaged).unwrap().check().await.unwrap();
        assert!(
            report.problems.is_empty() && report.rows.iter().map(|(_, _, rows)| rows).sum::<u64>() == 3000,
            "{report:?}"
        );
        let gone = folder.path().join(format!("gone-{keyspace}"));
        copy(&path, &gone);
        fs::remove_dir_all(gone.join("db/keyspaces").join(keyspace)).unwrap();
        for _ in 0..2 {
            assert_refused(&gone, "missing");
        }
    }
}

#[tokio::test]
async fn a_damaged_block_is_an_error_and_not_a_wrong_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    flushed(&path).await;
    let table = find_table(&path.join("db/keyspaces")).expect("a table was flushed");
    overwrite(&table, 2000, &[0x5A; 16]);
    let store = reopen(&path).unwrap();
    let report = store.check().await.unwrap();
    assert!(!report.problems.is_empty(), "{report:?}");
    let request = store::ScanRequest::new(store::TableId(1), FAMILY, vec![store::KeyRange::all()]);
    let at = now(&store).await;
    let mut scan = store.scan(request, &at).await.unwrap();
    let mut outcome = Ok(());
    loop {
        match scan.next().await {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => {
                outcome = Err(error);
                break;
            }
        }
    }
    assert!(matches!(outcome, Err(StoreError::Corrupted { .. })), "{outcome:?}");
    // The store is still writable.
    commit(&store, batch(vec![put(1, "new", "1")])).await;
}

/// The largest table file of all keyspaces.
fn find_table(keyspaces: &Path) -> Option<PathBuf> {
    let mut tables = Vec::new();
    for keyspace in fs::read_dir(keyspaces).unwrap() {
        let Ok(files) = fs::read_dir(keyspace.unwrap().path().join("tables")) else { continue };
        tables.extend(files.map(|file| file.unwrap().path()));
    }
    tables.into_iter().max_by_key(|path| fs::metadata(path).unwrap().len())
}

#[tokio::test]
async fn a_store_that_was_sound_checks_sound() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    commit(&store, batch((0..500).map(|n| put(1, &format!("{n:05}"), "v")).collect())).await;
    store.flush(store::TableId(1), true).await.unwrap();
    commit(&store, batch(vec![delete(1, "00007")])).await;
    let report = store.check().await.unwrap();
    assert_eq!(report.problems, []);
    assert_eq!(report.rows, [(store::TableId(1), FAMILY, 499)]);
}

#[tokio::test]
async fn a_failed_sync_makes_the_store_read_only_and_reads_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    commit(&store, batch(vec![put(1, "a", "1")])).await;
    // Each sync checks for the journal's successor; a symbolic link to itself makes that check fail.
    std::os::unix::fs::symlink("1.jnl", folder.path().join("db/1.jnl")).unwrap();
    let applied = store.apply(batch(vec![put(1, "a", "2")]), Durability::Sync).await.unwrap();
    let failed = store.sync(applied).await;
    assert!(matches!(failed, Err(StoreError::ReadOnly { .. })), "{failed:?}");
    let refused = store.apply(batch(vec![put(1, "a", "3")]), Durability::Sync).await;
    assert!(matches!(refused, Err(StoreError::ReadOnly { .. })), "{refused:?}");
    assert_eq!(get(&store, 1, "a", &now(&store).await).await, Some("1".into()));
    assert!(matches!(store.snapshot(applied).await, Err(StoreError::ReadOnly { .. })));
}

/// Returns the problems that a check of a running store finds after `damage` to its files.
async fn problems_after(fill: impl AsyncFn(&FjallStore), damage: impl Fn(&Path)) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    commit(&store, create(1)).await;
    fill(&store).await;
    // The watermark advances once a second.
    tokio::time::sleep(std::time::Duration::from_millis(1300)).await;
    assert_eq!(store.check().await.unwrap().problems, []);
    damage(folder.path());
    let report = store.check().await.unwrap();
    report.problems.into_iter().map(|problem| problem.what).collect()
}

#[tokio::test]
async fn a_check_reads_the_journals() {
    for at in [6, 20, 300] {
        let commits = async |store: &FjallStore| {
            for n in 0..20 {
                commit(store, batch(vec![put(1, &format!("{n}"), "value")])).await;
            }
        };
        let found = problems_after(commits, |folder| {
            let byte = fs::read(journal(folder)).unwrap()[at];
            overwrite(&journal(folder), at, &[byte ^ 1]);
        });
        let found = found.await;
        assert!(found.len() == 1 && found[0].contains("0.jnl is damaged"), "byte {at}: {found:?}");
    }
}

#[tokio::test]
async fn a_check_reads_the_records_of_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    flushed(&path).await;
    let store = reopen(&path).unwrap();
    // The meta keyspace is the first that a store creates.
    let tables = fs::read_dir(path.join("db/keyspaces/1/tables")).unwrap();
    let table = tables.map(|entry| entry.unwrap().path()).next().expect("records were flushed");
    overwrite(&table, 40, &[0x5A; 16]);
    let report = store.check().await.unwrap();
    let what: Vec<_> = report.problems.iter().map(|problem| (problem.place, problem.what.as_str())).collect();
    assert!(matches!(what.as_slice(), [(None, what)] if what.starts_with("records: ")), "{what:?}");
}

/// Without a commit before the power loss, any remains of the first opening are deleted.
#[tokio::test]
async fn an_opening_that_was_cut_before_the_first_commit_is_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let live = folder.path().join("live");
    let store = open(&live);
    let image = folder.path().join("image");
    copy(&live, &image);
    drop(store);
    let versions: [&[u8]; 5] = [b"", &[0; 4], b"FJ", b"FJL\x03", b"FJL\x00"];
    for (number, version) in versions.into_iter().enumerate() {
        for removed in ["db/0.jnl", "db/keyspaces/0/current", "db/keyspaces", "watermark and db", ""] {
            let cut = folder.path().join(format!("{number} without {}", removed.replace('/', "-")));
            copy(&image, &cut);
            fs::write(cut.join("db/version"), version).unwrap();
            match removed {
                "" => {}
                "db/keyspaces" => fs::remove_dir_all(cut.join(removed)).unwrap(),
                "watermark and db" => {
                    fs::remove_dir_all(cut.join("db")).unwrap();
                    fs::write(cut.join("watermark"), version).unwrap();
                }
                file => fs::remove_file(cut.join(file)).unwrap(),
            }
            let store = reopen(&cut).unwrap();
            commit(&store, create(1)).await;
            commit(&store, batch(vec![put(1, "k", "v")])).await;
            drop(store);
            let store = reopen(&cut).unwrap();
            assert_eq!(get(&store, 1, "k", &now(&store).await).await, Some("v".into()));
        }
    }
}

#[tokio::test]
async fn nothing_is_deleted_beside_commits_whatever_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    flushed(&path).await;
    let versions: [Option<&[u8]>; 4] = [None, Some(b""), Some(&[0; 4]), Some(b"FJL\x03")];
    for (number, version) in versions.into_iter().enumerate() {
        let damaged = folder.path().join(format!("damaged-{number}"));
        copy(&path, &damaged);
        let file = damaged.join("db/version");
        match version {
            Some(bytes) => fs::write(&file, bytes).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let kept = fs::read(journal(&damaged)).unwrap();
        fs::remove_file(journal(&damaged)).unwrap();
        for _ in 0..2 {
            let refused = reopen(&damaged);
            assert!(matches!(refused, Err(StoreError::Corrupted { .. })), "{refused:?}");
        }
        fs::write(file, b"FJL\x03").unwrap();
        fs::write(journal(&damaged), kept).unwrap();
        let store = reopen(&damaged).unwrap();
        assert_eq!(scan(&store, 1, &now(&store).await).await.len(), 3000);
    }
}
