//! Admission control: separate queues, so that scans do not starve point reads and neither starves writes.
//!
//! A queue is a fair semaphore: a task without a permit is parked. Single gets need no permit, because they end sooner
//! than a queue could help. Growing pauses slow commits down before fjall's own write stalls do, which would block
//! whole threads under the commit lock.

use crate::options::Options;
use crate::seam::{blocking, task};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::{StoreError, StoreResult};
use tokio::sync::{OwnedSemaphorePermit, RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit};

/// The queues and the pause of commits.
pub(crate) struct Admission {
    reads: Semaphore,
    scans: Semaphore,
    writes: Semaphore,
    /// Limits large commits to one at a time.
    large: Arc<Semaphore>,
    /// Shared by commits, exclusive for the end of a large commit, a flush or a bulk load, which hold the commit lock
    /// for some tens of milliseconds. A task that waits here is parked; waiting for the commit lock would block its
    /// thread.
    gate: RwLock<()>,
    /// Microseconds that each commit currently pauses.
    pause_us: AtomicU64,
    /// Number of pauses so far.
    pauses: AtomicU64,
}

/// The permits of an admitted commit.
pub(crate) struct WritePass<'a> {
    _permit: SemaphorePermit<'a>,
    _gate: RwLockReadGuard<'a, ()>,
}

impl Admission {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            reads: Semaphore::new(options.read_permits.max(1)),
            scans: Semaphore::new(options.scan_permits.max(1)),
            writes: Semaphore::new(options.write_permits.max(1)),
            large: Arc::new(Semaphore::new(1)),
            gate: RwLock::new(()),
            pause_us: AtomicU64::new(0),
            pauses: AtomicU64::new(0),
        }
    }

    /// Waits for the permit of a large multi-get.
    ///
    /// # Errors
    /// [`StoreError::Closed`].
    pub(crate) async fn read(&self) -> StoreResult<SemaphorePermit<'_>> {
        self.reads.acquire().await.map_err(|_| StoreError::Closed)
    }

    /// Waits for the permit of one batch of a scan.
    ///
    /// # Errors
    /// [`StoreError::Closed`].
    pub(crate) async fn scan(&self) -> StoreResult<SemaphorePermit<'_>> {
        self.scans.acquire().await.map_err(|_| StoreError::Closed)
    }

    /// Waits for the permit of one commit, after the current pause.
    ///
    /// # Errors
    /// [`StoreError::Closed`].
    pub(crate) async fn write(&self) -> StoreResult<WritePass<'_>> {
        let permit = self.write_large().await?;
        Ok(WritePass { _permit: permit, _gate: self.gate.read().await })
    }

    /// As [`Self::write`] for a commit that takes the gate exclusively.
    ///
    /// # Errors
    /// [`StoreError::Closed`].
    pub(crate) async fn write_large(&self) -> StoreResult<SemaphorePermit<'_>> {
        let pause = self.pause_us.load(Ordering::Relaxed);
        if pause > 0 {
            self.pauses.fetch_add(1, Ordering::Relaxed);
            task::sleep(Duration::from_micros(pause)).await;
        }
        self.writes.acquire().await.map_err(|_| StoreError::Closed)
    }

    /// Waits for the permit of the one large commit. The commit holds it to its end, even if its caller is cancelled.
    ///
    /// # Errors
    /// [`StoreError::Closed`].
    pub(crate) async fn large(&self) -> StoreResult<OwnedSemaphorePermit> {
        self.large.clone().acquire_owned().await.map_err(|_| StoreError::Closed)
    }

    /// As [`Self::large`], but returns `None` instead of waiting.
    pub(crate) fn try_large(&self) -> Option<OwnedSemaphorePermit> {
        self.large.clone().try_acquire_owned().ok()
    }

    /// Locks the gate exclusively, so that no commit runs. Blocks: only for threads outside of the runtime.
    pub(crate) fn lock_gate_exclusively(&self) -> RwLockWriteGuard<'_, ()> {
        blocking::write(&self.gate)
    }

    /// Counts a pause made elsewhere.
    pub(crate) fn count_pause(&self) {
        self.pauses.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the pause of each commit.
    pub(crate) fn set_pause(&self, pause: Duration) {
        self.pause_us.store(pause.as_micros().try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Number of pauses so far.
    pub(crate) fn pauses(&self) -> u64 {
        self.pauses.load(Ordering::Relaxed)
    }

    /// Fails all requests from now on with [`StoreError::Closed`].
    pub(crate) fn close(&self) {
        self.reads.close();
        self.scans.close();
        self.writes.close();
        self.large.close();
    }
}
