//! Excludes rows of the journals from fjall's replay.
//!
//! fjall (3.1.13) skips a row in the replay if its sequence number is not above the largest in the tables of its
//! keyspace. A large commit deletes rows without the journal, and a compaction may drop its tombstones together with
//! the deleted rows. Then the largest number in the tables is an older one, and the replay would write rows of the
//! journal again, including deleted ones.
//!
//! ```text
//!   large commit with deletions     flush the keyspace; floor = next sequence number, durably; then the commit
//!   opening                         rows of that keyspace below its floor get an unused keyspace id; floors deleted
//! ```
//! So a floor says that the tables contained everything below it, whether or not its commit was made. The file
//! (`replay_floors`): `"BENNURF1"`, then keyspace and floor of each entry, then the xxh3 of all bytes before; numbers
//! are big-endian.

use crate::commit::journal_file::{journal_ids, journal_path};
use crate::error::{io, storage};
use crate::journal::reader::exclude_from_replay;
use crate::open::folder::{Folder, sync_folder};
use crate::seam::{Mutex, files};
use fjall::{AbstractTree, Keyspace};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use store::{StoreError, StoreResult};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"BENNURF1";

/// Floors by keyspace id.
type Floors = BTreeMap<u64, u64>;

/// The floors since the store was opened.
#[derive(Debug)]
pub(crate) struct ReplayFloors {
    folder: PathBuf,
    /// Held while the file is written, by one large commit at a time.
    floors: Mutex<Floors>,
}

impl ReplayFloors {
    /// Excludes the rows below the folder's floors from the journals, then deletes the floors. Must be called before
    /// fjall reads the journals and after they were verified.
    ///
    /// # Errors
    /// I/O failures; [`StoreError::Corrupted`] for a damaged file.
    pub(crate) fn open(folder: &Folder) -> StoreResult<Self> {
        let path = folder.path().to_owned();
        let floors = read(&path)?;
        if !floors.is_empty() {
            let database = folder.database();
            for id in journal_ids(&database)? {
                clean(&journal_path(&database, id), &path, &floors)?;
            }
            sync_folder(&database)?;
            write(&path, &Floors::new())?;
        }
        Ok(Self { folder: path, floors: Mutex::default() })
    }

    /// Flushes these keyspaces and sets their floor to `next`, before rows are deleted there. The caller holds the
    /// commit lock and has synced the journal.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn raise<'k>(&self, keyspaces: impl Iterator<Item = &'k Keyspace>, next: u64) -> StoreResult<()> {
        let mut floors = self.floors.lock();
        let mut raised = floors.clone();
        for keyspace in keyspaces {
            flush(keyspace)?;
            raised.insert(keyspace.id(), next);
        }
        if *floors != raised {
            write(&self.folder, &raised)?;
            *floors = raised;
        }
        Ok(())
    }
}

/// As lsm-tree does at the end of an ingestion.
fn flush(keyspace: &Keyspace) -> StoreResult<()> {
    let lock = keyspace.tree.get_flush_lock();
    keyspace.tree.rotate_memtable();
    keyspace.tree.flush(&lock, 0).map(drop).map_err(|error| storage("flushing")(&error))
}

fn name(folder: &Path) -> PathBuf {
    folder.join("replay_floors")
}

fn read(folder: &Path) -> StoreResult<Floors> {
    let path = name(folder);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Floors::new()),
        Err(error) => return Err(io(format!("reading {}", path.display()))(error)),
    };
    decode(&bytes).ok_or_else(|| StoreError::Corrupted { detail: format!("{} is damaged", path.display()) })
}

fn decode(bytes: &[u8]) -> Option<Floors> {
    let (body, checksum) = bytes.split_last_chunk::<8>()?;
    let numbers = body.strip_prefix(MAGIC)?;
    let number = |bytes: &[u8]| Some(u64::from_be_bytes(*bytes.first_chunk()?));
    if xxh3_64(body) != u64::from_be_bytes(*checksum) {
        return None;
    }
    numbers.chunks(16).map(|pair| Some((number(pair)?, number(pair.get(8..)?)?))).collect()
}

fn encode(floors: &Floors) -> Vec<u8> {
    let numbers = floors.iter().flat_map(|(keyspace, floor)| [keyspace.to_be_bytes(), floor.to_be_bytes()]).flatten();
    let mut bytes: Vec<u8> = MAGIC.iter().copied().chain(numbers).collect();
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_be_bytes());
    bytes
}

fn write(folder: &Path, floors: &Floors) -> StoreResult<()> {
    replace(&name(folder), &folder.join("replay_floors.new"), &encode(floors))?;
    sync_folder(folder)
}

/// Replaces a file atomically; the caller syncs the folder.
fn replace(path: &Path, new: &Path, bytes: &[u8]) -> StoreResult<()> {
    let doing = || io(format!("writing {}", path.display()));
    let mut file = File::create(new).map_err(doing())?;
    file.write_all(bytes).map_err(doing())?;
    files::sync_all(&file).map_err(doing())?;
    fs::rename(new, path).map_err(doing())
}

/// Excludes the rows below the floors from a journal.
fn clean(journal: &Path, folder: &Path, floors: &Floors) -> StoreResult<()> {
    let mut bytes = fs::read(journal).map_err(io(format!("reading {}", journal.display())))?;
    let is_below = |keyspace: u64, seqno: u64| floors.get(&keyspace).is_some_and(|floor| seqno < *floor);
    match exclude_from_replay(&mut bytes, is_below) {
        0 => Ok(()),
        rows => {
            tracing::info!(journal = %journal.display(), rows, "rows of the journal are in tables, or were deleted there");
            replace(journal, &folder.join("journal.new"), &bytes)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).unwrap().is_empty());
        let floors = Floors::from([(2, 70), (9, 1 << 40)]);
        write(folder.path(), &floors).unwrap();
        assert_eq!(read(folder.path()).unwrap(), floors);
        let bytes = fs::read(name(folder.path())).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            *damaged.get_mut(at).unwrap() ^= 4;
            fs::write(name(folder.path()), &damaged).unwrap();
            assert!(matches!(read(folder.path()), Err(StoreError::Corrupted { .. })), "byte {at}");
            fs::write(name(folder.path()), bytes.get(..at).unwrap()).unwrap();
            assert!(matches!(read(folder.path()), Err(StoreError::Corrupted { .. })), "cut at {at}");
        }
    }
}
