//! What a kind of job does.

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

/// How a run ended, if not by an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// What the job is for is done.
    Done,
    /// It cannot be done any more, and need not be: what it is about is gone.
    Obsolete(String),
    /// There is nothing to be done before so long has passed, or the definitions have changed.
    Later(Duration),
}

/// A kind of job.
#[async_trait]
pub(crate) trait JobKind: Send + Sync {
    /// Does the work, from wherever the record says that it is. Stops with an error soon after
    /// [`JobContext::check`] says so.
    ///
    /// # Errors
    /// The work's. One that may pass lets it be begun again.
    async fn run(&self, context: &JobContext) -> EngineResult<Outcome>;

    /// Takes back what it did. Calls [`JobContext::release`] when statements see nothing of it any more.
    ///
    /// # Errors
    /// Those of the store. It is begun again then.
    async fn undo(&self, context: &JobContext) -> EngineResult<()>;
}

/// Kinds as their records name them.
pub(crate) const INDEX_BUILD: &str = "index build";
pub(crate) const INDEX_DROP: &str = "index drop";
pub(crate) const REFRESH: &str = "refresh";
pub(crate) const INDEX_REFRESH: &str = "index refresh";

/// Kinds of tests: one whose run panics, and one that cannot even take it back.
#[cfg(test)]
pub(super) const PANICS: &str = "panics";
#[cfg(test)]
pub(super) const PANICS_ALWAYS: &str = "panics always";

/// The kind of that name.
///
/// # Errors
/// A name that a newer version wrote.
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

/// A value as records keep it.
///
/// # Errors
/// One that has no form in JSON.
pub(super) fn to_json(value: &impl Serialize) -> EngineResult<String> {
    serde_json::to_string(value).or_else(|error| fail(Fault::Internal { detail: format!("a job to be kept: {error}") }))
}

/// A value of a record.
///
/// # Errors
/// One that is not of that type.
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
