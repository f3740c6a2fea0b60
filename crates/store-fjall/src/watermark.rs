//! What is known to be durable, kept apart from the journal that it vouches for.
//!
//! fjall ends its replay silently at the first journal entry it cannot read. That is right for a tail
//! that was never synced and wrong for anything before. So a small file says how far the journal was
//! durable when the file was last written; damage before that point is refused by name
//! (`recovery.rs`), damage after it is a torn tail. The file also reserves commit numbers, so that a
//! number is never used again after a crash.
//!
//! ```text
//!   two copies, 4096 bytes apart, the one with the larger sequence counts:
//!     0  "BENNUWM1"    8  sequence          16  commit ceiling   24  last stamp (ms)
//!    32  journal      40  durable bytes     48  durable commit   56  xxh3 of bytes 0..56
//! ```
//! All numbers are big-endian. Each write overwrites the older copy and syncs, so a torn write loses
//! one update and not the file. `docs/formats/store-meta.md`.

use crate::error::io;
use crate::folder::sync_folder;
use parking_lot::Mutex;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{CommitNo, StoreError, StoreResult, Timestamp};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"BENNUWM1";
const COPY_LEN: usize = 64;
const COPY_DISTANCE: u64 = 4096;
/// Commit numbers reserved at a time: one sync of this file every so many commits.
const RESERVE: u64 = 1 << 20;

/// What the file says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Counts the writes of the file.
    sequence: u64,
    /// No commit has this number or a larger one.
    pub(crate) commit_ceiling: u64,
    /// No stamp was larger when this was written.
    pub(crate) last_stamp: u64,
    /// The journal that was active.
    pub(crate) journal: u64,
    /// How many of its first bytes were durable. All earlier journals were durable whole.
    pub(crate) journal_bytes: u64,
    /// A commit that was durable.
    pub(crate) durable_commit: u64,
}

/// The open file.
#[derive(Debug)]
pub(crate) struct Watermark {
    file: File,
    /// What was written last. Held while the file is written and synced: only reservations (rare) and
    /// the housekeeper do that.
    mark: Mutex<Mark>,
    /// Copy of the ceiling, so that a commit need not take the lock.
    ceiling: AtomicU64,
    /// The largest stamp given.
    last_stamp: AtomicU64,
}

impl Watermark {
    /// Opens the file, or makes it for a `fresh` store.
    ///
    /// # Errors
    /// I/O failures; [`StoreError::Corrupted`] when it is missing or neither copy is whole.
    pub(crate) fn open(path: &Path, fresh: bool) -> StoreResult<Self> {
        let doing = || io(format!("opening {}", path.display()));
        if !fresh && !path.try_exists().map_err(doing())? {
            return Err(StoreError::Corrupted { detail: format!("{} is missing", path.display()) });
        }
        let file = File::options().create(true).truncate(fresh).read(true).write(true).open(path).map_err(doing())?;
        let mark = if fresh { Mark::default() } else { read(&file, path)? };
        let watermark = Self {
            file,
            ceiling: AtomicU64::new(mark.commit_ceiling),
            last_stamp: AtomicU64::new(mark.last_stamp),
            mark: Mutex::new(mark),
        };
        if fresh {
            watermark.update(|_| {})?;
            path.parent().map_or(Ok(()), sync_folder)?;
        }
        Ok(watermark)
    }

    /// What the file says.
    pub(crate) fn mark(&self) -> Mark {
        *self.mark.lock()
    }

