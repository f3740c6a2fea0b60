//! The watermark: the durable end of the journal, stored in a separate file.
//!
//! fjall ends its replay silently at the first journal entry that it cannot read. That is correct for a tail that was
//! never synced and wrong for anything before. The watermark records how far the journal was durable when the file was
//! last written. Damage before that point is reported (`open/recovery.rs`); damage after it is a torn tail. The file
//! also reserves commit numbers and keyspace ids, so that none is reused after a crash.
//!
//! ```text
//!   two copies, 4096 bytes apart, the one with the larger sequence counts:
//!     0  "BENNUWM2"    8  sequence          16  commit ceiling    24  last stamp (ms)
//!    32  journal      40  durable bytes     48  durable commit    56  keyspace ceiling
//!    64  marked from  72  last number + 1   80  xxh3 of bytes 0..80
//! ```
//! "BENNUWM1" ends with the durable commit and its checksum.
//! All numbers are big-endian. Each write overwrites the older copy and syncs, so a torn write loses one update and not
//! the file. `docs/formats/store-meta.md`.

use crate::error::io;
use crate::open::folder::sync_folder;
use crate::seam::{Mutex, files};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{CommitNo, StoreError, StoreResult, Timestamp};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"BENNUWM2";
const FIELDS: usize = 9;
/// The previous version of the format.
const MAGIC_1: &[u8; 8] = b"BENNUWM1";
const FIELDS_1: usize = 6;
const COPY_DISTANCE: u64 = 4096;
/// Commit numbers reserved at a time: the file is synced once per this many commits.
const RESERVE: u64 = 1 << 20;
/// The value of `marked_from` if no journal has marks.
const NO_MARKS: u64 = u64::MAX;
/// Keyspace ids reserved at a time.
const RESERVE_KEYSPACES: u64 = 64;

/// The content of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Number of writes of the file.
    sequence: u64,
    /// All commit numbers are below this.
    pub(crate) commit_ceiling: u64,
    /// The largest stamp at the time of writing.
    pub(crate) last_stamp: u64,
    /// The active journal at the time of writing.
    pub(crate) journal: u64,
    /// Length of its durable part. All earlier journals were durable.
    pub(crate) journal_bytes: u64,
    /// A durable commit.
    pub(crate) durable_commit: u64,
    /// All keyspace ids ever used are below this.
    pub(crate) keyspace_ceiling: u64,
    /// From this journal on, gaps between sequence numbers have marks (`journal/seqno_chain.rs`).
    pub(crate) marked_from: u64,
    /// The sequence number of the last batch in the durable bytes.
    pub(crate) last_seqno: Option<u64>,
}

/// The open file.
#[derive(Debug)]
pub(crate) struct Watermark {
    file: File,
    /// The content last written. Held while the file is written and synced, which only reservations (rare) and the
    /// housekeeper do.
    mark: Mutex<Mark>,
    /// Copy of the commit ceiling, read by commits without the lock.
    ceiling: AtomicU64,
    /// The largest stamp assigned.
    last_stamp: AtomicU64,
}

impl Watermark {
    /// Opens the file, or creates it for a `fresh` store.
    ///
    /// # Errors
    /// I/O failures; [`StoreError::Corrupted`] if the file is missing or neither copy is valid.
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

    /// The content of the file.
    pub(crate) fn mark(&self) -> Mark {
        *self.mark.lock()
    }

