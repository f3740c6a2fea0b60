//! What indexes on expressions, and of some rows only, ask of whoever can evaluate expressions.

use catalog::RowError;
use std::error::Error;
use std::fmt::Debug;
use types::Datum;

/// The expressions of one index, in the order of its parts, and its predicate. A row has a value for each column of the table.
pub trait RowExprs: Debug + Send + Sync {
    /// Does the predicate hold for the row? Without one it does. It is asked first: of rows that it leaves out no expression is
    /// evaluated, which may fail for them.
    ///
    /// # Errors
    /// [`IndexError::Expr`]: what evaluating gives.
    fn holds(&self, row: &[Datum]) -> IndexResult<bool>;

    /// The values of the expressions for a row.
    ///
    /// # Errors
    /// [`IndexError::Expr`]: what evaluating gives.
    fn eval(&self, row: &[Datum]) -> IndexResult<Vec<Datum>>;
}

/// Result of making entries.
pub type IndexResult<T> = Result<T, IndexError>;

/// Why a row has no entry that it should have.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The entry cannot be made.
    #[error(transparent)]
    Row(#[from] RowError),
    /// An expression cannot be evaluated: the error of whoever evaluates.
    #[error("{0}")]
    Expr(Box<dyn Error + Send + Sync>),
}
