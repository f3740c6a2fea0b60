//! Statements that wait for a job: CREATE INDEX CONCURRENTLY and similar ones.
//!
//! The client gets a NOTICE for each phase. A statement that is cancelled or times out, or whose session is
//! terminated or loses its client, cancels its job; if the server stops, the job continues at the next start.

use super::job::{Job, RequestedState};
use crate::error::{EngineResult, Fault, fail};
use crate::{EngineError, Notice, Session};
use catalog::{JobRecord, JobState};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A job that takes no longer sends no notices.
const QUIET: Duration = Duration::from_millis(500);
/// Time between two notices of the same phase.
const BETWEEN_NOTICES: Duration = Duration::from_secs(5);
/// How long a cancelled statement waits until statements see no effects of its job.
const CLEANING_UP: Duration = Duration::from_secs(10);

/// Cancels the job when the statement is dropped, because its client is gone.
struct CancelOnDrop<'s> {
    session: &'s Session,
    job: Arc<Job>,
    armed: bool,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed && !self.session.entry.ends_with_server() && !self.job.is_closing() {
            self.job.wish(RequestedState::Cancel);
        }
    }
}

impl Session {
    /// Waits until the job is final.
    ///
    /// # Errors
    /// The job's error; 57014 if the job or the statement was cancelled.
    pub(crate) async fn wait_for_job(&self, job: Arc<Job>) -> EngineResult<()> {
        let guard = self.running();
        let mut cancel = CancelOnDrop { session: self, job: Arc::clone(&job), armed: true };
        let began = Instant::now();
        let mut told = (String::new(), began);
        loop {
            let record = job.record();
            let released = record.state == JobState::Cancelling && job.is_released();
            if released {
                // Usually the job is final at once. It may also wait for writers, and the client need not.
                let _ = tokio::time::timeout(QUIET, job.ended()).await;
            }
            let record = job.record();
            if record.state.is_final() || released {
                cancel.armed = false;
                return outcome(&job, &record);
            }
            if began.elapsed() >= QUIET {
                self.tell_progress(&record, &mut told);
            }
            let changed = async {
                let _ = tokio::time::timeout(QUIET, job.changed_since(record.version)).await;
                Ok(())
            };
            if let Err(error) = guard.stoppable(changed).await {
                cancel.armed = false;
                return Err(self.give_job_up(&job, error).await);
            }
        }
    }

    /// Cancels the job of a statement that ends with `error`, unless the server stops.
    async fn give_job_up(&self, job: &Arc<Job>, error: EngineError) -> EngineError {
        if self.entry.ends_with_server() || job.is_closing() {
            return error;
        }
        job.wish(RequestedState::Cancel);
        let cleaned = async {
            while !job.is_released() {
                job.changed_since(job.record().version).await;
            }
        };
        if tokio::time::timeout(CLEANING_UP, cleaned).await.is_err() {
            return error.with_hint(format!("Job {} is still taking back what it did: SHOW JOBS.", job.id()));
        }
        error
    }

    fn tell_progress(&self, record: &JobRecord, told: &mut (String, Instant)) {
        if record.phase.is_empty() || (record.phase == told.0 && told.1.elapsed() < BETWEEN_NOTICES) {
            return;
        }
        *told = (record.phase.clone(), Instant::now());
        let rows = match record.counts.rows_total {
            0 => String::new(),
            total => format!(", {} of about {total} rows", record.counts.rows),
        };
        self.send_live_notice(Notice::info("00000", format!("job {}: {}{rows}", record.id, record.phase)));
    }
}

fn outcome(job: &Job, record: &JobRecord) -> EngineResult<()> {
    if record.state == JobState::Succeeded {
        return Ok(());
    }
    match (job.failure(), &record.error) {
        (Some(error), _) if job.wished() != RequestedState::Cancel => Err(error),
        (_, Some((_, why))) => fail(Fault::JobEnded { id: record.id, why: why.clone() }),
        _ => fail(Fault::JobCancelled { id: record.id }),
    }
}
