//! Records of jobs: background work that survives a restart, such as the build of an index.
//!
//! A record is a row of the system table, but not part of a catalog version: it is replaced whenever its job
//! progresses. Where both must change together, the record is written with the change ([`Draft::put_job`]). The kind of
//! job defines the contents of `spec` and `position` (`engine/src/jobs`).

use crate::stored::{FAMILY, Kind, fragment_of, json_of};
use crate::{CatalogResult, Draft, SYSTEM_TABLE};
use serde::{Deserialize, Serialize};
use store::{Durability, Mutation, Store, WriteBatch};

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for its turn, or for its next attempt.
    Pending,
    /// Running; after a restart, a job in this state is run again.
    Running,
    /// Paused until RESUME JOB.
    Paused,
    /// Cancelled or failed, and undoing its work.
    Cancelling,
    /// Ended with an error.
    Failed,
    /// Completed.
    Succeeded,
    /// Ended by CANCEL JOB.
    Cancelled,
}

impl JobState {
    /// Whether the state is final.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Failed | Self::Succeeded | Self::Cancelled)
    }

    /// The name that clients see.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Cancelling => "cancelling",
            Self::Failed => "failed",
            Self::Succeeded => "succeeded",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Progress of a job. A total is an estimate, made when the job begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCounts {
    /// Rows done.
    pub rows: u64,
    /// Rows to be done.
    pub rows_total: u64,
    /// Bytes of the rows done.
    pub bytes: u64,
    /// Bytes of the rows to be done.
    pub bytes_total: u64,
}

/// One job. Times are microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Its number. Increases, and is never reused.
    pub id: u32,
    /// Increases with every change of the record.
    pub version: u64,
    /// The kind of work.
    pub kind: String,
    /// The job's purpose, in SQL terms.
    pub description: String,
    /// Its state.
    pub state: JobState,
    /// The current step, named by the kind of job.
    pub phase: String,
    /// The parameters of its kind, as JSON.
    pub spec: String,
    /// The position from which it resumes, as JSON of its kind; empty at the start.
    pub position: String,
    /// Its progress for display.
    pub counts: JobCounts,
    /// Number of attempts that failed with a transient error.
    pub attempts: u32,
    /// SQLSTATE and message of its last error.
    pub error: Option<(String, String)>,
    /// The error's detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// When it was created.
    pub created: i64,
    /// When it first ran.
    pub started: Option<i64>,
    /// When it ended.
    pub finished: Option<i64>,
}

/// Replaces the record of a job.
///
/// # Errors
/// [`crate::CatalogError::Store`].
pub(crate) async fn write(store: &dyn Store, job: &JobRecord, durability: Durability) -> CatalogResult<()> {
    let fragment = fragment_of(&json_of(Kind::Job, job.id, job)?)?;
    let change = Mutation::Replace { table: SYSTEM_TABLE, family: FAMILY, key: Kind::Job.key(job.id), fragment };
    apply(store, change, durability).await
}

/// Deletes the record of a job.
///
/// # Errors
/// As [`write`].
pub(crate) async fn forget(store: &dyn Store, id: u32) -> CatalogResult<()> {
    let change = Mutation::Delete { table: SYSTEM_TABLE, family: FAMILY, key: Kind::Job.key(id) };
    apply(store, change, Durability::Buffered).await
}

async fn apply(store: &dyn Store, change: Mutation, durability: Durability) -> CatalogResult<()> {
    let commit = store.apply(WriteBatch { mutations: vec![change], ..WriteBatch::default() }, durability).await?;
    if durability == Durability::Sync {
        store.sync(commit).await?;
    }
    Ok(())
}

impl Draft {
    /// Writes the record of a job with this change.
    pub fn put_job(&mut self, job: JobRecord) {
        self.jobs.push(job);
    }
}
