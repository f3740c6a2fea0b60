//! Errors of encoding and decoding a row.

use types::TypeError;

/// Result of encoding and decoding rows.
pub type RowResult<T> = Result<T, RowError>;

/// A row that cannot be encoded, or bytes that cannot be decoded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RowError {
    /// 23502: a NULL in a NOT NULL column.
    #[error("null value in column \"{column}\" of relation \"{table}\" violates not-null constraint")]
    NullColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A key that cannot be encoded.
    #[error(transparent)]
    Key(#[from] rowkey::KeyError),
    /// A fragment that cannot be encoded.
    #[error(transparent)]
    Fragment(#[from] fragment::FragmentError),
    /// A value that does not fit its type.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// 0A000: a value that a column of its type cannot store.
    #[error("{feature} is not supported")]
    Unsupported {
        /// The unsupported feature.
        feature: String,
    },
    /// XX001: bytes in the store that are not a row of this table.
    #[error("row of table \"{table}\" corrupted: {detail}")]
    Corrupted {
        /// The table.
        table: String,
        /// The reason.
        detail: String,
    },
    /// XX000: a defect, such as an inconsistent table definition.
    #[error("internal error: {detail}")]
    Internal {
        /// The description of the defect.
        detail: String,
    },
}

impl RowError {
    /// An impossible state, returned as an error instead of a panic.
    pub fn internal(detail: impl Into<String>) -> Self {
        Self::Internal { detail: detail.into() }
    }
}
