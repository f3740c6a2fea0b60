//! The kinds of jobs.

use super::index_build::IndexBuild;
use super::index_drop::IndexDrop;
use super::index_refresh::IndexRefreshSpec;
use super::job::JobContext;
use super::refresh::{Refresh, RefreshSpec};
use crate::error::{EngineResult, Fault, fail};
use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::time::Duration;

/// Result of a run without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The job is done.
    Done,
    /// The job is pointless now, because its object was dropped.
    Obsolete(String),
    /// There is nothing to do until this time has passed or the definitions have changed.
    Later(Duration),
}

/// A kind of job.
#[async_trait]
pub(crate) trait JobKind: Send + Sync {
    /// Does the work, starting from the position in the record. Returns an error soon after [`JobContext::check`]
    /// does.
    ///
    /// # Errors
    /// Errors of the work. After a transient error it is started again.
    async fn run(&self, context: &JobContext) -> EngineResult<Outcome>;

    /// Undoes the effects of the job. Calls [`JobContext::release`] when statements see none of them any more.
    ///
    /// # Errors
    /// Errors of the store. It is started again then.
    async fn undo(&self, context: &JobContext) -> EngineResult<()>;
}

/// Names of the kinds in job records.
pub(crate) const INDEX_BUILD: &str = "index build";
pub(crate) const INDEX_DROP: &str = "index drop";
pub(crate) const REFRESH: &str = "refresh";
pub(crate) const INDEX_REFRESH: &str = "index refresh";

/// Kinds for tests: one whose run panics, and one whose undo panics too.
#[cfg(test)]
pub(super) const PANICS: &str = "panics";
#[cfg(test)]
pub(super) const PANICS_ALWAYS: &str = "panics always";

/// The kind of that name.
///
/// # Errors
/// A name written by a newer version.
pub(super) fn kind_of(name: &str) -> EngineResult<&'static dyn JobKind> {
    match name {
        INDEX_BUILD => Ok(&IndexBuild),
        INDEX_DROP => Ok(&IndexDrop),
        REFRESH => Ok(&Refresh::<RefreshSpec>(PhantomData)),
        INDEX_REFRESH => Ok(&Refresh::<IndexRefreshSpec>(PhantomData)),
        #[cfg(test)]
        PANICS => Ok(&tests::Panics { always: false }),
        #[cfg(test)]
        PANICS_ALWAYS => Ok(&tests::Panics { always: true }),
        other => fail(Fault::Unsupported { feature: format!("a job of the kind \"{other}\"") }),
    }
}

/// Converts a value to its form in a record.
///
/// # Errors
/// A value that has no JSON form.
pub(super) fn to_json(value: &impl Serialize) -> EngineResult<String> {
    serde_json::to_string(value).or_else(|error| fail(Fault::Internal { detail: format!("a job to be kept: {error}") }))
}

/// Reads a value from a record.
///
/// # Errors
/// Text that is not a value of that type.
pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> EngineResult<T> {
    serde_json::from_str(text)
        .or_else(|error| fail(Fault::Internal { detail: format!("the record of a job: {error}") }))
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;

    pub(super) struct Panics {
        pub(super) always: bool,
    }

    #[async_trait]
    impl JobKind for Panics {
        async fn run(&self, _: &JobContext) -> EngineResult<Outcome> {
            panic!("on purpose");
        }

        async fn undo(&self, context: &JobContext) -> EngineResult<()> {
            assert!(!self.always, "again on purpose");
            context.release();
            Ok(())
        }
    }
}
