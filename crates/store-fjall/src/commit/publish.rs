//! What readers may see.
//!
//! Two rules (the contract's): a `Sync` commit is shown only when it would survive a crash; a
//! `Buffered` one as soon as no undurable `Sync` commit stands before it.
//!
//! ```text
//!   commits     1s  2s  3b  4b  5s  6b      s = Sync, b = Buffered
//!   durable up to 2, a sync of 1..=4 ends:  durable = 4, published = 4 (5 is undurable)
//!   nothing undurable before 3 and 4:       they are published when they are applied
//! ```
//! To publish "up to the commit before the first undurable Sync commit" its state is kept when that
//! commit is applied: three states at most are alive here (published, that one, newest).

use crate::placement::TableMap;
use crate::read::Views;
use crate::seam::{Mutex, is_left_out};
use arc_swap::ArcSwap;
use std::sync::Arc;
use store::{CommitNo, Durability, StoreResult};
use tokio::sync::oneshot;

/// All commits up to one: the fjall snapshot, and where the tables were then.
pub(crate) struct State {
    /// The last commit inside.
    pub(crate) commit: CommitNo,
    /// Reads of fjall go through this. Shared: a clone of its own goes through the list of all snapshots.
    pub(crate) snapshot: Arc<fjall::Snapshot>,
    /// The tables.
    pub(crate) tables: Arc<TableMap>,
    /// What the keyspaces consist of: one for all states.
    pub(crate) views: Arc<Views>,
}

/// Holds the newest and the published state.
pub(crate) struct Publisher {
    /// Everything applied. Replaced under the commit lock and `progress`.
    newest: ArcSwap<State>,
    /// What readers get. Replaced under `progress` only, and never by an older one.
    published: ArcSwap<State>,
    /// A short mutex, never held across an await or a sync.
    progress: Mutex<Progress>,
}

/// How far the log is durable, and who waits for more.
struct Progress {
    /// Everything up to here would survive a crash.
    durable: CommitNo,
    /// The state that the sync under way makes durable.
    in_flight: Option<Arc<State>>,
    /// The newest `Sync` commit.
    last_sync_commit: CommitNo,
    /// The state just before the first `Sync` commit that the sync under way does not cover.
    before_next_sync: Option<Arc<State>>,
    /// Who waits for which commit, in no order.
    waiters: Vec<(CommitNo, oneshot::Sender<StoreResult<()>>)>,
}

/// What a task that wants a commit durable has to do.
pub(crate) enum Turn {
    /// Nothing: it is.
    Done,
    /// Wait: a sync is under way or about to begin.
    Wait(oneshot::Receiver<StoreResult<()>>),
}

impl Publisher {
    /// Begins with a state that is on disk.
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

    /// Everything applied.
    pub(crate) fn newest(&self) -> arc_swap::Guard<Arc<State>> {
        self.newest.load()
    }

    /// What readers may see.
    pub(crate) fn published(&self) -> arc_swap::Guard<Arc<State>> {
        self.published.load()
    }

    /// Everything up to here would survive a crash.
    pub(crate) fn durable(&self) -> CommitNo {
        self.progress.lock().durable
    }

    /// Takes a commit that was just applied. The caller holds the commit lock.
    pub(crate) fn applied(&self, state: State, durability: Durability) {
        let state = Arc::new(state);
        let mut progress = self.progress.lock();
        // Under the lock, or a sync could begin between here and there and be taken for an older one.
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

    /// Replaces the states of the newest commit by one with a newer fjall snapshot, so that what flushes
    /// and compactions replaced can be freed. The caller holds the commit lock.
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

    /// Joins those who wait until `commit` is durable.
    pub(crate) fn wait_for(&self, commit: CommitNo) -> Turn {
        let mut progress = self.progress.lock();
        if progress.durable >= commit {
            return Turn::Done;
        }
        let (sender, receiver) = oneshot::channel();
        progress.waiters.push((commit, sender));
        Turn::Wait(receiver)
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.progress.lock().waiters.len()
    }

    /// Begins a sync of everything applied, unless one is under way or nothing needs one.
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
        // A Sync commit up to the target is covered by it.
        progress.before_next_sync = None;
        Some(target)
    }

    /// Ends the sync that [`Self::begin_sync`] began: publishes and wakes, or hands out the failure.
    /// Returns whether somebody waits for a later commit.
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

/// Outside of the lock: each wake-up may be a system call.
fn wake(done: Vec<(CommitNo, oneshot::Sender<StoreResult<()>>)>) {
    for (_, waiter) in done {
        // A waiter that was cancelled is gone; its commit is durable all the same.
        let _ = waiter.send(Ok(()));
    }
}
