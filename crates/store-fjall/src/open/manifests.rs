//! Verifies the manifests of keyspaces and the tables of contents of their table files before they are used.
//!
//! ```text
//!   keyspaces/7/current    version:u64  xxh3 of the manifest:u128  type of the checksum:u8 (0)     little-endian
//!   keyspaces/7/v12        the manifest: an archive. Its section "tables":
//!                          levels:u8  each { runs:u8  each { tables:u32  each { number:u64  25 bytes of checksum and sequence number } } }
//!   keyspaces/7/tables/5   a table: an archive
//! ```
//! lsm-tree 3.1.10 writes the checksum but does not read it. With one flipped bit in a manifest, rows of a table could
//! appear older than they are, or a length could exceed any memory, which ends the process. The same holds for the
//! table of contents of a table (`open/archive.rs`). Table files that no manifest refers to are remains of a crash;
//! fjall deletes them unread.

use crate::error::io;
use crate::open::archive::Contents;
use std::fs::{self, File};
use std::io::{Cursor, ErrorKind};
use std::path::Path;
use store::{StoreError, StoreResult};
use xxhash_rust::xxh3::xxh3_128;

const CURRENT: &str = "current";

/// Verifies the manifest of every keyspace that has one, and the tables of contents of its tables.
///
/// # Errors
/// [`StoreError::Corrupted`] with the name of the file; I/O failures.
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

/// Ignores missing files: the keyspace may be partly deleted, and other checks decide.
fn check_one(folder: &Path) -> StoreResult<()> {
    let current = folder.join(CURRENT);
    let Some(told) = read(&current)? else { return Ok(()) };
    let Some((version, checksum)) = parse(&told) else {
        return Err(damaged(&current, "it is not the name and checksum of a manifest"));
    };
    let path = folder.join(format!("v{version}"));
    let Some(manifest) = read(&path)? else { return Ok(()) };
    if xxh3_128(&manifest) != checksum {
        return Err(damaged(&path, "its bytes do not match their checksum in \"current\""));
    }
    let contents = Contents::read(&mut Cursor::new(&manifest)).map_err(io(format!("reading {}", path.display())))?;
    let tables = contents.and_then(|contents| manifest.get(contents.section(b"tables")?)).and_then(numbers_of_tables);
    let Some(tables) = tables else { return Err(damaged(&path, "it does not name its tables")) };
    check_tables(folder, tables)
}

fn check_tables(folder: &Path, numbers: Vec<u64>) -> StoreResult<()> {
    for number in numbers {
        let table = folder.join("tables").join(number.to_string());
        let file = match File::open(&table) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            file => file.map_err(io(format!("opening {}", table.display())))?,
        };
        if Contents::read(&mut &file).map_err(io(format!("reading {}", table.display())))?.is_none() {
            return Err(damaged(&table, "its table of contents does not match its checksum"));
        }
    }
    Ok(())
}

fn damaged(path: &Path, what: &str) -> StoreError {
    StoreError::Corrupted { detail: format!("{}: {what}", path.display()) }
}

/// The numbers of the tables in a manifest's section.
fn numbers_of_tables(mut section: &[u8]) -> Option<Vec<u64>> {
    const BEHIND_NUMBER: usize = 25;
    let mut numbers = Vec::new();
    let levels = section.split_off_first()?;
    for _ in 0..*levels {
        let runs = section.split_off_first()?;
        for _ in 0..*runs {
            let (tables, rest) = section.split_first_chunk()?;
            section = rest;
            for _ in 0..u32::from_le_bytes(*tables) {
                let (number, rest) = section.split_first_chunk()?;
                section = rest.get(BEHIND_NUMBER..)?;
                numbers.push(u64::from_le_bytes(*number));
            }
        }
    }
    Some(numbers)
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
            // Another version in `current` refers to a missing manifest, which fjall refuses.
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
    fn every_bit_of_the_contents_of_a_table_counts_if_a_manifest_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::builder(folder.path()).open().unwrap();
        let keyspace = db.keyspace("k", Default::default).unwrap();
        keyspace.insert("a", "1").unwrap();
        keyspace.rotate_memtable_and_wait().unwrap();
        let tables = keyspace.path().join("tables");
        drop((keyspace, db));
        let file = fs::read_dir(&tables).unwrap().next().unwrap().unwrap().path();
        let whole = fs::read(&file).unwrap();
        let start = whole.windows(4).rposition(|bytes| bytes == b"TOC!").unwrap();
        // The length in the last eight bytes is not read.
        for at in start * 8..(whole.len() - 8) * 8 {
            let mut flipped = whole.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            fs::write(&file, flipped).unwrap();
            assert!(matches!(check(folder.path()), Err(StoreError::Corrupted { .. })), "bit {at}");
        }
        fs::write(&file, &whole).unwrap();
        fs::write(tables.join("77"), "what a crash left").unwrap();
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
