//! Records of jobs: work that goes on beside statements and survives a restart, such as the build of an index.
//!
//! A record is a row of the system table beside the definitions, but no part of a version of the catalog: it is replaced
//! whenever its job gets on. Where both have to change together, the record goes with the change ([`Draft::put_job`]).
//! What is in `spec` and `position` is up to the kind of job (`engine/src/jobs`).

use crate::stored::{FAMILY, Kind, fragment_of, json_of};
use crate::{CatalogResult, Draft, SYSTEM_TABLE};
use serde::{Deserialize, Serialize};
use store::{Durability, Mutation, Store, WriteBatch};

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for its turn, or for its next attempt.
    Pending,
    /// Is being worked on; in a record of a process that is gone: was, and will be again.
    Running,
    /// Was paused, and waits for RESUME JOB.
    Paused,
    /// Was cancelled or has failed, and takes back what it did.
    Cancelling,
    /// Ended with an error.
    Failed,
    /// Did what it was for.
    Succeeded,
    /// Ended as somebody wished.
    Cancelled,
}

impl JobState {
    /// Will it never change again?
    pub fn is_final(self) -> bool {
        matches!(self, Self::Failed | Self::Succeeded | Self::Cancelled)
    }

    /// As clients see it.
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

/// How far a job is. A total is an estimate, made when the job begins.
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
    /// Its number. Grows, and is never used again.
    pub id: u32,
    /// Grows with every change of the record.
    pub version: u64,
    /// The kind of work.
    pub kind: String,
    /// What it is for, as a person would say it in SQL.
    pub description: String,
    /// Where it stands.
    pub state: JobState,
    /// The step that it is at, in words of its kind.
    pub phase: String,
    /// What its kind must know to do it, as JSON.
    pub spec: String,
    /// How far it is, for its kind to go on from, as JSON; empty at the start.
    pub position: String,
    /// How far it is, for people.
    pub counts: JobCounts,
    /// Attempts that ended with an error that may pass.
    pub attempts: u32,
    /// SQLSTATE and message of its last error.
    pub error: Option<(String, String)>,
    /// What the error's message leaves out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// When it was made.
    pub created: i64,
    /// When it was first worked on.
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

/// Forgets a job.
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
    /// Makes the record of a job part of this change.
    pub fn put_job(&mut self, job: JobRecord) {
        self.jobs.push(job);
    }
}