    /// Ensures that `commit` is below the ceiling on disk.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn reserve(&self, commit: CommitNo) -> StoreResult<()> {
        if commit.0 < self.ceiling.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.raise_ceiling(commit)
    }

    /// Takes the maximum, because a large commit may have raised the ceiling further in the meantime.
    fn raise_ceiling(&self, commit: CommitNo) -> StoreResult<()> {
        self.update(|mark| mark.commit_ceiling = mark.commit_ceiling.max(commit.0 + RESERVE))
    }

    /// Ensures that a new keyspace's id is below the ceiling on disk. Must be called before the keyspace is used.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn reserve_keyspace_id(&self, id: u64) -> StoreResult<()> {
        if id < self.mark().keyspace_ceiling {
            return Ok(());
        }
        self.update(|mark| mark.keyspace_ceiling = mark.keyspace_ceiling.max(id + RESERVE_KEYSPACES))
    }

    /// Records that the journals after `journal` have marks, unless that was recorded.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn marks_begin_behind(&self, journal: u64) -> StoreResult<()> {
        if self.mark().marked_from != NO_MARKS {
            return Ok(());
        }
        self.update(|mark| mark.marked_from = journal + 1)
    }

    /// Records the largest stamp; it is written with the next update.
    pub(crate) fn stamped(&self, stamp: Timestamp) {
        self.last_stamp.fetch_max(stamp.0, Ordering::Relaxed);
    }

    /// Records the durable part of the journal.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn advance(
        &self,
        journal: u64,
        journal_bytes: u64,
        last_seqno: Option<u64>,
        durable: CommitNo,
    ) -> StoreResult<()> {
        self.update(|mark| {
            mark.last_seqno = last_seqno;
            mark.journal = journal;
            mark.journal_bytes = journal_bytes;
            mark.durable_commit = durable.0;
        })
    }

    /// Ends the reservation at a clean close: the next open continues with the next number.
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
        let written = self.file.write_all_at(&encode(&next), offset).and_then(|()| files::sync_all(&self.file));
        written.map_err(io("writing the watermark"))?;
        self.ceiling.store(next.commit_ceiling, Ordering::Relaxed);
        *current = next;
        Ok(())
    }
}

fn encode(mark: &Mark) -> Vec<u8> {
    let fields: [u64; FIELDS] = [
        mark.sequence,
        mark.commit_ceiling,
        mark.last_stamp,
        mark.journal,
        mark.journal_bytes,
        mark.durable_commit,
        mark.keyspace_ceiling,
        mark.marked_from,
        mark.last_seqno.map_or(0, |seqno| seqno.saturating_add(1)),
    ];
    let mut bytes = MAGIC.to_vec();
    for field in fields {
        bytes.extend_from_slice(&field.to_be_bytes());
    }
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_be_bytes());
    bytes
}

/// Decodes the copy at the start of `bytes`.
fn decode(bytes: &[u8]) -> Option<Mark> {
    let (magic, rest) = bytes.split_first_chunk::<8>()?;
    let fields = match magic {
        MAGIC => FIELDS,
        MAGIC_1 => FIELDS_1,
        _ => return None,
    };
    let (head, checksum) = bytes.split_at_checked(magic.len() + 8 * fields)?;
    if xxh3_64(head) != u64::from_be_bytes(*checksum.first_chunk()?) {
        return None;
    }
    let mut values =
        rest.chunks_exact(8).take(fields).filter_map(|chunk| chunk.try_into().ok().map(u64::from_be_bytes));
    Some(Mark {
        sequence: values.next()?,
        commit_ceiling: values.next()?,
        last_stamp: values.next()?,
        journal: values.next()?,
        journal_bytes: values.next()?,
        durable_commit: values.next()?,
        keyspace_ceiling: values.next().unwrap_or(0),
        marked_from: values.next().unwrap_or(NO_MARKS),
        last_seqno: values.next().and_then(|next| next.checked_sub(1)),
    })
}

/// Reads the content of the file; `None` if it is missing or has no valid copy.
///
/// # Errors
/// I/O failures.
pub(crate) fn peek(path: &Path) -> StoreResult<Option<Mark>> {
    match File::open(path) {
        Ok(file) => read_copies(&file, path),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io(format!("opening {}", path.display()))(error)),
    }
}

fn read(file: &File, path: &Path) -> StoreResult<Mark> {
    let mark = read_copies(file, path)?;
    mark.ok_or_else(|| StoreError::Corrupted { detail: format!("{} holds no whole copy", path.display()) })
}

