//! Begins a new journal after an opening.
//!
//! fjall (3.1.13, `Writer::from_file`) appends to the last journal that it finds. Each commit then extends the file,
//! and a sync writes the file's inode with the rows: commits of a single client take half as long again as with
//! preallocated blocks (`commit/journal_room.rs`). fjall begins the next journal before a flush if the last write ended
//! beyond byte 64,000,000. So the old journal is extended to end there temporarily:
//!
//! ```text
//!   1  extended, sparse             |  batches  |  zeros                                     |
//!   2  tombstone at its end         |  batches  |  zeros                                     | tombstone |
//!   3  flush of the meta keyspace: fjall makes the next journal
//!   4  cut again                     |  batches  |
//! ```
//! The old journal is cut to its length again, durably, before anything is written to the new one. After a crash in
//! between, the last journal with batches ends with zeros, possibly followed by the tombstone: recovery ends at the
//! first zero and cuts the rest. No record has the key of the tombstone.
//!
//! All of this is an optimization. If flushes are running, or the meta keyspace needs compaction first, the store
//! continues with the old journal.

use crate::commit::journal_file::{JournalFile, journal_ids, journal_path, leak_journal_writer};
use crate::error::{engine, io};
use crate::seam::{engine_threads, files, thread};
use fjall::{AbstractTree, Database, Keyspace, OwnedWriteBatch};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::StoreResult;

/// fjall begins a new journal if the last write ended beyond this byte.
const FULL: u64 = 64_000_000;
/// Disk space for the flush of the meta keyspace and the new journal.
pub(crate) const BYTES: usize = 1 << 20;
/// Each opening adds a table to level 0 of the meta keyspace. fjall stalls writes at 30 of them, and no compaction runs
/// before the store is open.
const MOST_TABLES: usize = 8;
/// A key that no record has.
const UNUSED_KEY: [u8; 1] = [0xFF];

/// Makes fjall begin a new journal in `folder`, its journal folder. The last journal is durable and nobody commits
/// meanwhile.
///
/// # Errors
/// I/O failures, and those of fjall: then nothing may be written before the store is reopened.
pub(crate) fn begin(db: &Database, meta: &Keyspace, journal: &JournalFile, folder: &Path) -> StoreResult<()> {
    // fjall would make the write wait for running flushes, even if they fail.
    let flushes = engine_threads::outstanding_flushes(db) > 0 || meta.tree.sealed_memtable_count() > 0;
    if flushes || meta.tree.l0_run_count() >= MOST_TABLES {
        return Ok(());
    }
    let (path, file, len) = match lengthened(folder) {
        Ok(Some(journal)) => journal,
        Ok(None) => return Ok(()),
        Err(error) => {
            tracing::debug!(%error, "no journal is begun");
            return Ok(());
        }
    };
    let flushed = flush_a_tombstone(db, meta, journal);
    let shortened = file.set_len(len).and_then(|()| files::sync_all(&file));
    shortened.map_err(io(format!("shortening journal {}", path.display())))?;
    flushed.map_err(engine("beginning a journal"))
}

/// Extends the last journal to the length of a full one and returns its old length; `None` if it has that length
/// already.
fn lengthened(folder: &Path) -> StoreResult<Option<(PathBuf, File, u64)>> {
    let Some(id) = journal_ids(folder)?.last().copied() else { return Ok(None) };
    let path = journal_path(folder, id);
    let doing = || io(format!("lengthening journal {}", path.display()));
    let file = File::options().write(true).open(&path).map_err(doing())?;
    let len = file.metadata().map_err(doing())?.len();
    if len >= FULL {
        return Ok(None);
    }
    file.set_len(FULL).map_err(doing())?;
    Ok(Some((path, file, len)))
}

