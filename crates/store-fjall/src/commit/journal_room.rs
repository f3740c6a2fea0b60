//! Preallocates journal blocks by writing zeros ahead of the commits.
//!
//! fjall creates a journal as a sparse file of 64 MiB. A sync after a commit that reached a new block also writes the
//! file's inode: three disk requests one after the other instead of two (data and flush). With rows of a kilobyte that
//! is nearly every sync. PostgreSQL zero-fills its WAL for the same reason (`wal_init_zero`).
//!
//! ```text
//!   0                                      hole                       64 MiB
//!   |  batches  |  zeros that were written  |  nothing (reads as zeros)  |
//! ```
//! - The hole begins after everything that was written. Batches are written under the commit lock only, and the zeros
//!   are written under it after fjall's buffer: they overwrite no batch.
//! - No zeros are written at or beyond the end of the file. fjall appends to a journal that it reopened, and would
//!   append after such zeros, which recovery does not read.
//! - Zeros are written block by block: the page cache keeps one large write as one large folio, and each commit and
//!   sync would process all of its blocks (Linux 6.16 and later with ext4: a fifth of a single client's commit time).
//! - Readers treat a zero as the end of the batches, in a hole or not, so recovery after a crash is unchanged.

use crate::commit::journal_file::JournalFile;
use crate::error::{engine, io};
use crate::seam::Mutex;
use rustix::fs::{SeekFrom, seek};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use store::StoreResult;

/// Size of one extension. A sync that includes an extension takes about half as long again.
const PIECE: usize = 128 << 10;
const BLOCK: usize = 4 << 10;

/// Keeps allocated blocks ahead of the next batch.
pub(crate) struct JournalRoom {
    journal: Arc<JournalFile>,
    /// Never contended, because callers hold the commit lock.
    room: Mutex<Room>,
}

#[derive(Default)]
struct Room {
    /// The journal that was extended last, and the start of its hole after that.
    journal: Option<u64>,
    hole: u64,
    /// Bytes that commits may write before the next extension.
    left: usize,
}

impl JournalRoom {
    pub(crate) fn new(journal: Arc<JournalFile>) -> Self {
        Self { journal, room: Mutex::default() }
    }

    /// Counts a batch of about `bytes` bytes and extends the zeros when they run out. Failures are ignored, because the
    /// zeros are an optimization. The caller holds the commit lock.
    pub(crate) fn used(&self, bytes: usize) {
        let mut room = self.room.lock();
        if let Some(left) = room.left.checked_sub(bytes) {
            room.left = left;
            return;
        }
        room.left = PIECE;
        if let Err(error) = self.add(&mut room) {
            tracing::debug!(%error, "no blocks were written ahead in the journal");
        }
    }

    fn add(&self, room: &mut Room) -> StoreResult<()> {
        self.journal.write_out().map_err(engine("writing the journal"))?;
        let (id, file) = self.journal.active()?;
        if room.journal != Some(id) {
            // From here on at least half a piece lies ahead of the next batch.
            *room = Room { journal: Some(id), hole: 0, left: PIECE / 2 };
        }
        room.hole = extend(&file, room.hole).map_err(io("writing zeros to the journal"))?;
        Ok(())
    }
}

/// Writes zeros at the first hole at or after `from`, and returns the new start of the hole.
fn extend(file: &File, from: u64) -> std::io::Result<u64> {
    let len = file.metadata()?.len();
    if from >= len {
        return Ok(from);
    }
    let hole = seek(file, SeekFrom::Hole(from))?;
    let piece = usize::try_from(len.saturating_sub(hole)).map_or(PIECE, |rest| rest.min(PIECE));
    let mut zeros = vec![0; piece];
    // Reads the hole first, in case the file system reports holes incorrectly: a wrong hole must not overwrite a
    // commit.
    file.read_exact_at(&mut zeros, hole)?;
    if zeros.iter().any(|&byte| byte != 0) {
        return Err(std::io::Error::other("there is something in a hole"));
    }
    let mut at = hole;
    for block in zeros.chunks(BLOCK) {
        file.write_all_at(block, at)?;
        at += block.len() as u64;
    }
    Ok(at)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::commit::journal_file::journal_path;
    use crate::journal::reader::read_to_end;
    use fjall::Database;
    use std::path::Path;

    /// Commits batches of many sizes and returns the number of batches in the journal.
    fn write(folder: &Path, rounds: usize) -> (JournalRoom, u64) {
        let db = Database::builder(folder).open().unwrap();
        let keyspace = db.keyspace("k", Default::default).unwrap();
        let room = JournalRoom::new(Arc::new(JournalFile::open(&db, folder).unwrap()));
        for round in 0..rounds {
            let mut batch = db.batch().durability(None);
            let bytes = 1 + round * 7919 % 30_000;
            // Incompressible, so that the journal keeps the size.
            let value: Vec<u8> = (0..bytes).map(|at| (((at * at + round * 31) * 2_654_435_761) >> 11) as u8).collect();
            batch.insert(&keyspace, round.to_be_bytes(), value);
            batch.commit().unwrap();
            room.used(bytes);
        }
        room.journal.write_out().unwrap();
        let file = File::open(journal_path(folder, 0)).unwrap();
        let end = read_to_end(&file).unwrap();
        assert!(!end.torn, "nothing but zeros behind the batches");
        (room, end.batches)
    }

    #[test]
    fn zeros_stay_ahead_of_the_batches_and_cover_none() {
        let folder = tempfile::tempdir().unwrap();
        let (room, batches) = write(folder.path(), 300);
        assert_eq!(batches, 300);
        let file = File::open(journal_path(folder.path(), 0)).unwrap();
        let written = read_to_end(&file).unwrap().whole_bytes;
        let hole = room.room.lock().hole;
        assert!((written + 1..written + 3 * PIECE as u64).contains(&hole), "batches to {written}, zeros to {hole}");
        assert_eq!(file.metadata().unwrap().len(), 64 << 20, "as fjall made it");
    }

    #[test]
    fn a_journal_that_is_appended_to_gets_no_zeros() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 20);
        let (_, batches) = write(folder.path(), 50);
        assert_eq!(batches, 70, "those of both openings");
    }

    #[test]
    fn a_hole_that_is_none_stays_as_it_is() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &[7; 5000]).unwrap();
        file.set_len(1 << 20).unwrap();
        let zeros_to = extend(&file, 0).unwrap();
        assert!(
            (5000 + PIECE as u64..70_000 + PIECE as u64).contains(&zeros_to),
            "from the end of a block: {zeros_to}"
        );
        let mut found = [0; 5001];
        file.read_exact_at(&mut found, 0).unwrap();
        assert_eq!(found.iter().filter(|&&byte| byte == 7).count(), 5000);
        let mut at = zeros_to;
        while at < 1 << 20 {
            at = extend(&file, at).unwrap();
        }
        assert_eq!((at, extend(&file, at).unwrap(), file.metadata().unwrap().len()), (1 << 20, 1 << 20, 1 << 20));
    }
}
