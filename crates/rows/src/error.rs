//! Errors of executing a row program. Variants carry data; `engine` chooses SQLSTATEs.

use builtins::EvalError;
use catalog::RowError;
use store::StoreError;

/// The result of executing a row program.
pub type RowsResult<T> = Result<T, RowsError>;

/// An error of a row program, or the end of its budget.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RowsError {
    /// The program exceeded its limits: the statement's plan must be executed instead. Never sent to a client.
    #[error("the statement reads more than a row program may")]
    OverBudget,
    /// An expression failed.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// Corrupt bytes of a row.
    #[error(transparent)]
    Row(#[from] RowError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A scalar subquery that returned several rows (21000).
    #[error("more than one row returned by a subquery used as an expression")]
    MoreThanOneRow,
    /// A negative LIMIT (2201W).
    #[error("LIMIT must not be negative")]
    NegativeLimit,
    /// A negative OFFSET (2201X).
    #[error("OFFSET must not be negative")]
    NegativeOffset,
}

impl RowsError {
    /// A defect: a state that compiling should have rejected.
    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        Self::Eval(EvalError::Internal { detail: detail.into() })
    }
}

impl From<types::interrupt::Interrupted> for RowsError {
    fn from(stop: types::interrupt::Interrupted) -> Self {
        Self::Eval(stop.into())
    }
}
