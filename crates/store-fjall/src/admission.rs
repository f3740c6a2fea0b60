//! Who may enter: separate queues, so that scans do not starve point reads and neither starves writes.
//!
//! A queue is a semaphore: whoever finds no permit is parked in order of arrival. Single gets pass
//! freely, they are over before a queue could tell. Writes are also slowed down, by pauses that grow,
//! ahead of fjall's own stalls: those would put whole threads to sleep under the commit lock.

use crate::options::Options;
use crate::seam::{blocking, task};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::{StoreError, StoreResult};
use tokio::sync::{OwnedSemaphorePermit, RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit};

/// The queues.
pub(crate) struct Admission {
    reads: Semaphore,
    scans: Semaphore,
    writes: Semaphore,
    /// One large commit at a time.
    large: Arc<Semaphore>,
    /// Commits share it; a large one, a flush and the end of a bulk load take it alone, because it holds the commit lock for
    /// some tens of milliseconds, and whoever waits here is parked and not a blocked thread.
    gate: RwLock<()>,
    /// Microseconds that each commit has to pause at present.
    pause_us: AtomicU64,
    /// Pauses so far.
    pauses: AtomicU64,
}

/// A commit that was admitted.
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

    /// A place for a large multi-get.
    ///
    /// # Errors
    /// [`StoreError::Closed`].
    pub(crate) async fn read(&self) -> StoreResult<SemaphorePermit<'_>> {
        self.reads.acquire().await.map_err(|_| StoreError::Closed)
    }

    /// A place for one batch of a scan.
    ///
    /// # Errors
    /// [`StoreError::Closed`].
    pub(crate) async fn scan(&self) -> StoreResult<SemaphorePermit<'_>> {
        self.scans.acquire().await.map_err(|_| StoreError::Closed)
    }

    /// A place for one commit, after the pause that the state of the memtables asks for.
    ///
    /// # Errors
    /// [`StoreError::Closed`].
    pub(crate) async fn write(&self) -> StoreResult<WritePass<'_>> {
        let permit = self.write_large().await?;
        Ok(WritePass { _permit: permit, _gate: self.gate.read().await })
    }

    /// As [`Self::write`] for a commit that will take the gate alone.
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

    /// The place of the one large commit: to be held to its end, also when nobody waits for that any more.
    ///
    /// # Errors
    /// [`StoreError::Closed`].
    pub(crate) async fn large(&self) -> StoreResult<OwnedSemaphorePermit> {
        self.large.clone().acquire_owned().await.map_err(|_| StoreError::Closed)
    }

    /// The same if it is free now.
    pub(crate) fn large_if_free(&self) -> Option<OwnedSemaphorePermit> {
        self.large.clone().try_acquire_owned().ok()
    }

    /// Keeps all commits out. Blocks: for threads outside of the runtime only.
    pub(crate) fn alone_blocking(&self) -> RwLockWriteGuard<'_, ()> {
        blocking::write(&self.gate)
    }

    /// Counts a pause that somebody makes elsewhere.
    pub(crate) fn note_pause(&self) {
        self.pauses.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets how long each commit pauses.
    pub(crate) fn set_pause(&self, pause: Duration) {
        self.pause_us.store(pause.as_micros().try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// How many commits have paused.
    pub(crate) fn pauses(&self) -> u64 {
        self.pauses.load(Ordering::Relaxed)
    }

    /// Turns everybody away from now on.
    pub(crate) fn close(&self) {
        self.reads.close();
        self.scans.close();
        self.writes.close();
        self.large.close();
    }
}
