//! Background jobs.

/// An action on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobAction {
    /// PAUSE JOB.
    Pause,
    /// RESUME JOB.
    Resume,
    /// CANCEL JOB.
    Cancel,
}

/// PAUSE JOB, RESUME JOB, CANCEL JOB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlJob {
    /// The action.
    pub action: JobAction,
    /// The job's number.
    pub id: u64,
}
