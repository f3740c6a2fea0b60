//! Protects keyspaces that lost their file `current`.
//!
//! fjall treats such a folder as an interrupted creation and deletes it with all its tables. If the database has a
//! record of the keyspace, the folder is damaged instead. An empty stand-in file makes fjall fail on such folders,
//! while it still deletes folders of unknown keyspaces.

use crate::error::io;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use store::{StoreError, StoreResult};

const CURRENT: &str = "current";

/// The stand-in files, deleted when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct PlaceholderFiles(Vec<PathBuf>);

impl PlaceholderFiles {
    /// Creates a stand-in for each missing file of a database that has commits.
    ///
    /// # Errors
    /// [`StoreError::Corrupted`] if keyspace 0, which has the names of the others, is missing; I/O failures.
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

    /// If fjall failed to open and a stand-in remains, returns an error that names the missing file.
    pub(crate) fn explain(&self, error: StoreError) -> StoreError {
        match self.0.iter().find(|file| file.exists()) {
            Some(file) => StoreError::Corrupted { detail: format!("{} is missing", file.display()) },
            None => error,
        }
    }
}

impl Drop for PlaceholderFiles {
    fn drop(&mut self) {
        for file in &self.0 {
            // Usually fjall has deleted it with its folder.
            let _ = fs::remove_file(file);
        }
    }
}
