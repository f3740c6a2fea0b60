//! Writes batches to fjall, with a mark where their sequence numbers may leave a gap (`journal/seqno_chain.rs`).

use crate::commit::journal_file::leak_journal_writer;
use crate::journal::seqno_chain::SeqnoMark;
use crate::meta;
use crate::seam::Mutex;
use fjall::{Database, Keyspace, OwnedWriteBatch};
use std::ops::Range;

/// The sequence number of the last batch. The lock is never contended, because callers hold the commit lock.
pub(crate) struct Seqnos {
    last: Mutex<Last>,
}

struct Last {
    /// The range that contains the number of the last batch.
    range: Option<Range<u64>>,
    /// Whether the last batch was written before the store was opened. Then its expected number is unknown, and only a
    /// mark in the next batch says that a gap may precede it.
    before_opening: bool,
}

impl Seqnos {
    /// Starts after the batch with this number, the last one that recovery found.
    pub(crate) fn new(last: Option<u64>) -> Self {
        Self { last: Mutex::new(Last { range: last.map(|last| last..last + 1), before_opening: true }) }
    }

    /// Writes a batch: to the memtables, and to the journal as far as fjall's buffer (see `journal_file.rs`). The caller
    /// holds the commit lock.
    ///
    /// # Errors
    /// fjall's errors; the outcome is unknown.
    pub(crate) fn write(&self, db: &Database, meta: &Keyspace, batch: OwnedWriteBatch) -> fjall::Result<()> {
        let mut last = self.last.lock();
        let low = db.seqno();
        let follows = last.range.as_ref().is_some_and(|last| last.end - last.start == 1 && last.end == low);
        let mark = (!follows || last.before_opening).then(|| SeqnoMark { previous: last.range.clone(), low });
        *last = write(db, meta, batch, low, mark)?;
        Ok(())
    }

    /// Writes a batch with only a mark, before rows outside the journal take a number, so that the batch before it is
    /// not the last one of the chain. The caller holds the commit lock.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) fn write_mark(&self, db: &Database, meta: &Keyspace) -> fjall::Result<()> {
        let mut last = self.last.lock();
        let low = db.seqno();
        let mark = Some(SeqnoMark { previous: last.range.clone(), low });
        *last = write(db, meta, OwnedWriteBatch::with_capacity(db.clone(), 1), low, mark)?;
        Ok(())
    }
}

/// Writes a batch and returns the range of its number.
fn write(
    db: &Database,
    meta: &Keyspace,
    mut batch: OwnedWriteBatch,
    low: u64,
    mark: Option<SeqnoMark>,
) -> fjall::Result<Last> {
    if let Some(mark) = mark {
        meta::put_seqno_mark(&mut batch, meta, &mark);
    }
    batch.durability(None).commit().inspect_err(|_| leak_journal_writer(db))?;
    Ok(Last { range: Some(low..db.seqno()), before_opening: false })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::commit::journal_file::{JournalFile, journal_path};
    use crate::journal::seqno_chain::Chain;
    use crate::meta::SEQNO_KEY;
    use std::path::Path;

    /// A flush that ended within the last batch before a crash may have left a gap that was not recorded.
    #[test]
    fn the_first_batch_after_an_opening_has_a_mark() {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::builder(folder.path()).open().unwrap();
        let meta = db.keyspace("meta", Default::default).unwrap();
        let batch = || {
            let mut batch = OwnedWriteBatch::with_capacity(db.clone(), 1);
            batch.insert(&meta, "row", "x");
            batch
        };
        let number = db.seqno();
        Seqnos::new(None).write(&db, &meta, batch()).unwrap();
        meta.remove(SEQNO_KEY).unwrap();
        let last = db.seqno() - 1;
        let seqnos = Seqnos::new(Some(last));
        seqnos.write(&db, &meta, batch()).unwrap();
        let mark: SeqnoMark = serde_json::from_slice(&meta.get(SEQNO_KEY).unwrap().unwrap()).unwrap();
        assert_eq!(mark, SeqnoMark { previous: Some(last..last + 1), low: last + 1 });
        // As if the batch before should have had the number before its own.
        let mut chain = Chain::default();
        chain.next(number, Some(&SeqnoMark { previous: None, low: number })).unwrap();
        chain.next(last, None).unwrap();
        chain.next(last + 1, Some(&mark)).unwrap();
        meta.remove(SEQNO_KEY).unwrap();
    }

    const CHILD: &str = "BENNU_FAILED_BATCH_CHILD";

    /// Not a test by itself: run in a child process, where a batch is written partly because of a file size limit.
    #[test]
    fn child_that_writes_half_a_batch() {
        let Some(folder) = std::env::var_os(CHILD) else { return };
        let db = Database::builder(&folder).open().unwrap();
        let meta = db.keyspace("meta", Default::default).unwrap();
        let seqnos = Seqnos::new(None);
        let file = JournalFile::open(&db, Path::new(&folder)).unwrap();
        let write = |value: &str| {
            let mut batch = OwnedWriteBatch::with_capacity(db.clone(), 1);
            batch.insert(&meta, "row", value);
            seqnos.write(&db, &meta, batch).and_then(|()| file.write_out())
        };
        write("whole").unwrap();
        let journal = || std::fs::read(journal_path(Path::new(&folder), 0)).unwrap();
        let len = crate::journal::reader::read_to_end(journal().as_slice()).unwrap().whole_bytes;
        let (soft, hard) = rlimit::Resource::FSIZE.get().unwrap();
        rlimit::Resource::FSIZE.set(len + 20, hard).unwrap();
        write("half").unwrap_err();
        rlimit::Resource::FSIZE.set(soft, hard).unwrap();
        // Simulates a worker thread that outlives the rest of the database.
        let late = db.supervisor.clone();
        drop((meta, file, db));
        let left = journal();
        drop(late);
        assert!(journal() == left, "the rest of the batch was written");
    }

    #[test]
    fn what_is_left_of_a_failed_batch_is_never_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sh");
        // With SIGXFSZ ignored a write beyond the limit fails instead of ending the process.
        child.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
        child.args(["--exact", "commit::seqnos::tests::child_that_writes_half_a_batch", "--nocapture"]);
        let output = child.env(CHILD, folder.path()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && folder.path().join("0.jnl").exists(), "{told}");
    }
}
