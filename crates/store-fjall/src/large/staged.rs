//! Stages the rows of a commit in a file, in case of a crash between the installations in two keyspaces.
//!
//! ```text
//!   file    "BENNUSR1"  chunk  chunk ... chunk of length 0
//!   chunk   length:u32  xxh3 of the rows:u64  rows                                     all numbers big-endian
//!   row     keyspace:u16  kind:u8 (0 deleted, 1 written)  key len:u32  value len:u32  key  value
//! ```
//! Rows are sorted by keyspace (an index in the list of the intent), then by key. Format: `docs/formats/store-meta.md`.

use crate::error::io;
use crate::open::folder::sync_folder;
use crate::seam::files;
use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use store::{CommitNo, StoreError, StoreResult};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"BENNUSR1";
const CHUNK: usize = 256 << 10;
/// Bytes between two syncs of the file.
const UNSYNCED_BYTES: usize = 16 << 20;
const ROW_HEAD: usize = 11;

/// A staged file that is being written. Dropping it deletes the file, unless an intent refers to it.
pub(super) struct StagedFile {
    path: PathBuf,
    name: String,
    file: File,
    chunk: Vec<u8>,
    keyspace: u16,
    unsynced: usize,
    keep: bool,
}

/// A staged row: index of the keyspace, key, and value unless the row is deleted.
pub(super) type StagedRow = (usize, Vec<u8>, Option<Vec<u8>>);

