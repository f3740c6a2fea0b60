//! Running statements, and how they are stopped: by CancelRequest, by statement_timeout, or with their session.
//!
//! Each session has an entry with one cancellation token for all that it runs. A statement holds a [`RunGuard`] until
//! its last row was returned. A cancel request while nothing runs has no effect, as in PostgreSQL.

use crate::TransactionStatus;
use crate::error::{EngineResult, Fault, fail};
use crate::session::activity::{Activity, Client, micros};
use crate::session::timer::{StatementTimer, Timer};
use crate::settings::Effective;
use crate::threads::turn;
use parking_lot::Mutex;
use pg_catalog::SessionInfo;
use std::collections::HashMap;
use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::task::unconstrained;
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};
use txn::{AdvisoryLevel, AdvisoryLocks, LockTable, SessionOwners, TxnId};
use types::interrupt::{Host, Interrupted};

/// All sessions of an engine.
#[derive(Debug)]
pub(crate) struct Running {
    next: AtomicI32,
    /// Held for one lookup or change, never across an await.
    sessions: Mutex<HashMap<i32, Arc<Entry>>>,
}

/// One session.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) process: i32,
    pub(crate) secret: i32,
    pub(crate) client: Client,
    /// Microseconds since 1970.
    pub(crate) started: i64,
    /// Owners of the session's locks. An owner is not removed when it ends, because ids are not reused.
    owners: Arc<SessionOwners>,
    /// Created by the first advisory lock function.
    advisory: OnceLock<Arc<AdvisoryLocks>>,
    /// Whether a transaction block is open, implicit blocks included.
    in_block: AtomicBool,
    /// Cancelled when the session is to end: another session terminates it, or the server stops.
    ended: CancellationToken,
    /// Whether the session ends because the server stops.
    server_stops: AtomicBool,
    /// Locked for one change, never across an await.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    token: CancellationToken,
    /// Number of running statements: more than one if portals are open.
    active: usize,
    activity: Activity,
}

impl Default for Running {
    fn default() -> Self {
        Self { next: AtomicI32::new(1), sessions: Mutex::default() }
    }
}

impl Running {
    /// Registers a session.
    pub(crate) fn enter(&self, client: Client, settings: &Arc<Effective>) -> Arc<Entry> {
        let process = self.next.fetch_add(1, Ordering::Relaxed);
        // Seeded by the operating system's random source, so that it cannot be guessed.
        let secret = RandomState::new().build_hasher().finish() as i32;
        let started = micros(client.clock.as_ref());
        let activity = Activity::new(started, Arc::clone(settings));
        let state = Mutex::new(State { token: CancellationToken::new(), active: 0, activity });
        let ended = CancellationToken::new();
        let entry = Arc::new(Entry {
            process,
            secret,
            client,
            started,
            owners: Arc::default(),
            advisory: OnceLock::new(),
            in_block: AtomicBool::new(false),
            ended,
            server_stops: AtomicBool::new(false),
            state,
        });
        self.sessions.lock().insert(process, Arc::clone(&entry));
        entry
    }

    /// Removes a session that has ended.
    pub(crate) fn leave(&self, process: i32) {
        self.sessions.lock().remove(&process);
    }

    /// Cancels what the session runs, if the secret key matches.
    pub(crate) fn cancel(&self, process: i32, secret: i32) -> bool {
        let entry = self.sessions.lock().get(&process).cloned();
        let Some(entry) = entry.filter(|entry| entry.secret == secret) else { return false };
        entry.cancel();
        true
    }

    /// Cancels what a session runs, and terminates it if `end`. Returns false if there is no such session.
    pub(crate) fn stop(&self, process: i32, end: bool) -> bool {
        let Some(entry) = self.sessions.lock().get(&process).cloned() else { return false };
        if end {
            entry.end()
        } else {
            entry.cancel()
        }
        true
    }

    /// All sessions, oldest first.
    pub(crate) fn infos(&self) -> Vec<SessionInfo> {
        let mut entries: Vec<Arc<Entry>> = self.sessions.lock().values().cloned().collect();
        entries.sort_by_key(|entry| entry.process);
        let info = |entry: Arc<Entry>| {
            let state = entry.state.lock();
            state.activity.info(&entry, state.active > 0)
        };
        entries.into_iter().map(info).collect()
    }

