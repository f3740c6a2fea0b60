//! Where a commit becomes durable: one sync of the journal for all that wait.
//!
//! A task that wants its commit durable joins the waiters, lets the other tasks of its thread run
//! once (those with a commit ready join too), and then one of them leads:
//!
//! - Few wait, and nobody else uses the leader's thread: the leader syncs there. A hop to another thread
//!   costs about as much as a sync of a fast disk, and a single client would pay it on every commit.
//! - Otherwise the sync thread does it, so that no thread of the runtime stands still meanwhile: the
//!   next group gathers there, and those who only read do not wait for other people's commits.
//!
//! Whoever does not lead is parked, never a blocked thread.

use crate::commit::journal_file::JournalFile;
use crate::commit::publish::{Publisher, Turn};
use crate::commit::thread_use;
use crate::read_only::ReadOnly;
use crate::seam::{Condvar, Mutex, is_left_out, thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::{CommitNo, StoreError, StoreResult};

/// With at most this many waiting, the leader syncs on its own thread.
const INLINE_WAITERS: usize = 2;

/// Makes commits durable.
pub(crate) struct GroupSync {
    publisher: Arc<Publisher>,
    journal: Arc<JournalFile>,
    read_only: Arc<ReadOnly>,
    /// What the sync thread should do next; a short mutex, paired with `wake`.
    request: Mutex<Request>,
    wake: Condvar,
    /// Syncs of the journal so far.
    syncs: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// Sleep.
    Nothing,
    /// This commit and all before it should be durable before long.
    Soon(CommitNo),
    /// Somebody waits.
    Now,
    /// End.
    Stop,
}

impl GroupSync {
    /// Its thread is to run [`Self::run`].
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
        // Whoever leads leaves those who came meanwhile to the sync thread.
        let leave = thread_use::is_shared() || self.publisher.waiting() > INLINE_WAITERS || self.sync_once();
        if leave && !self.ask(Request::Now) {
            // Its end is past: who waits now would wait for ever.
            while self.sync_once() {}
        }
        done.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Sees to it that everything applied becomes durable even if nobody waits for it: a `Sync` commit whose caller was
    /// cancelled before it came to [`Self::sync`] asks nobody.
    pub(crate) fn look(&self) {
        let newest = self.publisher.newest().commit;
        if newest > self.publisher.durable() {
            self.soon(newest);
        }
    }

    /// Sees to it that `commit` becomes durable even if nobody waits for it.
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
                // Those who came meanwhile found a sync under way, and asked the sync thread in vain.
                let _ = self.ask(Request::Now);
            } else {
                // Somebody else syncs: that takes a fraction of a millisecond.
                thread::yield_now();
            }
        }
        Ok(())
    }

    /// Ends the sync thread.
    pub(crate) fn stop(&self) {
        let _ = self.ask(Request::Stop);
    }

    /// The journal that it syncs.
    pub(crate) fn journal(&self) -> &Arc<JournalFile> {
        &self.journal
    }

    /// How often the journal was synced.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// The body of the sync thread.
    pub(crate) fn run(&self, interval: Duration) {
        loop {
            match self.next_request(interval) {
                Request::Stop => break,
                // Those after it get an interval of their own.
                Request::Soon(commit) if self.publisher.durable() >= commit => self.look(),
                _ => while self.sync_once() {},
            }
        }
        // What waits now would wait for ever.
        while self.sync_once() {}
    }

    /// Sleeps until there is something to do. `Soon` is handed out only after `interval`, unless
    /// something more urgent comes before.
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

    /// Returns whether the sync thread will hear of it.
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

    /// One sync, if one is needed and none is under way. Does somebody wait for yet another?
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