fn read_copies(file: &File, path: &Path) -> StoreResult<Option<Mark>> {
    let mut bytes = Vec::new();
    let limit = 2 * COPY_DISTANCE;
    file.take(limit).read_to_end(&mut bytes).map_err(io(format!("reading {}", path.display())))?;
    let (first, second) = bytes.split_at_checked(COPY_DISTANCE as usize).unwrap_or((&bytes, &[]));
    Ok([first, second].into_iter().filter_map(decode).max_by_key(|mark| mark.sequence))
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
        watermark.advance(3, 1000, Some(70), CommitNo(7)).unwrap();
        let before = watermark.mark();
        watermark.advance(3, 2000, None, CommitNo(9)).unwrap();
        let newest = watermark.mark();
        assert_eq!(Watermark::open(&path, false).unwrap().mark(), newest);
        watermark.file.write_all_at(&[0xAA], (newest.sequence % 2) * COPY_DISTANCE + 20).unwrap();
        assert_eq!(Watermark::open(&path, false).unwrap().mark(), before);
        watermark.file.write_all_at(&[0xAA], (before.sequence % 2) * COPY_DISTANCE + 20).unwrap();
        assert!(matches!(Watermark::open(&path, false), Err(StoreError::Corrupted { .. })));
    }

    #[test]
    fn a_commit_that_comes_late_with_its_number_takes_none_back_from_a_large_one() {
        let folder = tempfile::tempdir().unwrap();
        let watermark = Watermark::open(&folder.path().join("watermark"), true).unwrap();
        watermark.reserve(CommitNo(1 << 28)).unwrap();
        let reserved = watermark.mark().commit_ceiling;
        // As if it had read the ceiling before the large commit.
        watermark.raise_ceiling(CommitNo(1)).unwrap();
        assert_eq!(watermark.mark().commit_ceiling, reserved);
    }

    /// The format of version 1.
    fn version_1(mark: &Mark) -> Vec<u8> {
        let fields = [mark.sequence, mark.commit_ceiling, mark.last_stamp, mark.journal, mark.journal_bytes];
        let mut bytes = MAGIC_1.to_vec();
        fields.iter().chain([&mark.durable_commit]).for_each(|field| bytes.extend_from_slice(&field.to_be_bytes()));
        let checksum = xxh3_64(&bytes);
        bytes.extend_from_slice(&checksum.to_be_bytes());
        bytes
    }

    #[test]
    fn a_file_of_the_version_before_is_read_and_written_in_this_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("watermark");
        let old = Mark { sequence: 9, commit_ceiling: 100, journal: 3, marked_from: NO_MARKS, ..Mark::default() };
        let mut bytes = version_1(&Mark { sequence: 8, ..old });
        bytes.resize(COPY_DISTANCE as usize, 0);
        bytes.extend(version_1(&old));
        std::fs::write(&path, bytes).unwrap();
        let watermark = Watermark::open(&path, false).unwrap();
        assert_eq!(watermark.mark(), old);
        watermark.reserve_keyspace_id(5).unwrap();
        watermark.marks_begin_behind(3).unwrap();
        watermark.marks_begin_behind(8).unwrap();
        let new = Mark { sequence: 11, keyspace_ceiling: 5 + RESERVE_KEYSPACES, marked_from: 4, ..old };
        assert_eq!(Watermark::open(&path, false).unwrap().mark(), new);
    }

    #[test]
    fn keyspace_ids_are_reserved_in_groups() {
        let folder = tempfile::tempdir().unwrap();
        let watermark = Watermark::open(&folder.path().join("watermark"), true).unwrap();
        for (id, ceiling) in [(1, 65), (2, 65), (64, 65), (65, 129), (7, 129)] {
            watermark.reserve_keyspace_id(id).unwrap();
            assert_eq!(watermark.mark().keyspace_ceiling, ceiling, "after {id}");
        }
    }

    #[test]
    fn numbers_reserved_before_a_crash_are_not_given_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("watermark");
        Watermark::open(&path, true).unwrap().reserve(CommitNo(1)).unwrap();
        assert_eq!(Watermark::open(&path, false).unwrap().mark().commit_ceiling, 1 + RESERVE);
    }
}
