//! Publication: what readers may see.
//!
//! The contract's rules: a `Sync` commit is published only once it would survive a crash; a `Buffered` commit as soon
//! as no undurable `Sync` commit precedes it.
//!
//! ```text
//!   commits     1s  2s  3b  4b  5s  6b      s = Sync, b = Buffered
//!   durable up to 2, a sync of 1..=4 ends:  durable = 4, published = 4 (5 is undurable)
//!   nothing undurable before 3 and 4:       they are published when they are applied
//! ```
//! The state before the first undurable `Sync` commit is kept when that commit is applied, so that it can be published
//! later. So at most three states are alive here: published, that one, and newest.

use crate::placement::TableMap;
use crate::read::Views;
use crate::seam::{Mutex, is_left_out};
use arc_swap::ArcSwap;
use std::sync::Arc;
use store::{CommitNo, Durability, StoreResult};
use tokio::sync::oneshot;

/// All commits up to one: the fjall snapshot and the placements of the tables.
pub(crate) struct State {
    /// The last commit.
    pub(crate) commit: CommitNo,
    /// The fjall snapshot. Shared, because cloning it accesses fjall's list of all snapshots.
    pub(crate) snapshot: Arc<fjall::Snapshot>,
    /// The tables.
    pub(crate) tables: Arc<TableMap>,
    /// The block views of the keyspaces, shared by all states.
    pub(crate) views: Arc<Views>,
}

/// Holds the newest and the published state.
pub(crate) struct Publisher {
    /// The state of all applied commits. Replaced under the commit lock and `progress`.
    newest: ArcSwap<State>,
    /// The state that readers get. Replaced under `progress`, never by an older state.
    published: ArcSwap<State>,
    /// Held briefly, never across an await or a sync.
    progress: Mutex<Progress>,
}

/// The durable end of the log, and the tasks that wait for more.
struct Progress {
    /// The last commit that would survive a crash.
    durable: CommitNo,
    /// The state that the running sync makes durable.
    in_flight: Option<Arc<State>>,
    /// The newest `Sync` commit.
    last_sync_commit: CommitNo,
    /// The state just before the first `Sync` commit that the running sync does not cover.
    before_next_sync: Option<Arc<State>>,
    /// The waiting tasks and their commits, in no order.
    waiters: Vec<(CommitNo, oneshot::Sender<StoreResult<()>>)>,
}

/// The result of [`Publisher::wait_for`].
pub(crate) enum Turn {
    /// The commit is durable.
    Done,
    /// The commit becomes durable with a running or later sync.
    Wait(oneshot::Receiver<StoreResult<()>>),
}

impl Publisher {
    /// Starts with a durable state.
    pub(crate) fn new(state: State) -> Self {
        let state = Arc::new(state);
        Self {
            progress: Mutex::new(Progress {
                durable: state.commit,
                in_flight: None,
                last_sync_commit: state.commit,
                before_next_sync: None,
                waiters: Vec::new(),
            }),
            newest: ArcSwap::new(state.clone()),
            published: ArcSwap::new(state),
        }
    }

    /// The newest state.
    pub(crate) fn newest(&self) -> arc_swap::Guard<Arc<State>> {
        self.newest.load()
    }

    /// The published state.
    pub(crate) fn published(&self) -> arc_swap::Guard<Arc<State>> {
        self.published.load()
    }

    /// The last durable commit.
    pub(crate) fn durable(&self) -> CommitNo {
        self.progress.lock().durable
    }

    /// Records a commit that was just applied. The caller holds the commit lock.
    pub(crate) fn applied(&self, state: State, durability: Durability) {
        let state = Arc::new(state);
        let mut progress = self.progress.lock();
        // Under `progress`, so that no sync begins between the swap and the bookkeeping below.
        let before = self.newest.swap(state.clone());
        match durability {
            Durability::Sync => {
                if is_left_out("the sync before a commit is shown") {
                    self.published.store(state.clone());
                }
                let covered = progress.in_flight.as_ref().map_or(progress.durable, |target| target.commit);
                if progress.last_sync_commit <= covered {
                    progress.before_next_sync = Some(before);
                }
                progress.last_sync_commit = state.commit;
            }
            Durability::Buffered if progress.last_sync_commit <= progress.durable => self.published.store(state),
            Durability::Buffered => {}
        }
    }

    /// Replaces the states of the newest commit by one with a newer fjall snapshot, so that files and memtables
    /// replaced by flushes and compactions can be freed. The caller holds the commit lock.
    pub(crate) fn refresh(&self, snapshot: Arc<fjall::Snapshot>) {
        let progress = self.progress.lock();
        let newest = self.newest.load_full();
        let (tables, views) = (newest.tables.clone(), newest.views.clone());
        let state = Arc::new(State { commit: newest.commit, snapshot, tables, views });
        self.newest.store(state.clone());
        if self.published.load().commit == state.commit && progress.in_flight.is_none() {
            self.published.store(state);
        }
    }

    /// Registers a waiter for the durability of `commit`.
    pub(crate) fn wait_for(&self, commit: CommitNo) -> Turn {
        let mut progress = self.progress.lock();
        if progress.durable >= commit {
            return Turn::Done;
        }
        let (sender, receiver) = oneshot::channel();
        progress.waiters.push((commit, sender));
        Turn::Wait(receiver)
    }

    /// Number of waiters.
    pub(crate) fn waiting(&self) -> usize {
        self.progress.lock().waiters.len()
    }

    /// Begins a sync of everything applied, unless one is in flight or none is needed.
    pub(crate) fn begin_sync(&self) -> Option<Arc<State>> {
        let mut progress = self.progress.lock();
        if progress.in_flight.is_some() {
            return None;
        }
        let target = self.newest.load_full();
        if target.commit <= progress.durable {
            return None;
        }
        progress.in_flight = Some(target.clone());
        // The target covers all `Sync` commits so far.
        progress.before_next_sync = None;
        Some(target)
    }

    /// Ends a sync: publishes and wakes the waiters, or sends them the failure. Returns whether a waiter needs a later
    /// commit.
    pub(crate) fn end_sync(&self, target: &State, outcome: StoreResult<()>) -> bool {
        let mut progress = self.progress.lock();
        progress.in_flight = None;
        if let Err(error) = outcome {
            for (_, waiter) in progress.waiters.drain(..) {
                let _ = waiter.send(Err(error.clone()));
            }
            return false;
        }
        progress.durable = target.commit;
        let publishable = progress.before_next_sync.take().unwrap_or_else(|| self.newest.load_full());
        if publishable.commit >= self.published.load().commit {
            self.published.store(publishable);
        }
        let durable = progress.durable;
        let (done, later) = progress.waiters.drain(..).partition(|(commit, _)| *commit <= durable);
        progress.waiters = later;
        let more = !progress.waiters.is_empty();
        drop(progress);
        wake(done);
        more
    }
}

/// Called outside of the lock, because each wake-up may be a system call.
fn wake(done: Vec<(CommitNo, oneshot::Sender<StoreResult<()>>)>) {
    for (_, waiter) in done {
        // The receiver of a cancelled waiter is gone; its commit is durable.
        let _ = waiter.send(Ok(()));
    }
}
