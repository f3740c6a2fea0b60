//! fjall's active journal: writes out its buffer, and syncs it through a file handle of this store.
//!
//! fjall buffers batches in 8 KiB. Commits leave their batches there and the next sync writes out all of them at once:
//! a write per commit would take a third of the time under the commit lock.
//!
//! `Database::persist` syncs while it holds the journal's mutex, so every commit would block its thread for an fsync
//! and a group could not exceed the number of threads. An fsync covers the inode, whichever handle wrote the bytes, so
//! with a separate handle commits go on meanwhile.
//!
//! ```text
//!   rotation by fjall, under its journal mutex:   fsync N.jnl;  create N+1.jnl;  fsync folder;  write there
//! ```
//! So if `N+1.jnl` exists, `N.jnl` is durable, and if not, everything applied is in `N.jnl` or before: checking for the
//! successor before each sync is enough.

use crate::error::{engine, io};
use crate::seam::{Mutex, files, is_left_out};
use fjall::{Database, PersistMode};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{StoreError, StoreResult};

/// The journal that fjall writes.
pub(crate) struct JournalFile {
    db: Database,
    folder: PathBuf,
    /// The newest journal seen so far. Held while a successor is opened, not while syncing.
    current: Mutex<Current>,
}

#[derive(Debug)]
struct Current {
    id: u64,
    file: Arc<File>,
    /// Path of the successor, checked at each sync.
    next: PathBuf,
}

impl JournalFile {
    /// Finds the active journal of a database that is open in `folder`.
    ///
    /// # Errors
    /// I/O failures, and [`StoreError::Corrupted`] without a journal.
    pub(crate) fn open(db: &Database, folder: &Path) -> StoreResult<Self> {
        let newest = journal_ids(folder)?.last().copied();
        let id = newest.ok_or_else(|| StoreError::Corrupted { detail: "the store has no journal".into() })?;
        let current = Current::open(folder, id)?;
        Ok(Self { db: db.clone(), folder: folder.to_owned(), current: Mutex::new(current) })
    }

    /// Makes everything that was applied before this call durable.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn sync(&self) -> StoreResult<()> {
        if !is_left_out("the write before a sync") {
            self.write_out().map_err(engine("writing the journal"))?;
        }
        let (id, file) = self.active()?;
        files::sync_data(&file).map_err(io(format_args!("syncing journal {id}")))
    }

    /// Writes fjall's buffer to the file. No batch starts during the write, but one may start before this returns
    /// unless the caller holds the commit lock.
    ///
    /// # Errors
    /// fjall's errors, including earlier ones of its own threads.
    pub(crate) fn write_out(&self) -> fjall::Result<()> {
        self.db.persist(PersistMode::Buffer).inspect_err(|_| leak_journal_writer(&self.db))
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

impl fmt::Debug for JournalFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalFile").field("current", &self.current).finish_non_exhaustive()
    }
}

/// Leaks the journal writer, so that it does not write the rest of a failed batch.
///
/// fjall's journal writer (3.1.13) keeps bytes that it failed to write and writes them when it is dropped, by the last
/// worker thread. That may be after `Database::drop` has returned, which only waits until the threads have left their
/// loops, and the folder may be open again with other batches at that offset. Leaking the supervisor keeps a file
/// handle and the block cache alive; memtables and locks go with the database.
pub(crate) fn leak_journal_writer(db: &Database) {
    std::mem::forget(db.supervisor.clone());
}

impl Current {
    fn open(folder: &Path, id: u64) -> StoreResult<Self> {
        let path = journal_path(folder, id);
        let file = File::options().read(true).write(true).open(&path);
        let file = file.map_err(io(format!("opening journal {}", path.display())))?;
        do_not_read_ahead(&file);
        Ok(Self { id, file: Arc::new(file), next: journal_path(folder, id + 1) })
    }
}

/// Disables read-ahead: in a hole it creates large folios in the page cache, as large writes do (`journal_room.rs`).
#[cfg(target_os = "linux")]
fn do_not_read_ahead(file: &File) {
    // A hint: without it syncs take longer.
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random);
}

#[cfg(not(target_os = "linux"))]
fn do_not_read_ahead(_: &File) {}

/// The path of a fjall journal.
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
