//! The switch that stops all writes after a failed write or sync.
//!
//! After a failed fsync the kernel may have dropped the dirty pages: later writes may never reach the disk, and a retry
//! could falsely report success. So the first failure is kept and every later write is refused with it. Reads go on.
//! Only a reopen, which reads what is really on disk, ends the state.

use crate::disk_space;
use crate::error::POISONED;
use std::path::PathBuf;
use std::sync::OnceLock;
use store::{StoreError, StoreResult};

/// The first failure, set once.
#[derive(Debug)]
pub(crate) struct ReadOnly {
    failure: OnceLock<Failure>,
    /// The folder whose disk may be full.
    folder: PathBuf,
}

#[derive(Debug)]
struct Failure {
    reason: String,
    disk_full: bool,
}

impl ReadOnly {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { failure: OnceLock::new(), folder }
    }

    /// Returns the recorded failure as an error, if there is one.
    pub(crate) fn check(&self) -> StoreResult<()> {
        match self.failure.get() {
            None => Ok(()),
            Some(failure) => Err(failure.told()),
        }
    }

    /// Returns true if a failure was recorded.
    pub(crate) fn is_set(&self) -> bool {
        self.failure.get().is_some()
    }

    /// Records `error` as the reason, unless there is one already, and returns the error for the caller.
    pub(crate) fn set(&self, error: &StoreError) -> StoreError {
        let failure = self.failure.get_or_init(|| {
            let error = self.named(error);
            tracing::error!(%error, "the store is read-only from now on");
            Failure { reason: error.to_string(), disk_full: matches!(error, StoreError::DiskFull { .. }) }
        });
        failure.told()
    }

    /// Finds the reason of a failure in fjall's own threads, which fjall does not report: a disk that was full then
    /// most likely still is.
    fn named(&self, error: &StoreError) -> StoreError {
        match error {
            StoreError::Io { action, reason } if reason == POISONED => match disk_space::shortage(&self.folder) {
                Some(reason) => StoreError::DiskFull { action: action.clone(), reason },
                None => error.clone(),
            },
            _ => error.clone(),
        }
    }
}

impl Failure {
    fn told(&self) -> StoreError {
        StoreError::ReadOnly { reason: self.reason.clone(), disk_full: self.disk_full }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_the_reason_for_good() {
        let state = ReadOnly::new(PathBuf::new());
        assert_eq!(state.check(), Ok(()));
        let first = StoreError::Io { action: "fsync".into(), reason: "EIO".into() };
        state.set(&first);
        state.set(&StoreError::DiskFull { action: "fsync".into(), reason: "ENOSPC".into() });
        assert_eq!(state.check(), Err(StoreError::ReadOnly { reason: "fsync failed: EIO".into(), disk_full: false }));
    }

    #[test]
    fn a_flush_that_failed_on_a_full_disk_says_so() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/full", folder.path().join(disk_space::PROBE)).unwrap();
        let poisoned = StoreError::Io { action: "flushing".into(), reason: POISONED.into() };
        let state = ReadOnly::new(folder.path().to_owned());
        let StoreError::ReadOnly { reason, disk_full: true } = state.set(&poisoned) else { panic!("another failure") };
        assert!(reason.contains("No space left on device"), "{reason}");
        assert_eq!(state.check(), Err(StoreError::ReadOnly { reason, disk_full: true }));

        let roomy = tempfile::tempdir().unwrap();
        let state = ReadOnly::new(roomy.path().to_owned());
        let reason = format!("flushing failed: {POISONED}");
        assert_eq!(state.set(&poisoned), StoreError::ReadOnly { reason, disk_full: false });
        assert_eq!(std::fs::read_dir(roomy.path()).unwrap().count(), 0, "nothing is left behind");
    }
}