fn flush_a_tombstone(db: &Database, meta: &Keyspace, journal: &JournalFile) -> fjall::Result<()> {
    let mut batch = OwnedWriteBatch::with_capacity(db.clone(), 1).durability(None);
    batch.remove(meta, UNUSED_KEY);
    batch.commit().inspect_err(|_| leak_journal_writer(db))?;
    journal.write_out()?;
    meta.rotate_memtable()?;
    while meta.tree.sealed_memtable_count() > 0 {
        // Fails if the flush failed.
        journal.write_out()?;
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::journal::reader::read_to_end;
    use crate::open::open;
    use crate::options::Options;
    use std::fs;
    use store::{Durability, FamilyId, FamilySpec, TableChange, TableId, TableSpec, WriteBatch};

    fn lengths(folder: &Path) -> Vec<(u64, u64)> {
        let folder = folder.join("db");
        let len = |id: &u64| fs::metadata(journal_path(&folder, *id)).unwrap().len();
        journal_ids(&folder).unwrap().iter().map(|id| (*id, len(id))).collect()
    }

    /// Opens the store, commits, and ends without a flush, like a killed process.
    fn crash(folder: &Path, table: u32) {
        let inner = open(folder, Options::default()).unwrap();
        let spec = TableSpec { id: TableId(table), families: vec![FamilySpec::new(FamilyId(0))], splits: vec![] };
        let creation = WriteBatch { tables: vec![TableChange::Create(spec)], ..WriteBatch::default() };
        let creation = inner.pipeline.prepare(creation).unwrap();
        inner.pipeline.apply(creation, Durability::Buffered, &[]).unwrap();
        inner.pipeline.group_sync.sync_blocking().unwrap();
    }

    #[test]
    fn each_opening_writes_to_a_journal_that_has_room() {
        let folder = tempfile::tempdir().unwrap();
        let room = 64 << 20;
        crash(folder.path(), 1);
        assert_eq!(lengths(folder.path()), [(0, room)]);
        let inner = open(folder.path(), Options::default()).unwrap();
        let now = lengths(folder.path());
        assert_eq!(now.last(), Some(&(1, room)));
        // The old journal is undamaged and ends with its batches.
        let (id, len) = now[0];
        if id == 0 {
            let old = read_to_end(fs::read(folder.path().join("db/0.jnl")).unwrap().as_slice()).unwrap();
            assert!(!old.torn && old.whole_bytes == len, "{old:?} in {len} bytes");
        }
        drop(inner);
        for table in 2..5 {
            crash(folder.path(), table);
        }
        let inner = open(folder.path(), Options::default()).unwrap();
        let tables = inner.pipeline.publisher.newest().tables.iter().count();
        assert_eq!((tables, lengths(folder.path()).last().unwrap()), (4, &(5, room)));
    }

    /// The state of the old journal after a crash before it is cut to its length again.
    #[test]
    fn a_journal_that_was_not_shortened_again_loses_nothing() {
        for stray in ["nothing", "half a batch", "a batch"] {
            let folder = tempfile::tempdir().unwrap();
            crash(folder.path(), 1);
            let path = folder.path().join("db/0.jnl");
            let mut bytes = fs::read(&path).unwrap();
            let batches = usize::try_from(read_to_end(bytes.as_slice()).unwrap().whole_bytes).unwrap();
            let stray_bytes = match stray {
                "nothing" => Vec::new(),
                "half a batch" => bytes[..20].to_vec(),
                _ => bytes[..batches].to_vec(),
            };
            bytes.resize(usize::try_from(FULL).unwrap(), 0);
            bytes.extend(stray_bytes);
            fs::write(&path, bytes).unwrap();
            File::create(folder.path().join("db/1.jnl")).unwrap().set_len(64 << 20).unwrap();
            crash(folder.path(), 2);
            let inner = open(folder.path(), Options::default()).unwrap();
            assert_eq!(inner.pipeline.publisher.newest().tables.iter().count(), 2, "{stray}");
        }
    }

    #[test]
    fn however_often_a_store_is_opened_it_does_not_wait_for_compactions() {
        let folder = tempfile::tempdir().unwrap();
        for table in 1..40 {
            crash(folder.path(), table);
        }
        let inner = open(folder.path(), Options::default()).unwrap();
        assert!(inner.pipeline.meta.tree.l0_run_count() < 30);
    }

    const CHILD: &str = "BENNU_FAILED_BEGINNING_CHILD";

    /// Not a test by itself: run in a child process with a limit of the file size.
    #[test]
    fn child_that_opens_a_store_twice() {
        let Some(folder) = std::env::var_os(CHILD) else { return };
        let folder = Path::new(&folder);
        let opened = || {
            let inner = open(folder, Options::default()).unwrap();
            (inner.pipeline.publisher.newest().tables.iter().count(), inner.pipeline.read_only.is_set())
        };
        let (soft, hard) = rlimit::Resource::FSIZE.get().unwrap();
        rlimit::Resource::FSIZE.set(FULL - 1, hard).unwrap();
        assert_eq!(opened(), (1, false), "not lengthened: as if nothing had been tried");
        rlimit::Resource::FSIZE.set(FULL + 10, hard).unwrap();
        assert_eq!(opened(), (1, true), "a part of the tombstone was written: it can be read");
        rlimit::Resource::FSIZE.set(soft, hard).unwrap();
        crash(folder, 2);
        assert_eq!(opened(), (2, false));
    }

    #[test]
    fn a_beginning_that_fails_costs_no_row() {
        let folder = tempfile::tempdir().unwrap();
        crash(folder.path(), 1);
        let mut child = std::process::Command::new("sh");
        // With SIGXFSZ ignored a write beyond the limit fails instead of ending the process.
        child.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
        child.args(["--exact", "new_journal::tests::child_that_opens_a_store_twice", "--nocapture"]);
        let output = child.env(CHILD, folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn a_full_disk_is_opened_with_the_journal_that_is_there() {
        #[derive(Debug)]
        struct Full;
        impl crate::options::DiskSpace for Full {
            fn space(&self, _: &Path) -> Option<crate::options::Space> {
                Some(crate::options::Space { free: 0, total: 1 << 40 })
            }
        }
        let folder = tempfile::tempdir().unwrap();
        crash(folder.path(), 1);
        let _inner = open(folder.path(), Options { disk: std::sync::Arc::new(Full), ..Options::default() }).unwrap();
        assert!(matches!(lengths(folder.path()).as_slice(), [(0, _)]));
    }
}
