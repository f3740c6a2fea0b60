//! The task of a job, from its record to its final state.

use super::job::{Job, JobContext, JobHost, RequestedState};
use super::kind::{JobKind, Outcome, kind_of};
use crate::error::EngineResult;
use crate::threads::query_runtime::Spawned;
use crate::{Engine, EngineError};
use catalog::JobState;
use futures::FutureExt;
use query::QueryError;
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use store::Durability;
use tokio::sync::Semaphore;

/// Maximum number of attempts after transient errors.
const ATTEMPTS: u32 = 10;
/// Base of the pause between attempts, which doubles with each attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Spawns the task of a job. `None`: the engine is being closed.
pub(super) fn spawn(engine: &Arc<Engine>, job: Arc<Job>, seats: Arc<Semaphore>) -> Option<Spawned<()>> {
    let context = JobContext::new(engine, Arc::clone(&job));
    let host = Arc::new(JobHost(Arc::clone(&job)));
    let work = async move {
        if let Err(error) = caught(work(&context, &seats)).await
            && !job.is_closing()
        {
            tracing::error!(job = job.id(), %error, "a job rests until the next start");
            job.stop_until_restart(error);
        }
        forget_old(&context).await;
    };
    engine.runtime().spawn(Some(host), work).ok()
}

/// Converts a panic in `work` to an error.
async fn caught<T>(work: impl Future<Output = EngineResult<T>>) -> EngineResult<T> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(done) => done,
        Err(panic) => Err(QueryError::internal(panic_message(panic.as_ref())).into()),
    }
}

/// The message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a panic: {}", text.unwrap_or("it does not say why"))
}

/// Runs a job until it is final.
async fn work(context: &JobContext, seats: &Semaphore) -> EngineResult<()> {
    let kind = kind_of(&context.job().record().kind)?;
    while !context.job().record().state.is_final() {
        step(context, kind, seats).await?;
    }
    Ok(())
}

async fn step(context: &JobContext, kind: &dyn JobKind, seats: &Semaphore) -> EngineResult<()> {
    context.while_open(async { Ok(()) }).await?;
    let record = context.job().record();
    if record.state == JobState::Cancelling {
        return undo(context, kind).await;
    }
    match context.job().wished() {
        RequestedState::Cancel => context.save(Durability::Sync, |record| record.state = JobState::Cancelling).await,
        RequestedState::Pause => {
            context.save(Durability::Sync, |record| record.state = JobState::Paused).await?;
            context.requested_other(RequestedState::Pause).await;
            if context.job().wished() == RequestedState::Run {
                context.save(Durability::Sync, |record| record.state = JobState::Pending).await?;
            }
            Ok(())
        }
        RequestedState::Run => run(context, kind, seats).await,
    }
}

async fn run(context: &JobContext, kind: &dyn JobKind, seats: &Semaphore) -> EngineResult<()> {
    let seat = tokio::select! {
        seat = seats.acquire() => seat,
        () = context.requested_other(RequestedState::Run) => return Ok(()),
    };
    let now = context.engine()?.now();
    let begins = |record: &mut catalog::JobRecord| {
        record.state = JobState::Running;
        record.started.get_or_insert(now);
    };
    context.save(Durability::Buffered, begins).await?;
    let done = caught(kind.run(context)).await;
    drop(seat);
    match done {
        Ok(Outcome::Done) => finish(context, JobState::Succeeded).await,
        Ok(Outcome::Later(time)) => rest(context, time).await,
        Ok(Outcome::Obsolete(why)) => {
            let set = |record: &mut catalog::JobRecord| {
                record.error = Some(("42704".to_string(), why));
                record.state = JobState::Cancelling;
            };
            context.job().wish(RequestedState::Cancel);
            context.save(Durability::Sync, set).await
        }
        Err(_) if context.check().is_err() => Ok(()),
        Err(error) => failed(context, error).await,
    }
}

/// Waits until the job is due again.
async fn rest(context: &JobContext, time: Duration) -> EngineResult<()> {
    let pending = |record: &mut catalog::JobRecord| {
        record.state = JobState::Pending;
        record.phase = "waiting until it is due".to_string();
    };
    context.save(Durability::Buffered, pending).await?;
    tokio::select! {
        () = context.job().rested(time) => {}
        () = context.requested_other(RequestedState::Run) => {}
    }
    Ok(())
}

