//! The data folder: its identity, its format version and its lock.
//!
//! ```text
//!   STORE       "bennu-store 2\n": identity and format version
//!   LOCK        locked while a process has the store open
//!   watermark   see watermark.rs
//!   replay_floors   see replay_floors.rs
//!   load/       runs of running bulk loads; emptied at open
//!   staged/     rows of large commits until they are in their keyspaces; emptied at open
//!   unnamed/    keyspaces that may be in no table, until the tables are known (keyspace_folders.rs)
//!   db/         fjall
//! ```
//! Described in `docs/formats/store-meta.md`.

use crate::error::io;
use crate::seam::{files, thread};
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{StoreError, StoreResult};

const STORE_FILE: &str = "STORE";
const LOCK_FILE: &str = "LOCK";
const IDENTITY: &str = "bennu-store";
/// The version that this build writes.
const VERSION: u32 = 2;
/// The oldest version that this build reads. Version 1 had a shorter watermark and journals without marks.
const OLDEST: u32 = 1;
/// A process that was just killed may hold its lock a little longer.
const LOCK_TRIES: u32 = 10;

/// A locked folder of a store.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Holds the file lock, which ends when the file is closed.
    _lock: File,
}

impl Folder {
    /// Opens and locks the folder, and creates it if it does not exist.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], [`StoreError::Locked`] and I/O failures.
    pub(crate) fn open(path: &Path) -> StoreResult<Self> {
        let shown = path.display().to_string();
        create_durably(path)?;
        let path = path.canonicalize().map_err(io(format!("resolving {shown}")))?;
        let found = check_identity(&path)?;
        let lock = lock(&path)?;
        if found != Some(VERSION) {
            // Older builds must not open the folder once this build writes to it.
            write_identity(&path)?;
        }
        let folder = Self { path, _lock: lock };
        folder.empty_load_folder()?;
        Ok(folder)
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// fjall's folder.
    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("db")
    }

    /// The watermark file.
    pub(crate) fn watermark(&self) -> PathBuf {
        self.path.join("watermark")
    }

    /// The folder for the runs of bulk loads.
    pub(crate) fn load(&self) -> PathBuf {
        self.path.join("load")
    }

    /// The folder for the rows of large commits until they are in their keyspaces.
    pub(crate) fn staged(&self) -> PathBuf {
        self.path.join("staged")
    }

    /// The folder for keyspaces that may be in no table, until the tables are known.
    pub(crate) fn unnamed(&self) -> PathBuf {
        self.path.join("unnamed")
    }

    /// Deletes the runs of loads that a crash interrupted. Such loads have written nothing else.
    fn empty_load_folder(&self) -> StoreResult<()> {
        let load = self.load();
        match fs::remove_dir_all(&load) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(io(format!("emptying {}", load.display()))(error)),
            _ => Ok(()),
        }
    }
}

/// Returns the format version of the folder, `None` for an empty folder. A folder with foreign files is refused.
fn check_identity(path: &Path) -> StoreResult<Option<u32>> {
    let foreign = |reason: String| StoreError::Foreign { path: path.display().to_string(), reason };
    let text = match fs::read(path.join(STORE_FILE)) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return match first_stranger(path)? {
                None => Ok(None),
                Some(name) => Err(foreign(format!(
                    "it is not a folder of Bennu, for it holds \"{name}\" but no {STORE_FILE} file; name a new or an empty one"
                ))),
            };
        }
        Err(error) => return Err(io(format!("reading {STORE_FILE}"))(error)),
    };
    let version = text.strip_prefix(IDENTITY).map(str::trim).and_then(|version| version.parse::<u32>().ok());
    match version {
        Some(known @ OLDEST..=VERSION) => Ok(Some(known)),
        Some(other) => {
            Err(foreign(format!("its format is version {other}, this build reads versions {OLDEST} to {VERSION}")))
        }
        None => Err(foreign(format!("its {STORE_FILE} file is not one of ours"))),
    }
}

