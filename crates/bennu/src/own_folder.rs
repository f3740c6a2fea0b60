//! Temporary folders that belong to one process.
//!
//! A killed process leaves its folder behind. Each folder has a file that its process locks while it runs; creating a
//! folder removes the sibling folders whose lock is free.

use crate::Error;
use std::fs::{self, File, TryLockError};
use std::path::Path;
use tempfile::TempDir;

/// Name of the lock file.
const LOCK: &str = "in-use";

/// A folder that is removed on drop.
#[derive(Debug)]
pub(crate) struct ProcessFolder {
    folder: TempDir,
    /// Held until the folder is dropped.
    _lock: File,
}

impl ProcessFolder {
    /// Creates a folder in `parent` whose name begins with `prefix`, and removes abandoned ones.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub(crate) fn make(parent: &Path, prefix: &str) -> Result<Self, Error> {
        let failed = |error| Error::io(&format!("folder for temporary files in \"{}\"", parent.display()), &error);
        remove_abandoned(parent, prefix);
        // Locked before it gets its final name, so that no other process takes it for abandoned.
        let made = tempfile::Builder::new().prefix(".making-").tempdir_in(parent).map_err(failed)?;
        let lock = File::create(made.path().join(LOCK)).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent).map_err(failed)?;
        fs::rename(made.path(), folder.path()).map_err(failed)?;
        // Renamed, so there is nothing to remove under the old name.
        drop(made.keep());
        Ok(Self { folder, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes abandoned folders. A folder that cannot be removed stays, which is harmless.
fn remove_abandoned(parent: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix));
        let path = entry.path();
        if named && is_abandoned(&path) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

fn is_abandoned(folder: &Path) -> bool {
    // Without the lock file the folder is being created or removed.
    let Ok(file) = File::open(folder.join(LOCK)) else { return false };
    match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_nobody_locks_is_removed_and_others_stay() {
        let parent = tempfile::tempdir().unwrap();
        let abandoned = parent.path().join("spill-old");
        fs::create_dir(&abandoned).unwrap();
        fs::write(abandoned.join(LOCK), "").unwrap();
        fs::write(abandoned.join("run"), "rows").unwrap();
        let other = parent.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join(LOCK), "").unwrap();
        let first = ProcessFolder::make(parent.path(), "spill-").unwrap();
        assert!(!abandoned.exists() && other.exists());
        let second = ProcessFolder::make(parent.path(), "spill-").unwrap();
        assert!(first.path().exists() && second.path().exists());
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists());
    }
}
