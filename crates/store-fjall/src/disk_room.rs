//! Free disk space, checked before anything is written.
//!
//! fjall treats a failed write, flush or compaction as fatal: nothing can be written until the database is reopened. So
//! a shortage must be found before the disk is full. The bytes that flushes of the memtables will write and a reserve
//! for compactions are kept free; a commit or load that does not fit beside them is refused before it writes, and
//! succeeds once there is space.
//!
//! Two cases are not covered: another process that fills the reserve before the next check, and a quota, which statvfs
//! does not report. Then the store is read-only until it is reopened.

use crate::options::{DiskSpace, Space};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use store::{StoreError, StoreResult};

/// Space reserved for compactions: at most this, and on a small disk `1 / RESERVE_PART` of it.
const RESERVE: u64 = 256 << 20;
const RESERVE_PART: u64 = 16;
/// Committed bytes are written to the journal and then to a table.
const TIMES_WRITTEN: u64 = 2;

/// The disk space that may still be used.
#[derive(Debug)]
pub(crate) struct DiskRoom {
    folder: PathBuf,
    disk: Arc<dyn DiskSpace>,
    /// Free bytes beyond the reserves at the last check, minus what was taken since. May be negative.
    left: AtomicI64,
}

impl DiskRoom {
    pub(crate) fn new(folder: PathBuf, disk: Arc<dyn DiskSpace>) -> Self {
        let room = Self { folder, disk, left: AtomicI64::new(i64::MAX) };
        room.look(0);
        room
    }

    /// Reads the free space from the file system. `unflushed` bytes are in memtables.
    pub(crate) fn look(&self, unflushed: u64) {
        let left = match self.disk.space(&self.folder) {
            // Unknown free space sets no limit.
            None | Some(Space { total: 0, .. }) => i64::MAX,
            Some(Space { free, total }) => {
                let kept = RESERVE.min(total / RESERVE_PART).saturating_add(unflushed);
                i64::try_from(i128::from(free) - i128::from(kept)).unwrap_or(i64::MAX)
            }
        };
        self.left.store(left, Ordering::Relaxed);
    }

    /// Takes space for rows of `bytes` bytes.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] if there is not enough.
    pub(crate) fn take(&self, bytes: usize) -> StoreResult<()> {
        let wanted = i64::try_from((bytes as u64).saturating_mul(TIMES_WRITTEN)).unwrap_or(i64::MAX);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(wanted).filter(|left| *left >= 0)
        });
        match taken {
            Ok(_) => Ok(()),
            Err(_) => Err(StoreError::DiskFull {
                action: format!("writing {bytes} bytes to {}", self.folder.display()),
                reason: "No space left on device but what is kept for flushes and compactions".to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::path::Path;

    #[derive(Debug)]
    struct Disk(Mutex<Option<Space>>);

    impl DiskSpace for Disk {
        fn space(&self, _: &Path) -> Option<Space> {
            *self.0.lock()
        }
    }

    fn room(space: Option<Space>) -> DiskRoom {
        DiskRoom::new(PathBuf::new(), Arc::new(Disk(Mutex::new(space))))
    }

    #[test]
    fn what_is_unflushed_and_a_reserve_stay_free() {
        let room = room(Some(Space { free: 1 << 30, total: 100 << 30 }));
        room.look(256 << 20);
        assert_eq!(room.take(256 << 20), Ok(()));
        assert!(matches!(room.take(1), Err(StoreError::DiskFull { .. })), "all is taken");
        room.look(0);
        assert_eq!(room.take(1), Ok(()));
    }

    #[test]
    fn a_small_disk_keeps_a_part() {
        let room = room(Some(Space { free: 64 << 20, total: 64 << 20 }));
        assert_eq!(room.take(30 << 20), Ok(()));
        assert!(matches!(room.take(1 << 20), Err(StoreError::DiskFull { .. })));
    }

    #[test]
    fn a_disk_that_tells_nothing_bounds_nothing() {
        assert_eq!(room(None).take(1 << 40), Ok(()));
        assert_eq!(room(Some(Space { free: 0, total: 0 })).take(1 << 40), Ok(()));
    }
}