/// Returns a file that is not from an interrupted first open.
fn first_stranger(path: &Path) -> StoreResult<Option<String>> {
    let listing = || io(format!("listing {}", path.display()));
    for entry in fs::read_dir(path).map_err(listing())? {
        let name = entry.map_err(listing())?.file_name().to_string_lossy().into_owned();
        // A new file system has lost+found in its root.
        if ![LOCK_FILE, "STORE.new", "lost+found"].contains(&name.as_str()) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn lock(path: &Path) -> StoreResult<File> {
    let file_path = path.join(LOCK_FILE);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&file_path)
        .map_err(io(format!("opening {}", file_path.display())))?;
    for tried in 1.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(io(format!("locking {}", file_path.display()))(error)),
            Err(TryLockError::WouldBlock) if tried == LOCK_TRIES => {
                return Err(StoreError::Locked { path: path.display().to_string() });
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(20)),
        }
    }
    Ok(file)
}

/// Creates a folder and its missing ancestors, and syncs the parent of each.
fn create_durably(path: &Path) -> StoreResult<()> {
    let missing = missing_levels(path);
    fs::create_dir_all(path).map_err(io(format!("creating {}", path.display())))?;
    for made in missing {
        match made.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync_folder(parent)?,
            _ => sync_folder(Path::new("."))?,
        }
    }
    Ok(())
}

/// The missing folders, the innermost first.
fn missing_levels(path: &Path) -> Vec<&Path> {
    path.ancestors().take_while(|level| !level.as_os_str().is_empty() && !level.exists()).collect()
}

/// Writes the STORE file atomically.
fn write_identity(path: &Path) -> StoreResult<()> {
    let new = path.join("STORE.new");
    let doing = || io(format!("writing {}", path.join(STORE_FILE).display()));
    let mut file = File::create(&new).map_err(doing())?;
    file.write_all(format!("{IDENTITY} {VERSION}\n").as_bytes()).map_err(doing())?;
    files::sync_all(&file).map_err(doing())?;
    fs::rename(&new, path.join(STORE_FILE)).map_err(doing())?;
    sync_folder(path)?;
    // The folder itself may be new, so its name must be synced, too.
    path.parent().map_or(Ok(()), sync_folder)
}

/// Syncs a folder, so that the names in it are durable.
pub(crate) fn sync_folder(path: &Path) -> StoreResult<()> {
    File::open(path)
        .and_then(|folder| files::sync_all(&folder))
        .map_err(io(format!("syncing folder {}", path.display())))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_folder_becomes_ours_and_stays_ours() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        drop(Folder::open(&path).unwrap());
        drop(Folder::open(&path).unwrap());
        assert_eq!(fs::read_to_string(path.join("STORE")).unwrap(), "bennu-store 2\n");
    }

    #[test]
    fn a_folder_of_the_version_before_becomes_one_of_this_version() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("STORE"), "bennu-store 1\n").unwrap();
        drop(Folder::open(folder.path()).unwrap());
        assert_eq!(fs::read_to_string(folder.path().join("STORE")).unwrap(), "bennu-store 2\n");
    }

    #[test]
    fn every_level_that_is_made_is_synced_in_the_one_above() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b/c");
        let levels = [path.clone(), parent.path().join("a/b"), parent.path().join("a")];
        assert_eq!(missing_levels(&path), levels);
        create_durably(&path).unwrap();
        assert!(path.is_dir() && missing_levels(&path).is_empty());
        assert_eq!(missing_levels(Path::new("no such/folder")), [Path::new("no such/folder"), Path::new("no such")]);
    }

    #[test]
    fn a_folder_with_other_files_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("letter.txt"), "dear").unwrap();
        let error = Folder::open(folder.path()).unwrap_err();
        assert!(matches!(&error, StoreError::Foreign { reason, .. } if reason.contains("letter.txt")), "{error}");
        assert!(!folder.path().join("STORE").exists());
    }

    #[test]
    fn a_later_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("STORE"), "bennu-store 3\n").unwrap();
        let error = Folder::open(folder.path()).unwrap_err();
        assert!(matches!(&error, StoreError::Foreign { reason, .. } if reason.contains("version 3")), "{error}");
    }

    #[test]
    fn a_second_opener_is_told_that_it_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let _first = Folder::open(folder.path()).unwrap();
        assert!(matches!(Folder::open(folder.path()), Err(StoreError::Locked { .. })));
    }
}