/// Retries the job after a pause if the error is transient, else cancels it.
async fn failed(context: &JobContext, error: EngineError) -> EngineResult<()> {
    let attempts = context.job().record().attempts + 1;
    let again = is_transient(&error) && attempts < ATTEMPTS;
    let set = |record: &mut catalog::JobRecord| {
        record.attempts = attempts;
        record.error = Some((error.code().to_string(), error.message().to_string()));
        record.detail = error.detail().map(str::to_string);
        record.state = if again { JobState::Pending } else { JobState::Cancelling };
    };
    context.job().fail_with(error.clone());
    context.save(Durability::Sync, set).await?;
    if again {
        tokio::select! {
            () = tokio::time::sleep(pause_before(attempts)) => {}
            () = context.requested_other(RequestedState::Run) => {}
        }
    }
    Ok(())
}

async fn undo(context: &JobContext, kind: &dyn JobKind) -> EngineResult<()> {
    let mut attempts = 0;
    while let Err(error) = caught(kind.undo(context)).await {
        context.while_open(async { Ok(()) }).await?;
        attempts += 1;
        tracing::warn!(job = context.job().id(), %error, "a job could not take back what it did; it tries again");
        // Undo may fail forever, so sessions that wait for the job are released now.
        context.release();
        let wait = async {
            tokio::time::sleep(pause_before(attempts)).await;
            Ok(())
        };
        context.while_open(wait).await?;
    }
    // A transient error of an earlier attempt is not the reason if a cancellation was requested.
    let by_wish = context.job().wished() == RequestedState::Cancel;
    let failed = context.job().record().error.is_some() && !by_wish;
    finish(context, if failed { JobState::Failed } else { JobState::Cancelled }).await
}

async fn finish(context: &JobContext, state: JobState) -> EngineResult<()> {
    let now = context.engine()?.now();
    let end = |record: &mut catalog::JobRecord| {
        record.state = state;
        record.finished = Some(now);
        record.position.clear();
        if state == JobState::Succeeded {
            record.error = None;
            record.detail = None;
        }
        record.phase.clear();
    };
    context.save(Durability::Sync, end).await
}

async fn forget_old(context: &JobContext) {
    let Ok(engine) = context.engine() else { return };
    for id in engine.jobs().too_old() {
        if let Err(error) = engine.catalog().forget_job(id).await {
            tracing::warn!(%error, job = id, "the record of an old job stays until the next start");
        }
    }
}

fn pause_before(attempt: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << attempt.min(16)).min(LONGEST_PAUSE)
}

/// Whether a retry may succeed: after deadlocks, serialization failures, lock timeouts, and errors of memory, files
/// or other processes.
fn is_transient(error: &EngineError) -> bool {
    let code = error.code();
    code.starts_with("40") || code.starts_with("53") || code.starts_with("58") || code == "55P03"
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::jobs::kind::{PANICS, PANICS_ALWAYS};
    use crate::{Engine, EngineOptions, SessionStart};

    /// Runs a job of a kind that panics: the error that a waiting session gets, and the state of the job.
    async fn end_of(kind: &'static str) -> (String, JobState) {
        let store = Arc::new(store_testkit::ModelStore::new());
        let engine = Engine::open(store, EngineOptions { query_threads: 1, ..EngineOptions::default() }).await.unwrap();
        let record = engine.jobs().record(&engine, kind, "a test".to_string(), &());
        let job = engine.jobs().begin(&engine, record);
        let session = engine.session(SessionStart { user: "ada".to_string(), ..SessionStart::default() }).unwrap();
        let waiting = tokio::time::timeout(Duration::from_secs(20), session.wait_for_job(Arc::clone(&job)));
        let error = waiting.await.expect("the waiter is woken").unwrap_err();
        (format!("{} {}", error.code(), error.message()), job.record().state)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_job_that_panics_fails_and_wakes_who_waits_for_it() {
        let (error, state) = end_of(PANICS).await;
        assert!(error.starts_with("XX000 ") && error.contains("on purpose"), "{error}");
        assert_eq!(state, JobState::Failed);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn who_waits_for_a_job_is_woken_though_it_cannot_take_back_what_it_did() {
        let (error, state) = end_of(PANICS_ALWAYS).await;
        assert!(error.starts_with("XX000 ") && error.contains("on purpose"), "{error}");
        assert_eq!(state, JobState::Cancelling);
    }

    #[test]
    fn the_time_between_attempts_doubles_and_is_bounded() {
        assert_eq!(pause_before(1), Duration::from_millis(200));
        assert_eq!(pause_before(2), Duration::from_millis(400));
        assert_eq!(pause_before(60), LONGEST_PAUSE);
    }
}
