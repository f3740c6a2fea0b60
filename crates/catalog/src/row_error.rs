//! What can be wrong with one row on its way into bytes or out of them.

use types::TypeError;

/// Result of encoding and decoding rows.
pub type RowResult<T> = Result<T, RowError>;

/// A row that cannot be made, or bytes that are none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RowError {
    /// A NULL in a column that takes none (23502).
    #[error("null value in column \"{column}\" of relation \"{table}\" violates not-null constraint")]
    NullColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A key that cannot be made.
    #[error(transparent)]
    Key(#[from] rowkey::KeyError),
    /// A row that cannot be made.
    #[error(transparent)]
    Fragment(#[from] fragment::FragmentError),
    /// A value that does not fit its type.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// A value that columns of its type cannot keep (0A000).
    #[error("{feature} is not supported")]
    Unsupported {
        /// What.
        feature: String,
    },
    /// Bytes in the store that are no row of this table (XX001).
    #[error("row of table \"{table}\" corrupted: {detail}")]
    Corrupted {
        /// The table.
        table: String,
        /// What is wrong.
        detail: String,
    },
    /// A defect: a table that the catalog would not have made (XX000).
    #[error("internal error: {detail}")]
    Internal {
        /// What was found.
        detail: String,
    },
}

impl RowError {
    /// Something that cannot be, told instead of a panic.
    pub fn internal(detail: impl Into<String>) -> Self {
        Self::Internal { detail: detail.into() }
    }
}
