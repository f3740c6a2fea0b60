//! The background threads: the sync thread, the housekeeper and the compaction threads.

pub(crate) mod compaction;
pub(crate) mod purge;

use crate::error::{engine, io};
use crate::housekeeping::purge::Purge;
use crate::inner::Inner;
use crate::journal::watermark_follower::Follower;
use crate::memtables::budget::Budget;
use crate::seam::{Condvar, Mutex, engine_threads, thread};
use crate::snapshots::Limits;
use std::sync::Arc;
use std::time::Duration;
use store::StoreResult;

/// Interval of the housekeeper. At 0.5 M rows/s a memtable grows by about 1 MiB in between.
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// The threads of one store.
pub(crate) struct Housekeeper {
    inner: Arc<Inner>,
    stop: Arc<Stop>,
    threads: Mutex<Vec<thread::JoinHandle>>,
}

#[derive(Default)]
pub(crate) struct Stop {
    /// Set once. The mutex is held briefly and is paired with `signal`.
    stopped: Mutex<bool>,
    signal: Condvar,
}

impl Housekeeper {
    /// Starts the threads.
    ///
    /// # Errors
    /// I/O failures: the operating system refuses more threads.
    pub(crate) fn start(inner: &Arc<Inner>) -> StoreResult<Self> {
        let stop = Arc::new(Stop::default());
        let group_sync = inner.pipeline.group_sync.clone();
        let interval = inner.options.buffered_sync_interval;
        let sync_thread = spawn("bennu-sync", move || group_sync.run(interval))?;
        let (housed, until) = (inner.clone(), stop.clone());
        let keeper = spawn("bennu-keeper", move || run_housekeeper(&housed, &until))?;
        let mut threads = vec![sync_thread, keeper];
        threads.extend(compaction::start(inner, &stop)?);
        threads.extend(engine_threads::start(inner, &stop)?);
        Ok(Self { inner: inner.clone(), stop, threads: Mutex::new(threads) })
    }

    /// Ends the threads and waits for them. May be called more than once.
    pub(crate) fn stop(&self) {
        *self.stop.stopped.lock() = true;
        self.stop.signal.notify_all();
        self.inner.pipeline.group_sync.stop();
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a background thread panicked");
            }
        }
    }
}

pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> StoreResult<thread::JoinHandle> {
    thread::spawn(name, body).map_err(io("starting a background thread"))
}

fn run_housekeeper(inner: &Inner, stop: &Stop) {
    let mut budget = Budget::default();
    let mut purge = Purge::default();
    let mut follower = Follower::default();
    while !stop.wait(TICK) {
        let newest = inner.pipeline.publisher.newest().clone();
        newest.views.forget_unused();
        let limits = Limits { age: inner.options.snapshot_max_age, bytes: inner.options.snapshot_bytes };
        inner.snapshots.tick(&newest, limits);
        drop(newest);
        if inner.pipeline.read_only.is_set() || inner.check_open().is_err() {
            continue;
        }
        if let Err(error) = pipeline_is_sound(inner) {
            inner.pipeline.read_only.set(&error);
            continue;
        }
        inner.pipeline.group_sync.look();
        inner.room.look(inner.memtables.unflushed());
        let outcome = budget.tick(inner).and_then(|()| follower.tick(inner)).and_then(|()| purge.tick(inner));
        if let Err(error) = outcome {
            // Retried at the next tick; a failed write has made the store read-only already.
            tracing::warn!(%error, "housekeeping failed");
        }
    }
}

/// Detects failed flushes and compactions, after which fjall is poisoned. Commits would notice that, but a caller that
/// waits for a flush would wait forever.
///
/// # Errors
/// The failure.
pub(crate) fn pipeline_is_sound(inner: &Inner) -> StoreResult<()> {
    inner.pipeline.group_sync.journal().write_out().map_err(engine("flushing or compacting in the background"))
}

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        *self.stopped.lock()
    }

    /// Sleeps for `tick`. Returns whether the threads should end.
    pub(crate) fn wait(&self, tick: Duration) -> bool {
        let mut stopped = self.stopped.lock();
        if !*stopped {
            self.signal.wait_for(&mut stopped, tick);
        }
        *stopped
    }
}
