//! PAUSE JOB, RESUME JOB, CANCEL JOB: they return when the job has durably reached the requested state.

use super::job::{Job, RequestedState};
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use catalog::JobState;
use sql::{ControlJob, JobAction};
use std::sync::Arc;

impl Session {
    /// PAUSE JOB, RESUME JOB, CANCEL JOB.
    pub(crate) async fn control_job(&mut self, control: &ControlJob) -> EngineResult<String> {
        let tag = match control.action {
            JobAction::Pause => "PAUSE JOB",
            JobAction::Resume => "RESUME JOB",
            JobAction::Cancel => "CANCEL JOB",
        };
        self.refuse_in_block(tag)?;
        let id = control.id;
        let found = u32::try_from(id).ok().and_then(|id| self.engine.jobs().get(id));
        let Some(job) = found else { return fail(Fault::NoSuchJob { id }) };
        let (wish, heard): (_, fn(&Job) -> bool) = match control.action {
            JobAction::Pause => (RequestedState::Pause, |job| job.record().state == JobState::Paused),
            JobAction::Resume => (RequestedState::Run, |job| job.record().state != JobState::Paused),
            JobAction::Cancel => (RequestedState::Cancel, |job| job.is_released()),
        };
        let state = job.record().state;
        let fits = match control.action {
            JobAction::Pause => matches!(state, JobState::Pending | JobState::Running),
            JobAction::Resume => state == JobState::Paused,
            JobAction::Cancel => !state.is_final() && state != JobState::Cancelling,
        };
        if !fits {
            return fail(Fault::JobState { id, action: tag, state: state.name() });
        }
        job.wish(wish);
        self.until(&job, heard).await?;
        Ok(tag.to_string())
    }

    /// Waits until the condition holds, or the job is final.
    async fn until(&self, job: &Arc<Job>, is_so: fn(&Job) -> bool) -> EngineResult<()> {
        let guard = self.running();
        loop {
            let record = job.record();
            if record.state.is_final() || is_so(job) {
                return Ok(());
            }
            guard
                .stoppable(async {
                    job.changed_since(record.version).await;
                    Ok(())
                })
                .await?;
        }
    }
}
