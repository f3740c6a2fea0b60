//! Why a statement was not lowered.

use crate::error::{QueryError, QueryResult};

pub(super) type LowerResult<T> = QueryResult<T>;

/// What no bound tree has.
pub(super) fn internal<T>(what: impl Into<String>) -> LowerResult<T> {
    Err(QueryError::internal(what))
}

/// What the list of built-ins has and no plan computes (0A000).
pub(super) fn unsupported<T>(feature: impl Into<String>) -> LowerResult<T> {
    Err(QueryError::Unsupported { feature: feature.into() })
}
