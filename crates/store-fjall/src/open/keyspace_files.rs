//! Keyspaces that lost their file `current`.
//!
//! fjall takes such a folder for one whose creation was interrupted, and deletes it with all its tables. When the
//! database knows the keyspace it was not interrupted but damaged. So an empty file stands in while fjall opens: it
//! still clears away what it does not know, and fails at what it does.

use crate::error::io;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use store::{StoreError, StoreResult};

const CURRENT: &str = "current";

/// The files that stand in, gone again when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct StandIns(Vec<PathBuf>);

impl StandIns {
    /// Puts a file wherever one is missing in a database that was made.
    ///
    /// # Errors
    /// [`StoreError::Corrupted`] if the keyspace that names all others is missing; I/O failures.
    pub(crate) fn put(database: &Path) -> StoreResult<Self> {
        let keyspaces = database.join("keyspaces");
        let names = keyspaces.join("0");
        if !names.is_dir() {
            return Err(StoreError::Corrupted { detail: format!("{} is missing", names.display()) });
        }
        let listing = || io(format!("listing {}", keyspaces.display()));
        let mut put = Self::default();
        for entry in fs::read_dir(&keyspaces).map_err(listing())? {
            let folder = entry.map_err(listing())?.path();
            if folder.is_dir() {
                put.in_folder(folder.join(CURRENT))?;
            }
        }
        Ok(put)
    }

    fn in_folder(&mut self, file: PathBuf) -> StoreResult<()> {
        match File::options().write(true).create_new(true).open(&file) {
            Ok(_) => self.0.push(file),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(io(format!("making {}", file.display()))(error)),
        }
        Ok(())
    }

    /// The error of a database that did not open, for the reason that files were missing, if they were.
    pub(crate) fn explain(&self, error: StoreError) -> StoreError {
        match self.0.iter().find(|file| file.exists()) {
            Some(file) => StoreError::Corrupted { detail: format!("{} is missing", file.display()) },
            None => error,
        }
    }
}

impl Drop for StandIns {
    fn drop(&mut self) {
        for file in &self.0 {
            // Most often gone with its folder.
            let _ = fs::remove_file(file);
        }
    }
}
