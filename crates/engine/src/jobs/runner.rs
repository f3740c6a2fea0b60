//! The task of a job: from its record to its final state.

use super::job::{Job, JobContext, JobHost, Wish};
use super::kind::{JobKind, Outcome, kind_of};
use crate::error::EngineResult;
use crate::query_runtime::Spawned;
use crate::{Engine, EngineError};
use catalog::JobState;
use std::sync::Arc;
use std::time::Duration;
use store::Durability;
use tokio::sync::Semaphore;

/// Attempts at a job whose errors may pass.
const ATTEMPTS: u32 = 10;
/// Time before the second attempt; it doubles with each one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest time between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Begins the task of a job. `None`: the engine is being closed.
pub(super) fn spawn(engine: &Arc<Engine>, job: Arc<Job>, seats: Arc<Semaphore>) -> Option<Spawned<()>> {
    let context = JobContext::new(engine, Arc::clone(&job));
    let host = Arc::new(JobHost(Arc::clone(&job)));
    let work = async move {
        if let Err(error) = work(&context, &seats).await
            && !job.is_closing()
        {
            tracing::error!(job = job.id(), %error, "a job rests until the next start");
        }
        forget_old(&context).await;
    };
    engine.runtime().spawn(Some(host), work).ok()
}

/// Brings a job to its final state.
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
        Wish::Cancel => context.save(Durability::Sync, |record| record.state = JobState::Cancelling).await,
        Wish::Pause => {
            context.save(Durability::Sync, |record| record.state = JobState::Paused).await?;
            context.other_wish(Wish::Pause).await;
            if context.job().wished() == Wish::Run {
                context.save(Durability::Sync, |record| record.state = JobState::Pending).await?;
            }
            Ok(())
        }
        Wish::Run => run(context, kind, seats).await,
    }
}

async fn run(context: &JobContext, kind: &dyn JobKind, seats: &Semaphore) -> EngineResult<()> {
    let seat = tokio::select! {
        seat = seats.acquire() => seat,
        () = context.other_wish(Wish::Run) => return Ok(()),
    };
    let now = context.engine()?.now();
    let begins = |record: &mut catalog::JobRecord| {
        record.state = JobState::Running;
        record.started.get_or_insert(now);
    };
    context.save(Durability::Buffered, begins).await?;
    let done = kind.run(context).await;
    drop(seat);
    match done {
        Ok(Outcome::Done) => finish(context, JobState::Succeeded).await,
        Ok(Outcome::Obsolete(why)) => {
            let set = |record: &mut catalog::JobRecord| {
                record.error = Some(("42704".to_string(), why));
                record.state = JobState::Cancelling;
            };
            context.job().wish(Wish::Cancel);
            context.save(Durability::Sync, set).await
        }
        Err(_) if context.check().is_err() => Ok(()),
        Err(error) => failed(context, error).await,
    }
}

/// Waits and lets it be tried again, or gives it up.
async fn failed(context: &JobContext, error: EngineError) -> EngineResult<()> {
    let attempts = context.job().record().attempts + 1;
    let again = may_pass(&error) && attempts < ATTEMPTS;
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
            () = context.other_wish(Wish::Run) => {}
        }
    }
    Ok(())
}

async fn undo(context: &JobContext, kind: &dyn JobKind) -> EngineResult<()> {
    let mut attempts = 0;
    while let Err(error) = kind.undo(context).await {
        context.while_open(async { Ok(()) }).await?;
        attempts += 1;
        tracing::warn!(job = context.job().id(), %error, "a job could not take back what it did; it tries again");
        let wait = async {
            tokio::time::sleep(pause_before(attempts)).await;
            Ok(())
        };
        context.while_open(wait).await?;
    }
    // An error that passed is no reason: somebody wished it.
    let by_wish = context.job().wished() == Wish::Cancel;
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

/// May the same step succeed later? Deadlocks, serialization failures, locks, memory, files, a change elsewhere.
fn may_pass(error: &EngineError) -> bool {
    let code = error.code();
    code.starts_with("40") || code.starts_with("53") || code.starts_with("58") || code == "55P03"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_attempts_doubles_and_is_bounded() {
        assert_eq!(pause_before(1), Duration::from_millis(200));
        assert_eq!(pause_before(2), Duration::from_millis(400));
        assert_eq!(pause_before(60), LONGEST_PAUSE);
    }
}
