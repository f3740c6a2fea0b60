//! Errors of lowering.

use crate::error::{QueryError, QueryResult};

pub(super) type LowerResult<T> = QueryResult<T>;

/// A bound tree that binding never returns.
pub(super) fn internal<T>(what: impl Into<String>) -> LowerResult<T> {
    Err(QueryError::internal(what))
}

/// A built-in that has no plan (0A000).
pub(super) fn unsupported<T>(feature: impl Into<String>) -> LowerResult<T> {
    Err(QueryError::Unsupported { feature: feature.into() })
}
