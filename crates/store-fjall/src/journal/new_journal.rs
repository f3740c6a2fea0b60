//! A journal of its own for what is written after an opening.
//!
//! fjall (3.1.13, `Writer::from_file`) appends to the last journal that it finds. Each commit then makes the file longer, and
//! a sync writes the file's inode with the rows: commits of a single client take half as long again as in a journal whose blocks are
//! there before (`commit/journal_room.rs`). fjall begins the next journal before a flush if the last write ended behind
//! byte 64,000,000. So the old one is made to end there for a moment:
//!
//! ```text
//!   1  longer, without blocks       |  batches  |  zeros                                     |
//!   2  a tombstone at its end       |  batches  |  zeros                                     | tombstone |
//!   3  the records are flushed: fjall makes the next journal
//!   4  as long as it was            |  batches  |
//! ```
//! The old journal has its length back, durably, before anybody writes to the new one. After a crash before that, the last
//! journal with batches has zeros behind them, and perhaps the tombstone behind the zeros: recovery ends at the first zero and
//! cuts the rest. The tombstone is of a key that no record has.
//!
//! Nothing of this is needed. Where flushes are under way, or tables of the records are to be merged first, the store goes on
//! with the journal that is there.

use crate::commit::journal_file::{JournalFile, journal_ids, journal_path, keep_unwritten};
use crate::error::{engine, io};
use crate::seam::{engine_threads, files, thread};
use fjall::{AbstractTree, Database, Keyspace, OwnedWriteBatch};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::StoreResult;

/// fjall begins a journal when the last write ended behind this byte.
const FULL: u64 = 64_000_000;
/// What a flush of the records may write, and the new journal.
pub(crate) const BYTES: usize = 1 << 20;
/// Each opening adds a table to level 0 of the records. fjall lets nobody write beside 30 of them, and nobody merges them before
/// the store is open.
const MOST_TABLES: usize = 8;
/// No record has it.
const NOBODYS: [u8; 1] = [0xFF];

/// Lets fjall begin a new journal in `folder`, where it keeps them. All of the last one is durable, and nobody commits meanwhile.
///
/// # Errors
/// I/O failures, and those of fjall: nothing may be written before the store is opened again.
pub(crate) fn begin(db: &Database, meta: &Keyspace, journal: &JournalFile, folder: &Path) -> StoreResult<()> {
    // fjall would have the write wait for them, also if they fail.
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

/// The last journal, made as long as a full one, and the length that it had; `None` where it is so long already.
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
    batch.remove(meta, NOBODYS);
    batch.commit().inspect_err(|_| keep_unwritten(db))?;
    journal.write_out()?;
    meta.rotate_memtable()?;
    while meta.tree.sealed_memtable_count() > 0 {
        // Fails when the flush has.
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

    /// Opens the store, commits, and ends without a flush, as a process that is killed.
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
        // The old one is whole, and as long as its batches.
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

    /// Where a crash leaves the old journal before it has its length back.
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

    /// Not a test of its own: a process in which no file may grow beyond a size.
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
        // A write beyond the limit is to fail, not to end the process.
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
