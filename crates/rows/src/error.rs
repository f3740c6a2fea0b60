//! What can go wrong while a program runs. Variants carry data; `engine` chooses SQLSTATEs.

use builtins::EvalError;
use catalog::RowError;
use store::StoreError;

/// Result of running.
pub type RowsResult<T> = Result<T, RowsError>;

/// A program that failed, or that must not go on.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RowsError {
    /// More was read or held than programs may: the statement's plan is to run instead. Never shown to a client.
    #[error("the statement reads more than a row program may")]
    OverBudget,
    /// An expression failed.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// Bytes that are no row.
    #[error(transparent)]
    Row(#[from] RowError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// 21000.
    #[error("more than one row returned by a subquery used as an expression")]
    MoreThanOneRow,
    /// 2201W.
    #[error("LIMIT must not be negative")]
    NegativeLimit,
    /// 2201X.
    #[error("OFFSET must not be negative")]
    NegativeOffset,
}

impl RowsError {
    /// A defect: something that compiling should have refused.
    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        Self::Eval(EvalError::Internal { detail: detail.into() })
    }
}

impl From<types::interrupt::Interrupted> for RowsError {
    fn from(stop: types::interrupt::Interrupted) -> Self {
        Self::Eval(stop.into())
    }
}
