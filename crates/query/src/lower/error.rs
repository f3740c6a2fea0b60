//! Why a statement was not lowered.

use crate::error::QueryError;
use datafusion::common::DataFusionError;
use std::borrow::Cow;

/// A bound statement without a plan.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LowerError {
    /// No form here yet.
    #[error("{what} is not lowered yet")]
    NotBuilt {
        /// The node or the function.
        what: Cow<'static, str>,
    },
    /// What is wrong with the statement.
    #[error(transparent)]
    Query(#[from] QueryError),
}

pub(super) type LowerResult<T> = Result<T, LowerError>;

impl From<DataFusionError> for LowerError {
    fn from(error: DataFusionError) -> Self {
        Self::Query(error.into())
    }
}

/// What has no form here yet.
pub(super) fn not_built<T>(what: impl Into<Cow<'static, str>>) -> LowerResult<T> {
    Err(LowerError::NotBuilt { what: what.into() })
}
