//! Prepares the folders of keyspaces before fjall opens them.
//!
//! fjall deletes each folder whose keyspace is not in its records, before the tables can be read. Here no folder is
//! deleted because of those records alone:
//!
//! ```text
//!   records hidden by older ones       written again; a keyspace that is in no table is deleted later
//!   no record, or missing files        moved to unnamed/ until the tables are known: deleted if none of them refers
//!                                      to it; otherwise the data folder is refused, and nothing is deleted
//! ```
//! fjall also derives its next keyspace id from the folders. Ids must not be reused, so an empty folder marks the last
//! id.

use crate::error::io;
use crate::open::folder::{Folder, sync_folder};
use crate::open::keyspace_names::{Names, Record};
use lsm_tree::{Config, SequenceNumberCounter};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use store::StoreResult;

const MANIFEST: &str = "current";

/// The keyspace folders of a database that is not open.
pub(crate) struct KeyspaceFolders {
    keyspaces: PathBuf,
    unnamed: PathBuf,
}

impl KeyspaceFolders {
    pub(crate) fn of(folder: &Folder) -> Self {
        Self { keyspaces: folder.database().join("keyspaces"), unnamed: folder.unnamed() }
    }

    /// The folder of fjall's records, if it has a manifest.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn names(&self) -> StoreResult<Option<PathBuf>> {
        let folder = self.keyspaces.join("0");
        Ok(exists(&folder.join(MANIFEST))?.then_some(folder))
    }

    /// The id of the keyspace named `name`.
    ///
    /// # Errors
    /// I/O failures and damage in the records.
    pub(crate) fn find(&self, names: &Names, name: &str) -> StoreResult<Option<u64>> {
        for (id, _) in numbered(&self.keyspaces)? {
            if names.newest_name(id)?.as_deref() == Some(name) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Leaves only folders that fjall will open. Returns the largest id of all folders.
    ///
    /// # Errors
    /// I/O failures and damage in the records.
    pub(crate) fn prepare(&self, names: &Names) -> StoreResult<u64> {
        self.put_back()?;
        let mut highest = 0;
        for (id, folder) in numbered(&self.keyspaces)? {
            highest = highest.max(id);
            if id > 0 {
                self.prepare_one(id, &folder, names)?;
            }
        }
        Ok(highest)
    }

    fn prepare_one(&self, id: u64, folder: &Path, names: &Names) -> StoreResult<()> {
        match names.record(id)? {
            // Without a manifest it is damaged; a stand-in keeps fjall from deleting it (`open/keyspace_files.rs`).
            Record::Sound => Ok(()),
            Record::Hidden { name } if is_whole(folder)? => {
                tracing::info!(id, keyspace = %name, "a keyspace that was about to be deleted or is hidden is restored");
                names.restore(id, &name)
            }
            Record::Hidden { .. } | Record::None => {
                fs::create_dir_all(&self.unnamed).map_err(io(format!("creating {}", self.unnamed.display())))?;
                rename(folder, &self.unnamed.join(id.to_string()))
            }
        }
    }

    /// Ensures that fjall's next keyspace id is above `last`. fjall deletes this folder when it opens.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn reserve(&self, last: u64) -> StoreResult<()> {
        let folder = self.keyspaces.join(last.to_string());
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(io(format!("creating {}", folder.display()))(error))
            }
            _ => Ok(()),
        }
    }

    /// Deletes the folders moved away by [`Self::prepare`]. By now the tables are known to refer to none of them.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn delete_unnamed(&self) -> StoreResult<()> {
        match fs::remove_dir_all(&self.unnamed) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(io(format!("deleting {}", self.unnamed.display()))(error))
            }
            _ => Ok(()),
        }
    }

    /// Moves folders back that an interrupted or failed opening left in `unnamed/`.
    fn put_back(&self) -> StoreResult<()> {
        if !exists(&self.unnamed)? {
            return Ok(());
        }
        for (id, folder) in numbered(&self.unnamed)? {
            let target = self.keyspaces.join(id.to_string());
            if !exists(&target)? {
                rename(&folder, &target)?;
            }
        }
        sync_folder(&self.keyspaces)
    }
}

/// Returns true if the keyspace can be opened. fjall deletes its files in any order: after a crash some may remain,
/// including the manifest.
fn is_whole(folder: &Path) -> StoreResult<bool> {
    if !exists(&folder.join(MANIFEST))? {
        return Ok(false);
    }
    let opened = Config::new(folder, SequenceNumberCounter::default(), SequenceNumberCounter::default()).open();
    Ok(opened.inspect_err(|error| tracing::info!(folder = %folder.display(), ?error, "not whole")).is_ok())
}

fn exists(path: &Path) -> StoreResult<bool> {
    path.try_exists().map_err(io(format!("looking for {}", path.display())))
}

fn rename(from: &Path, to: &Path) -> StoreResult<()> {
    fs::rename(from, to).map_err(io(format!("moving {} to {}", from.display(), to.display())))
}

/// The folders with numeric names.
fn numbered(parent: &Path) -> StoreResult<Vec<(u64, PathBuf)>> {
    let listing = || io(format!("listing {}", parent.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(parent).map_err(listing())? {
        let entry = entry.map_err(listing())?;
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
        found.extend(id.map(|id| (id, entry.path())));
    }
    Ok(found)
}
