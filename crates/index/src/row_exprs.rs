//! The trait by which crates above evaluate index expressions and predicates.

use catalog::RowError;
use std::error::Error;
use std::fmt::Debug;
use types::Datum;

/// The expressions of one index, in the order of its parts, and its predicate. A row has a value for each column.
pub trait RowExprs: Debug + Send + Sync {
    /// Whether the row satisfies the predicate; true without a predicate. Called first: expressions are not evaluated
    /// for rows that the predicate excludes, because they could fail.
    ///
    /// # Errors
    /// [`IndexError::Expr`]: the error of the evaluation.
    fn holds(&self, row: &[Datum]) -> IndexResult<bool>;

    /// The values of the expressions for a row.
    ///
    /// # Errors
    /// [`IndexError::Expr`]: the error of the evaluation.
    fn eval(&self, row: &[Datum]) -> IndexResult<Vec<Datum>>;
}

/// Result of encoding entries.
pub type IndexResult<T> = Result<T, IndexError>;

/// Why an entry could not be encoded.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The row or the entry is invalid.
    #[error(transparent)]
    Row(#[from] RowError),
    /// The evaluation of an expression failed.
    #[error("{0}")]
    Expr(Box<dyn Error + Send + Sync>),
}
