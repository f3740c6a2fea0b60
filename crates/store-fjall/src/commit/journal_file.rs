//! Syncing fjall's active journal through a file handle of our own.
//!
//! `Database::persist` syncs while it holds the journal's mutex, so every commit would block its
//! thread for the length of an fsync and a group could never be larger than the number of threads.
//! A sync works on the inode, whoever wrote the bytes: with our own handle, commits go on meanwhile.
//!
//! ```text
//!   rotation by fjall, under its journal mutex:   fsync N.jnl;  create N+1.jnl;  fsync folder;  write there
//! ```
//! So when `N+1.jnl` exists, `N.jnl` is durable, and when it does not, everything applied is in `N.jnl`
//! or before: looking for the successor before each sync is enough.

use crate::error::io;
use crate::seam::{Mutex, files};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{StoreError, StoreResult};

/// The journal that fjall writes.
#[derive(Debug)]
pub(crate) struct JournalFile {
    folder: PathBuf,
    /// The newest journal seen so far. Held while a successor is opened, not while syncing.
    current: Mutex<Current>,
}

#[derive(Debug)]
struct Current {
    id: u64,
    file: Arc<File>,
    /// Where its successor will be: looked for at each sync.
    next: PathBuf,
}

impl JournalFile {
    /// Finds the active journal of an open database.
    ///
    /// # Errors
    /// I/O failures, and [`StoreError::Corrupted`] without a journal.
    pub(crate) fn open(folder: &Path) -> StoreResult<Self> {
        let newest = journal_ids(folder)?.last().copied();
        let id = newest.ok_or_else(|| StoreError::Corrupted { detail: "the store has no journal".into() })?;
        let current = Current::open(folder, id)?;
        Ok(Self { folder: folder.to_owned(), current: Mutex::new(current) })
    }

    /// Makes everything that was applied before this call durable.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn sync(&self) -> StoreResult<()> {
        let (id, file) = self.active()?;
        files::sync_data(&file).map_err(io(format_args!("syncing journal {id}")))
    }

    /// The number of the active journal and a handle to it.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn active(&self) -> StoreResult<(u64, Arc<File>)> {
        let mut current = self.current.lock();
        loop {
            let next = current.next.display();
            if !current.next.try_exists().map_err(io(format_args!("looking for {next}")))? {
                return Ok((current.id, current.file.clone()));
            }
            *current = Current::open(&self.folder, current.id + 1)?;
        }
    }
}

impl Current {
    fn open(folder: &Path, id: u64) -> StoreResult<Self> {
        let path = journal_path(folder, id);
        let file = File::options().read(true).write(true).open(&path);
        let file = file.map_err(io(format!("opening journal {}", path.display())))?;
        Ok(Self { id, file: Arc::new(file), next: journal_path(folder, id + 1) })
    }
}

/// Where fjall keeps a journal.
pub(crate) fn journal_path(folder: &Path, id: u64) -> PathBuf {
    folder.join(format!("{id}.jnl"))
}

/// The numbers of all journals, ascending.
///
/// # Errors
/// I/O failures.
pub(crate) fn journal_ids(folder: &Path) -> StoreResult<Vec<u64>> {
    let mut ids = Vec::new();
    let listing = || io(format!("listing {}", folder.display()));
    for entry in std::fs::read_dir(folder).map_err(listing())? {
        let name = entry.map_err(listing())?.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(".jnl"));
        ids.extend(id.and_then(|id| id.parse::<u64>().ok()));
    }
    ids.sort_unstable();
    Ok(ids)
}
