//! A temporary file for spilled rows. It has no name, so the operating system removes it with its last handle, also
//! after a crash.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use store::{StoreError, StoreResult};
use xxhash_rust::xxh3::xxh3_64;

/// A part of the file that is read as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    offset: u64,
    len: usize,
    checksum: u64,
}

/// A sequence of blocks, each written once and read by any thread.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: File,
    folder: PathBuf,
    end: AtomicU64,
}

impl SpillFile {
    /// Creates a file in `folder`.
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile_in(folder)?, folder: folder.to_owned(), end: AtomicU64::new(0) })
    }

    /// The folder of the file, for messages.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn append(&self, bytes: &[u8]) -> io::Result<Block> {
        let offset = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(bytes, offset)?;
        Ok(Block { offset, len: bytes.len(), checksum: xxh3_64(bytes) })
    }

    /// # Errors
    /// Errors of the operating system; a checksum mismatch.
    pub(crate) fn read(&self, block: Block) -> StoreResult<Vec<u8>> {
        let mut bytes = vec![0; block.len];
        let failed = |reason: String| StoreError::Io {
            action: format!("reading a temporary file in \"{}\"", self.folder.display()),
            reason,
        };
        self.file.read_exact_at(&mut bytes, block.offset).map_err(|error| failed(error.to_string()))?;
        if xxh3_64(&bytes) != block.checksum {
            return Err(failed("checksum mismatch".to_owned()));
        }
        Ok(bytes)
    }
}
