//! A file that rows leave memory for. It has no name: the system removes it with its last handle, also after a crash.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use store::{StoreError, StoreResult};
use xxhash_rust::xxh3::xxh3_64;

/// A part of the file that is read whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    offset: u64,
    len: usize,
    checksum: u64,
}

/// Blocks behind each other; written once each, read by any thread.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: File,
    folder: PathBuf,
    end: AtomicU64,
}

impl SpillFile {
    /// Makes one in `folder`.
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile_in(folder)?, folder: folder.to_owned(), end: AtomicU64::new(0) })
    }

    /// Where it is: for messages.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn append(&self, bytes: &[u8]) -> io::Result<Block> {
        let offset = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(bytes, offset)?;
        Ok(Block { offset, len: bytes.len(), checksum: xxh3_64(bytes) })
    }

    /// # Errors
    /// What the system says; a block that is not as it was written.
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