impl StagedFile {
    /// Creates the file. Its name is unique, because commit numbers are never reused.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn create(folder: &Path, commit: CommitNo) -> StoreResult<Self> {
        if !folder.exists() {
            fs::create_dir_all(folder).map_err(io(format_args!("creating {}", folder.display())))?;
            folder.parent().map_or(Ok(()), sync_folder)?;
        }
        let name = commit.0.to_string();
        let path = folder.join(&name);
        let file = File::create(&path).map_err(io(format_args!("creating {}", path.display())))?;
        let (chunk, keep) = (Vec::with_capacity(CHUNK), false);
        let mut staged = Self { path, name, file, chunk, keyspace: 0, unsynced: 0, keep };
        staged.put(MAGIC)?;
        Ok(staged)
    }

    /// Selects the keyspace of the following rows.
    pub(super) fn begin(&mut self, keyspace: usize) {
        self.keyspace = keyspace as u16;
    }

    /// # Errors
    /// I/O failures.
    pub(super) fn push(&mut self, key: &[u8], value: Option<&[u8]>) -> StoreResult<()> {
        self.chunk.extend_from_slice(&self.keyspace.to_be_bytes());
        self.chunk.push(u8::from(value.is_some()));
        self.chunk.extend_from_slice(&(key.len() as u32).to_be_bytes());
        self.chunk.extend_from_slice(&(value.map_or(0, <[u8]>::len) as u32).to_be_bytes());
        self.chunk.extend_from_slice(key);
        self.chunk.extend_from_slice(value.unwrap_or_default());
        if self.chunk.len() >= CHUNK { self.end_chunk() } else { Ok(()) }
    }

    /// Ends the file and makes it durable, including its name.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn end(&mut self) -> StoreResult<()> {
        if !self.chunk.is_empty() {
            self.end_chunk()?;
        }
        self.end_chunk()?;
        files::sync_all(&self.file).map_err(io(format_args!("syncing {}", self.path.display())))?;
        self.path.parent().map_or(Ok(()), sync_folder)
    }

    /// The name of the file in its folder.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Keeps the file on drop, because an intent is about to refer to it, until [`Self::delete`].
    pub(super) fn keep(&mut self) {
        self.keep = true;
    }

    /// Deletes the file: the commit is complete without it.
    pub(super) fn delete(mut self) {
        self.keep = false;
    }

    fn end_chunk(&mut self) -> StoreResult<()> {
        let mut head = (self.chunk.len() as u32).to_be_bytes().to_vec();
        head.extend_from_slice(&xxh3_64(&self.chunk).to_be_bytes());
        let chunk = std::mem::take(&mut self.chunk);
        self.put(&head)?;
        self.put(&chunk)?;
        self.chunk = chunk;
        self.chunk.clear();
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> StoreResult<()> {
        let doing = || io(format!("writing {}", self.path.display()));
        self.file.write_all(bytes).map_err(doing())?;
        self.unsynced += bytes.len();
        if self.unsynced >= UNSYNCED_BYTES {
            self.unsynced = 0;
            // Synced in pieces, because one large sync would delay those of the journal.
            files::sync_data(&self.file).map_err(doing())?;
        }
        Ok(())
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.keep {
            // If this fails, the next open deletes the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Reads a complete staged file.
pub(super) struct StagedRows {
    path: PathBuf,
    input: BufReader<File>,
    chunk: Vec<u8>,
    at: usize,
    ended: bool,
}

impl StagedRows {
    /// # Errors
    /// I/O failures; [`StoreError::Corrupted`] for another kind of file.
    pub(super) fn open(path: &Path) -> StoreResult<Self> {
        let file = File::open(path).map_err(io(format_args!("reading {}", path.display())))?;
        let mut rows =
            Self { path: path.to_owned(), input: BufReader::new(file), chunk: Vec::new(), at: 0, ended: false };
        let mut magic = [0; MAGIC.len()];
        rows.fill(&mut magic)?;
        if &magic == MAGIC { Ok(rows) } else { Err(rows.damaged()) }
    }

    /// The next row.
    ///
    /// # Errors
    /// I/O failures; [`StoreError::Corrupted`].
    pub(super) fn next(&mut self) -> StoreResult<Option<StagedRow>> {
        while self.at >= self.chunk.len() && !self.ended {
            self.next_chunk()?;
        }
        if self.ended {
            return Ok(None);
        }
        self.row().map(Some).ok_or_else(|| self.damaged())
    }

    fn row(&mut self) -> Option<StagedRow> {
        let rest = self.chunk.get(self.at..)?;
        let (keyspace, rest) = rest.split_first_chunk::<2>()?;
        let (kind, rest) = rest.split_first_chunk::<1>()?;
        let (key_len, rest) = rest.split_first_chunk::<4>()?;
        let (value_len, rest) = rest.split_first_chunk::<4>()?;
        let (key_len, value_len) = (u32::from_be_bytes(*key_len) as usize, u32::from_be_bytes(*value_len) as usize);
        let (key, rest) = rest.split_at_checked(key_len)?;
        let value = rest.get(..value_len)?;
        self.at += ROW_HEAD + key_len + value_len;
        let value = (*kind == [1]).then(|| value.to_vec());
        Some((usize::from(u16::from_be_bytes(*keyspace)), key.to_vec(), value))
    }

    fn next_chunk(&mut self) -> StoreResult<()> {
        let (mut len, mut checksum) = ([0; 4], [0; 8]);
        self.fill(&mut len)?;
        self.fill(&mut checksum)?;
        let mut chunk = Vec::new();
        // The length may be damaged, so it does not determine an allocation.
        let wanted = u64::from(u32::from_be_bytes(len));
        let read = self.input.by_ref().take(wanted).read_to_end(&mut chunk);
        read.map_err(io(format_args!("reading {}", self.path.display())))?;
        if chunk.len() as u64 != wanted || xxh3_64(&chunk) != u64::from_be_bytes(checksum) {
            return Err(self.damaged());
        }
        self.ended = chunk.is_empty();
        (self.chunk, self.at) = (chunk, 0);
        Ok(())
    }

    fn fill(&mut self, bytes: &mut [u8]) -> StoreResult<()> {
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => self.damaged(),
            _ => io(format_args!("reading {}", self.path.display()))(error),
        })
    }

    fn damaged(&self) -> StoreError {
        StoreError::Corrupted { detail: format!("{}: it is not whole, and holds a commit", self.path.display()) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn written(folder: &Path) -> (PathBuf, Vec<StagedRow>) {
        let mut file = StagedFile::create(&folder.join("staged"), CommitNo(7)).unwrap();
        let mut rows: Vec<StagedRow> = Vec::new();
        for keyspace in 0..2 {
            file.begin(keyspace);
            for number in 0..500_u32 {
                let value = (number % 3 > 0).then(|| vec![number as u8; (number as usize * 37) % 4000]);
                file.push(&number.to_be_bytes(), value.as_deref()).unwrap();
                rows.push((keyspace, number.to_be_bytes().to_vec(), value));
            }
        }
        file.end().unwrap();
        file.keep();
        (file.path.clone(), rows)
    }

    fn read(path: &Path) -> StoreResult<Vec<StagedRow>> {
        let mut rows = StagedRows::open(path)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(row);
        }
        Ok(all)
    }

    #[test]
    fn rows_come_back_and_a_file_that_is_cut_or_flipped_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, rows) = written(folder.path());
        assert!(read(&path).unwrap() == rows);
        let bytes = fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(bytes.len() / 97).chain([bytes.len() - 1]) {
            fs::write(&path, &bytes[..at]).unwrap();
            assert!(matches!(read(&path), Err(StoreError::Corrupted { .. })), "cut at {at}");
            let mut flipped = bytes.clone();
            flipped[at] ^= 16;
            fs::write(&path, flipped).unwrap();
            assert!(matches!(read(&path), Err(StoreError::Corrupted { .. })), "flipped at {at}");
        }
    }

    #[test]
    fn a_file_that_no_intent_names_goes_with_its_commit() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = StagedFile::create(&folder.path().join("staged"), CommitNo(1)).unwrap();
        file.end().unwrap();
        let path = file.path.clone();
        assert!(path.exists());
        drop(file);
        assert!(!path.exists());
    }
}