    /// Makes sure that `commit` lies below the ceiling on disk.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn reserve(&self, commit: CommitNo) -> StoreResult<()> {
        if commit.0 < self.ceiling.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.update(|mark| mark.commit_ceiling = commit.0 + RESERVE)
    }

    /// Remembers the largest stamp; it is written with the next update.
    pub(crate) fn stamped(&self, stamp: Timestamp) {
        self.last_stamp.fetch_max(stamp.0, Ordering::Relaxed);
    }

    /// Records how far the journal is durable.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn advance(&self, journal: u64, journal_bytes: u64, durable: CommitNo) -> StoreResult<()> {
        self.update(|mark| {
            mark.journal = journal;
            mark.journal_bytes = journal_bytes;
            mark.durable_commit = durable.0;
        })
    }

    /// At a clean end: the next open goes on with the next number.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn release(&self, last: CommitNo) -> StoreResult<()> {
        self.update(|mark| mark.commit_ceiling = last.0 + 1)
    }

    fn update(&self, change: impl FnOnce(&mut Mark)) -> StoreResult<()> {
        let mut current = self.mark.lock();
        let mut next = *current;
        change(&mut next);
        next.sequence += 1;
        next.last_stamp = self.last_stamp.load(Ordering::Relaxed);
        let offset = (next.sequence % 2) * COPY_DISTANCE;
        let written = self.file.write_all_at(&encode(&next), offset).and_then(|()| self.file.sync_all());
        written.map_err(io("writing the watermark"))?;
        self.ceiling.store(next.commit_ceiling, Ordering::Relaxed);
        *current = next;
        Ok(())
    }
}

fn encode(mark: &Mark) -> Vec<u8> {
    let fields =
        [mark.sequence, mark.commit_ceiling, mark.last_stamp, mark.journal, mark.journal_bytes, mark.durable_commit];
    let mut bytes = MAGIC.to_vec();
    for field in fields {
        bytes.extend_from_slice(&field.to_be_bytes());
    }
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_be_bytes());
    bytes
}

fn decode(bytes: &[u8; COPY_LEN]) -> Option<Mark> {
    let (head, checksum) = bytes.split_last_chunk::<8>()?;
    if !head.starts_with(MAGIC) || xxh3_64(head) != u64::from_be_bytes(*checksum) {
        return None;
    }
    let field = |index: usize| {
        let start = MAGIC.len() + 8 * index;
        head.get(start..start + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes)
    };
    Some(Mark {
        sequence: field(0)?,
        commit_ceiling: field(1)?,
        last_stamp: field(2)?,
        journal: field(3)?,
        journal_bytes: field(4)?,
        durable_commit: field(5)?,
    })
}

fn read(file: &File, path: &Path) -> StoreResult<Mark> {
    let mut best: Option<Mark> = None;
    for copy in 0..2 {
        let mut bytes = [0; COPY_LEN];
        // A copy that was never written lies beyond the end of the file.
        if file.read_exact_at(&mut bytes, copy * COPY_DISTANCE).is_ok()
            && let Some(mark) = decode(&bytes)
            && best.is_none_or(|best| best.sequence < mark.sequence)
        {
            best = Some(mark);
        }
    }
    best.ok_or_else(|| StoreError::Corrupted { detail: format!("{} holds no whole copy", path.display()) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_update_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("watermark");
        let watermark = Watermark::open(&path, true).unwrap();
        watermark.advance(3, 1000, CommitNo(7)).unwrap();
        let before = watermark.mark();
        watermark.advance(3, 2000, CommitNo(9)).unwrap();
        let newest = watermark.mark();
        assert_eq!(Watermark::open(&path, false).unwrap().mark(), newest);
        watermark.file.write_all_at(&[0xAA], (newest.sequence % 2) * COPY_DISTANCE + 20).unwrap();
        assert_eq!(Watermark::open(&path, false).unwrap().mark(), before);
        watermark.file.write_all_at(&[0xAA], (before.sequence % 2) * COPY_DISTANCE + 20).unwrap();
        assert!(matches!(Watermark::open(&path, false), Err(StoreError::Corrupted { .. })));
    }

    #[test]
    fn numbers_reserved_before_a_crash_are_not_given_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("watermark");
        Watermark::open(&path, true).unwrap().reserve(CommitNo(1)).unwrap();
        assert_eq!(Watermark::open(&path, false).unwrap().mark().commit_ceiling, 1 + RESERVE);
    }
}
