//! The manifests of keyspaces, checked before anybody trusts them.
//!
//! ```text
//!   keyspaces/7/current   version:u64  xxh3 of the manifest:u128  type of the checksum:u8 (0)     little-endian
//!   keyspaces/7/v12       the manifest: levels, tables, their sequence numbers
//! ```
//! lsm-tree 3.1.10 writes the checksum and does not read it: with one bit of a manifest flipped, a table's rows come
//! out older than they are, or a length is believed that no memory can hold, which ends the process.

use crate::error::io;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use store::{StoreError, StoreResult};
use xxhash_rust::xxh3::xxh3_128;

const CURRENT: &str = "current";

/// Checks the manifest of every keyspace that has one.
///
/// # Errors
/// [`StoreError::Corrupted`], naming the file; I/O failures.
pub(crate) fn check(database: &Path) -> StoreResult<()> {
    let keyspaces = database.join("keyspaces");
    let listing = || io(format!("listing {}", keyspaces.display()));
    let entries = match fs::read_dir(&keyspaces) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(listing())?,
    };
    for entry in entries {
        check_one(&entry.map_err(listing())?.path())?;
    }
    Ok(())
}

/// Files that are missing are for others to judge: a keyspace may have been deleted by half.
fn check_one(folder: &Path) -> StoreResult<()> {
    let current = folder.join(CURRENT);
    let Some(told) = read(&current)? else { return Ok(()) };
    let damaged = |path: &Path, what: &str| StoreError::Corrupted { detail: format!("{}: {what}", path.display()) };
    let Some((version, checksum)) = parse(&told) else {
        return Err(damaged(&current, "it is not the name and checksum of a manifest"));
    };
    let path = folder.join(format!("v{version}"));
    match read(&path)? {
        Some(manifest) if xxh3_128(&manifest) != checksum => {
            Err(damaged(&path, "its bytes do not match their checksum in \"current\""))
        }
        _ => Ok(()),
    }
}

fn parse(told: &[u8]) -> Option<(u64, u128)> {
    let (version, rest) = told.split_first_chunk()?;
    let (checksum, kind) = rest.split_first_chunk()?;
    (kind == [0]).then_some((u64::from_le_bytes(*version), u128::from_le_bytes(*checksum)))
}

fn read(path: &Path) -> StoreResult<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(io(format!("reading {}", path.display()))(error)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use fjall::Database;

    #[test]
    fn every_bit_of_a_manifest_and_of_its_name_counts() {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::builder(folder.path()).open().unwrap();
        let keyspace = db.keyspace("k", Default::default).unwrap();
        keyspace.insert("a", "1").unwrap();
        keyspace.rotate_memtable_and_wait().unwrap();
        let path = keyspace.path().to_owned();
        drop((keyspace, db));
        check(folder.path()).unwrap();
        let (version, _) = parse(&fs::read(path.join(CURRENT)).unwrap()).unwrap();
        for file in [path.join(format!("v{version}")), path.join(CURRENT)] {
            let whole = fs::read(&file).unwrap();
            // Another version in `current` names a manifest that is not there: fjall refuses that.
            let first = if file.ends_with(CURRENT) { 8 } else { 0 };
            for at in (first * 8..whole.len() * 8).step_by(3) {
                let mut flipped = whole.clone();
                flipped[at / 8] ^= 1 << (at % 8);
                fs::write(&file, flipped).unwrap();
                assert!(
                    matches!(check(folder.path()), Err(StoreError::Corrupted { .. })),
                    "{} bit {at}",
                    file.display()
                );
            }
            fs::write(&file, whole).unwrap();
        }
        check(folder.path()).unwrap();
    }

    #[test]
    fn what_is_missing_is_not_judged() {
        let folder = tempfile::tempdir().unwrap();
        check(folder.path()).unwrap();
        fs::create_dir_all(folder.path().join("keyspaces/3")).unwrap();
        check(folder.path()).unwrap();
    }
}
