//! The switch that stops all writes after a write or a sync failed.
//!
//! After a failed fsync the kernel may have dropped the dirty pages: nothing written since can be
//! trusted to reach the disk, and trying again could report success falsely. So the first failure is
//! kept, every later write is refused with it, reads go on, and only a reopen (which reads what is
//! really on disk) ends the state.

use std::sync::OnceLock;
use store::{StoreError, StoreResult};

/// Set once, by the first failure.
#[derive(Debug, Default)]
pub(crate) struct ReadOnly(OnceLock<String>);

impl ReadOnly {
    /// Refuses when a failure was recorded.
    pub(crate) fn check(&self) -> StoreResult<()> {
        match self.0.get() {
            None => Ok(()),
            Some(reason) => Err(StoreError::ReadOnly { reason: reason.clone() }),
        }
    }

    /// Has a failure been recorded?
    pub(crate) fn is_set(&self) -> bool {
        self.0.get().is_some()
    }

    /// Records `error` as the reason, unless there is one already, and returns the error to hand on.
    pub(crate) fn set(&self, error: &StoreError) -> StoreError {
        let reason = self.0.get_or_init(|| {
            tracing::error!(%error, "the store is read-only from now on");
            error.to_string()
        });
        StoreError::ReadOnly { reason: reason.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_the_reason_for_good() {
        let state = ReadOnly::default();
        assert_eq!(state.check(), Ok(()));
        let first = StoreError::Io { action: "fsync".into(), reason: "EIO".into() };
        state.set(&first);
        state.set(&StoreError::Closed);
        assert_eq!(state.check(), Err(StoreError::ReadOnly { reason: "fsync failed: EIO".into() }));
    }
}
