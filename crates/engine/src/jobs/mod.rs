//! Background jobs: they run beside statements, resume after a restart, and can be watched, paused and cancelled.
//!
//! ```text
//!   statement ──begin──> record (with the change of the catalog that it belongs to) ──start──> task ──> final state
//!
//!   Pending ──> Running ──> Succeeded
//!     ^           │ transient error, retried after a pause; PAUSE JOB ──> Paused ──RESUME JOB──> Pending
//!     ├─ not yet ─┤ a periodic task is not due: after a pause
//!     └───────────┤
//!                 └ any other error, CANCEL JOB ──> Cancelling: undoes its effects ──> Failed, Cancelled
//! ```
//! The kind of a job ([`kind::JobKind`]) does the work; the framework keeps its record, runs it and passes on
//! requests. A record is written before the step that it describes becomes visible, so that after a crash the next
//! process finds one of the two states, and every step is idempotent.
//!
//! Invariants:
//! - A job that is not final has a task while the engine is open, and again after the next start.
//! - `run` and `undo` of a kind may be restarted after any of their steps.
//! - A job holds no lock while it waits for another lock.

mod control;
mod index_build;
mod index_drop;
mod index_refresh;
mod job;
mod kind;
mod refresh;
mod runner;
mod shown;
mod wait;

pub(crate) use index_build::{BuildSpec, check_unique};
pub(crate) use index_drop::DropSpec;
pub(crate) use index_refresh::IndexRefreshSpec;
pub(crate) use job::Job;
pub(crate) use kind::{INDEX_BUILD, INDEX_DROP, INDEX_REFRESH, REFRESH};
pub(crate) use refresh::RefreshSpec;
pub(crate) use shown::{build_info, columns, job_info};

use crate::Engine;
use crate::error::EngineResult;
use crate::threads::query_runtime::Spawned;
use catalog::{JobCounts, JobRecord, JobState};
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Number of jobs that run at once; others are pending.
const AT_ONCE: usize = 4;
/// Number of final jobs that are kept.
const REMEMBERED: usize = 200;

/// All jobs of an engine.
#[derive(Debug)]
pub(crate) struct Jobs {
    /// By number. Locked for one look-up or change, never across an await.
    all: Mutex<BTreeMap<u32, Arc<Job>>>,
    /// Tasks of jobs; dropping a task stops it. Locked like `all`.
    tasks: Mutex<BTreeMap<u32, Spawned<()>>>,
    next: AtomicU32,
    seats: Arc<Semaphore>,
    closing: CancellationToken,
}

impl Jobs {
    /// Creates jobs from the records that the store had when it was opened.
    pub(crate) fn new(found: &[JobRecord]) -> Self {
        let closing = CancellationToken::new();
        let job = |record: &JobRecord| (record.id, Arc::new(Job::new(record.clone(), closing.clone())));
        let all: BTreeMap<u32, Arc<Job>> = found.iter().map(job).collect();
        let next = all.last_key_value().map_or(1, |(last, _)| last.saturating_add(1));
        Self {
            all: Mutex::new(all),
            tasks: Mutex::default(),
            next: AtomicU32::new(next),
            seats: Arc::new(Semaphore::new(AT_ONCE)),
            closing,
        }
    }

    /// Resumes jobs of an earlier process, and drops half-built indexes without a job.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn resume(&self, engine: &Arc<Engine>) -> EngineResult<()> {
        if !engine.store().capabilities().exclusive {
            // Another process may run them.
            return Ok(());
        }
        index_build::drop_abandoned(engine, &self.all()).await?;
        for job in self.all().into_iter().filter(|job| !job.record().state.is_final()) {
            self.start(engine, &job);
        }
        Ok(())
    }

    /// The record of a new job. The caller makes it durable, then calls [`Self::begin`].
    pub(crate) fn record(
        &self,
        engine: &Engine,
        kind: &'static str,
        description: String,
        spec: &impl Serialize,
    ) -> JobRecord {
        JobRecord {
            id: self.next.fetch_add(1, Ordering::Relaxed),
            version: 1,
            kind: kind.to_string(),
            description,
            state: JobState::Pending,
            phase: String::new(),
            // If the specification cannot be written, it cannot be read later, and the job fails with that error.
            spec: kind::to_json(spec).unwrap_or_default(),
            position: String::new(),
            counts: JobCounts::default(),
            attempts: 0,
            error: None,
            detail: None,
            created: engine.now(),
            started: None,
            finished: None,
        }
    }

    /// Starts a job whose record is durable.
    pub(crate) fn begin(&self, engine: &Arc<Engine>, record: JobRecord) -> Arc<Job> {
        let job = Arc::new(Job::new(record, self.closing.clone()));
        self.all.lock().insert(job.id(), Arc::clone(&job));
        self.start(engine, &job);
        job
    }

    fn start(&self, engine: &Arc<Engine>, job: &Arc<Job>) {
        let task = runner::spawn(engine, Arc::clone(job), Arc::clone(&self.seats));
        if let Some(task) = task {
            self.tasks.lock().insert(job.id(), task);
        }
    }

    /// The job of that number.
    pub(crate) fn get(&self, id: u32) -> Option<Arc<Job>> {
        self.all.lock().get(&id).cloned()
    }

    /// All jobs by number.
    pub(crate) fn all(&self) -> Vec<Arc<Job>> {
        self.all.lock().values().cloned().collect()
    }

    /// Wakes jobs that wait for a time, to check whether it has changed.
    pub(crate) fn look_again(&self) {
        self.all.lock().values().for_each(|job| job.look_again());
    }

    /// Drops the oldest final jobs above the limit, and returns their numbers, oldest first.
    fn too_old(&self) -> Vec<u32> {
        let mut all = self.all.lock();
        let over: Vec<u32> = all.values().filter(|job| job.record().state.is_final()).map(|job| job.id()).collect();
        let many = over.len().saturating_sub(REMEMBERED);
        let old: Vec<u32> = over.into_iter().take(many).collect();
        all.retain(|id, _| !old.contains(id));
        drop(all);
        self.tasks.lock().retain(|id, _| !old.contains(id));
        old
    }

    /// Stops all tasks where they are. The next start continues from there.
    pub(crate) fn close(&self) {
        self.closing.cancel();
        self.tasks.lock().clear();
    }
}