    /// The session that owns the transaction.
    pub(crate) fn owner_of(&self, txn: TxnId) -> Option<i32> {
        let sessions = self.sessions.lock();
        let has = |entry: &&Arc<Entry>| {
            entry.owners.has(txn) || entry.known_advisory().is_some_and(|locks| locks.owner() == txn)
        };
        sessions.values().find(has).map(|entry| entry.process)
    }

    /// Cancels what all sessions run.
    pub(crate) fn cancel_all(&self) {
        let entries: Vec<_> = self.sessions.lock().values().cloned().collect();
        entries.iter().for_each(|entry| entry.cancel());
    }

    /// Number of sessions.
    pub(crate) fn len(&self) -> usize {
        self.sessions.lock().len()
    }
}

impl Entry {
    /// Begins a statement.
    pub(crate) fn begin(self: &Arc<Self>, timeout: Option<Duration>) -> RunGuard {
        let mut state = self.state.lock();
        if state.token.is_cancelled() && !self.ended.is_cancelled() {
            state.token = CancellationToken::new();
        }
        state.active += 1;
        let timer = Arc::new(Timer::new(timeout));
        let watch = Watch { entry: Some(Arc::clone(self)), token: state.token.clone(), timer };
        RunGuard { watch: Arc::new(watch) }
    }

    /// Notes the transaction of its block.
    pub(crate) fn note_transaction(&self, txn: TxnId) {
        self.owners.note_block(txn);
    }

    /// Notes the transaction of a statement outside its block.
    pub(crate) fn note_statement_locks(&self, txn: TxnId) {
        self.owners.note_statement(txn);
    }

    /// Its advisory locks.
    pub(crate) fn advisory(&self, table: &Arc<LockTable>) -> &Arc<AdvisoryLocks> {
        self.advisory.get_or_init(|| Arc::new(AdvisoryLocks::new(Arc::clone(table), Arc::clone(&self.owners))))
    }

    /// Its advisory locks, if it ever used one.
    pub(crate) fn known_advisory(&self) -> Option<&Arc<AdvisoryLocks>> {
        self.advisory.get()
    }

    /// Notes that a transaction block begins or ends.
    pub(crate) fn note_block(&self, open: bool) {
        self.in_block.store(open, Ordering::Release);
    }

    /// Releases the advisory locks of its transaction.
    pub(crate) fn release_of_transaction(&self) {
        if let Some(locks) = self.known_advisory() {
            locks.release(AdvisoryLevel::Transaction);
        }
    }

    /// Releases the advisory locks of a statement that is its own transaction.
    pub(crate) fn release_of_statement(&self) {
        if !self.in_block.load(Ordering::Acquire) {
            self.release_of_transaction();
        }
    }

    /// Releases all its advisory locks: the session has ended, though its rows may still be read.
    pub(crate) fn release_advisory(&self) {
        if let Some(locks) = self.known_advisory() {
            locks.release_all();
        }
    }

    /// Notes which statement begins.
    pub(crate) fn note_begin(&self, query: &Arc<str>) {
        let now = micros(self.client.clock.as_ref());
        self.state.lock().activity.begin(query, now);
    }

    /// Notes the session's state after a statement.
    pub(crate) fn note_end(&self, status: TransactionStatus, block_start: Option<i64>, settings: &Arc<Effective>) {
        self.state.lock().activity.end(status, block_start, settings);
    }

    /// Completes when the session is to end.
    pub(crate) fn terminated(&self) -> WaitForCancellationFuture<'_> {
        self.ended.cancelled()
    }

    /// Whether the session is to end.
    pub(crate) fn is_terminated(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Terminates the session: what it runs fails, and no statement can begin.
    pub(crate) fn end(&self) {
        // Set first, so that a statement that finds its token cancelled reports the right reason.
        self.ended.cancel();
        self.state.lock().token.cancel();
    }

    /// Terminates the session because the server stops. Jobs that it waits for continue at the next start.
    pub(crate) fn end_with_server(&self) {
        self.server_stops.store(true, Ordering::Release);
        self.end();
    }

    /// Whether it ends because the server stops.
    pub(crate) fn ends_with_server(&self) -> bool {
        self.server_stops.load(Ordering::Acquire)
    }

    fn stopped(&self) -> Fault {
        if self.is_terminated() { Fault::Terminated } else { Fault::Canceled }
    }

    fn cancel(&self) {
        let state = self.state.lock();
        if state.active > 0 {
            state.token.cancel();
        }
    }
}

