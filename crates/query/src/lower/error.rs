//! Why a statement was not lowered.

use crate::error::QueryError;
use datafusion::common::DataFusionError;
use std::borrow::Cow;

/// A bound statement without a plan.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LowerError {
    /// Expressions over rows at hand that only a plan computes.
    #[error("{what} is not supported here")]
    NotBuilt {
        /// What needs the plan.
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

/// What no bound tree has.
pub(super) fn internal<T>(what: impl Into<String>) -> LowerResult<T> {
    Err(QueryError::internal(what).into())
}

/// What the list of built-ins has and no plan computes (0A000).
pub(super) fn unsupported<T>(feature: impl Into<String>) -> LowerResult<T> {
    Err(QueryError::Unsupported { feature: feature.into() }.into())
}
