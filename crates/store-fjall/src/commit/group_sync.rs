//! Group commit: one journal sync makes all waiting commits durable.
//!
//! A task that waits for its commit joins the waiters and yields once, so that other tasks of its thread with a commit
//! can join, too. Then one waiter becomes the leader:
//!
//! - With few waiters and no other task on its thread, the leader syncs inline. A switch to another thread costs about
//!   as much as a sync of a fast disk, and a single client would pay it on every commit.
//! - Otherwise the sync thread does it, so that no runtime thread blocks: the next group gathers meanwhile, and tasks
//!   that only read do not wait for the commits of others.
//!
//! Waiters are parked; they never block a thread.

use crate::commit::journal_file::JournalFile;
use crate::commit::publish::{Publisher, Turn};
use crate::commit::thread_use;
use crate::read_only::ReadOnly;
use crate::seam::{Condvar, Mutex, is_left_out, thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::{CommitNo, StoreError, StoreResult};

/// With at most this many waiters, the leader syncs on its own thread.
const INLINE_WAITERS: usize = 2;

/// Makes commits durable.
pub(crate) struct GroupSync {
    publisher: Arc<Publisher>,
    journal: Arc<JournalFile>,
    read_only: Arc<ReadOnly>,
    /// The next task of the sync thread. The mutex is held briefly and is paired with `wake`.
    request: Mutex<Request>,
    wake: Condvar,
    /// Number of journal syncs so far.
    syncs: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// Sleep.
    Nothing,
    /// Make this commit and all before it durable after the interval.
    Soon(CommitNo),
    /// Sync now: a task waits.
    Now,
    /// End the thread.
    Stop,
}

impl GroupSync {
    /// The sync thread must run [`Self::run`].
    pub(crate) fn new(publisher: Arc<Publisher>, journal: Arc<JournalFile>, read_only: Arc<ReadOnly>) -> Self {
        Self {
            publisher,
            journal,
            read_only,
            request: Mutex::new(Request::Nothing),
            wake: Condvar::new(),
            syncs: AtomicU64::new(0),
        }
    }

    /// Waits until `commit` is durable and published.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] when the journal could not be synced.
    pub(crate) async fn sync(&self, commit: CommitNo) -> StoreResult<()> {
        let Turn::Wait(mut done) = self.publisher.wait_for(commit) else {
            return Ok(());
        };
        tokio::task::yield_now().await;
        if let Ok(outcome) = done.try_recv() {
            return outcome;
        }
        // A leader hands waiters that came during its sync to the sync thread.
        let leave = thread_use::is_shared() || self.publisher.waiting() > INLINE_WAITERS || self.sync_once();
        if leave && !self.ask(Request::Now) {
            // The sync thread has ended, so this task must sync for all remaining waiters.
            while self.sync_once() {}
        }
        done.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Schedules a sync if any applied commit is not durable: a `Sync` commit whose caller was cancelled before
    /// [`Self::sync`] has no waiter.
    pub(crate) fn look(&self) {
        let newest = self.publisher.newest().commit;
        if newest > self.publisher.durable() {
            self.soon(newest);
        }
    }

    /// Schedules a sync that makes `commit` durable, even without waiters.
    pub(crate) fn soon(&self, commit: CommitNo) {
        let mut request = self.request.lock();
        if *request == Request::Nothing {
            *request = Request::Soon(commit);
            self.wake.notify_one();
        }
    }

    /// Syncs everything applied, on this thread.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`].
    pub(crate) fn sync_blocking(&self) -> StoreResult<()> {
        let newest = self.publisher.newest().commit;
        while self.publisher.durable() < newest {
            self.read_only.check()?;
            if self.sync_once() {
                // Waiters that came during this sync saw it in flight and did not sync themselves.
                let _ = self.ask(Request::Now);
            } else {
                // Another thread is syncing, which takes a fraction of a millisecond.
                thread::yield_now();
            }
        }
        Ok(())
    }

    /// Ends the sync thread.
    pub(crate) fn stop(&self) {
        let _ = self.ask(Request::Stop);
    }

    /// The journal.
    pub(crate) fn journal(&self) -> &Arc<JournalFile> {
        &self.journal
    }

    /// Number of journal syncs.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// The body of the sync thread.
    pub(crate) fn run(&self, interval: Duration) {
        loop {
            match self.next_request(interval) {
                Request::Stop => break,
                // Later commits get an interval of their own.
                Request::Soon(commit) if self.publisher.durable() >= commit => self.look(),
                _ => while self.sync_once() {},
            }
        }
        // Waiters that joined before the end would otherwise wait forever.
        while self.sync_once() {}
    }

    /// Waits for a request. Returns `Soon` only after `interval`, unless a more urgent request arrives before.
    fn next_request(&self, interval: Duration) -> Request {
        let mut request = self.request.lock();
        while *request == Request::Nothing {
            self.wake.wait(&mut request);
        }
        if matches!(*request, Request::Soon(_)) {
            self.wake.wait_for(&mut request, interval);
        }
        match *request {
            Request::Stop => Request::Stop,
            other => {
                *request = Request::Nothing;
                other
            }
        }
    }

    /// Sends a request. Returns whether the sync thread will serve it.
    fn ask(&self, wanted: Request) -> bool {
        let mut request = self.request.lock();
        if *request == Request::Stop {
            return false;
        }
        if *request != wanted {
            *request = wanted;
            self.wake.notify_one();
        }
        true
    }

    /// Syncs once, if a sync is needed and none is in flight. Returns true if a waiter needs another sync.
    fn sync_once(&self) -> bool {
        let Some(target) = self.publisher.begin_sync() else {
            return false;
        };
        let outcome = self.read_only.check().and_then(|()| {
            self.syncs.fetch_add(1, Ordering::Relaxed);
            match is_left_out("the sync before commits are called durable") {
                true => Ok(()),
                false => self.journal.sync().map_err(|error| self.read_only.set(&error)),
            }
        });
        self.publisher.end_sync(&target, outcome)
    }
}