/// A running statement.
#[derive(Debug)]
pub(crate) struct RunGuard {
    watch: Arc<Watch>,
}

/// What stops a statement; shared with all computations for it.
#[derive(Debug)]
struct Watch {
    /// `None`: only dropping the statement stops it.
    entry: Option<Arc<Entry>>,
    token: CancellationToken,
    timer: Arc<Timer>,
}

impl RunGuard {
    /// A guard for a cursor, which other statements read.
    pub(crate) fn unbounded() -> Self {
        let timer = Arc::new(Timer::new(None));
        Self { watch: Arc::new(Watch { entry: None, token: CancellationToken::new(), timer }) }
    }

    /// Runs `work` until it completes, is cancelled or times out. Stopped work is dropped, so it must be able to stop
    /// at any await: reading, planning, waiting for a lock.
    pub(crate) async fn stoppable<T>(&self, work: impl Future<Output = EngineResult<T>>) -> EngineResult<T> {
        self.check()?;
        tokio::select! {
            biased;
            // Polled first, because work often completes at once. An error after the stop is reported as the stop.
            done = work => done.or_else(|error| self.check().and(Err(error))),
            () = self.watch.token.cancelled() => fail(self.watch.stopped()),
            // Unconstrained, because work that never waits uses up the task's budget, and then the timer would not be
            // polled.
            () = unconstrained(self.watch.timer.over()) => fail(Fault::StatementTimeout),
        }
    }

    /// Returns an error if the statement was stopped. For long loops without an await.
    pub(crate) fn check(&self) -> EngineResult<()> {
        match self.watch.fault() {
            Some(fault) => fail(fault),
            None => Ok(()),
        }
    }

    /// Lets `work`, which stays on this task, check for a stop during its computations. An error after the stop is
    /// reported as the stop. `large`: the work is known to compute for long.
    pub(crate) async fn over<T>(
        &self,
        work: Pin<&mut impl Future<Output = EngineResult<T>>>,
        large: bool,
    ) -> EngineResult<T> {
        turn::watched_at(&self.host(), work, large).await.or_else(|error| self.check().and(Err(error)))
    }

    /// Its time limit.
    pub(crate) fn timer(&self) -> StatementTimer {
        StatementTimer(Arc::clone(&self.watch.timer))
    }

    /// The host for computations on other threads.
    pub(crate) fn host(&self) -> Arc<dyn Host> {
        Arc::clone(&self.watch) as Arc<dyn Host>
    }
}

impl Watch {
    fn stopped(&self) -> Fault {
        self.entry.as_ref().map_or(Fault::Canceled, |entry| entry.stopped())
    }

    /// The reason to stop, if there is one.
    fn fault(&self) -> Option<Fault> {
        if self.token.is_cancelled() {
            return Some(self.stopped());
        }
        self.timer.is_over().then_some(Fault::StatementTimeout)
    }
}

impl Host for Watch {
    fn go_on(&self) -> Result<(), Interrupted> {
        turn::give_way();
        if self.fault().is_some() { Err(Interrupted) } else { Ok(()) }
    }

    fn before_long_step(&self) -> Result<(), Interrupted> {
        self.go_on()?;
        turn::leave();
        Ok(())
    }

    fn pause(&self) -> Result<bool, Interrupted> {
        if self.fault().is_some() { Err(Interrupted) } else { Ok(turn::is_over()) }
    }
}

impl query::Stop for RunGuard {
    fn is_stopped(&self) -> bool {
        self.watch.go_on().is_err()
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        if let Some(entry) = &self.watch.entry {
            let mut state = entry.state.lock();
            state.active -= 1;
            if state.active == 0 {
                state.activity.rest(micros(entry.client.clock.as_ref()));
                // Releases locks that the work took while it was dropped. The mutex is held, so that no other
                // statement begins meanwhile.
                entry.release_of_statement();
            }
        }
    }
}
