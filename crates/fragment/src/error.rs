//! Errors of fragments and of their encoding.

use store::StoreError;

/// An error of this crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FragmentError {
    /// The bytes end within a required part.
    #[error("fragment of {len} bytes ends inside its {part}, which needs {need}")]
    Truncated {
        /// `header`, `fixed part`, ...
        part: &'static str,
        /// Actual length.
        len: usize,
        /// Required length.
        need: usize,
    },
    /// There are bytes after the last cell.
    #[error("fragment of {len} bytes should end after {end}")]
    TrailingBytes {
        /// Actual length.
        len: usize,
        /// The end of the last cell.
        end: usize,
    },
    /// Byte 0 is a format that this build does not support.
    #[error("fragment format {found} is not known to this build")]
    UnknownFormat {
        /// Byte 0.
        found: u8,
    },
    /// Byte 1 has flags that this build does not support.
    #[error("fragment flags {found:#04x} are not known to this build")]
    UnknownFlags {
        /// Byte 1.
        found: u8,
    },
    /// A sparse fragment was read as dense, or a dense one as sparse.
    #[error("fragment is {found}, expected {expected}")]
    WrongForm {
        /// `dense` or `sparse`.
        found: &'static str,
        /// `dense` or `sparse`.
        expected: &'static str,
    },
    /// A dense fragment was read with another layout than its own.
    #[error("fragment has layout {found}, read with layout {expected}")]
    WrongLayout {
        /// Bytes 2 and 3.
        found: u16,
        /// [`crate::Layout::id`].
        expected: u16,
    },
    /// A cell ends before it starts.
    #[error("cell {cell} ends at {end}, before its start {start}")]
    BadOffset {
        /// Index of the cell among those with an end offset.
        cell: usize,
        /// The end of the previous cell.
        start: usize,
        /// The end of this cell.
        end: usize,
    },
    /// Qualifiers of a sparse fragment must ascend.
    #[error("qualifier {found} follows {before}")]
    QualifierOrder {
        /// The previous qualifier.
        before: u16,
        /// The following qualifier, which is not larger.
        found: u16,
    },
    /// Encoding: the number of cells differs from the number of columns.
    #[error("{found} cells for the {expected} columns of layout {layout}")]
    CellCount {
        /// The id of the layout.
        layout: u16,
        /// The number of columns.
        expected: usize,
        /// The number of cells.
        found: usize,
    },
    /// Encoding: a cell does not have the width of its fixed-width column.
    #[error("cell {qualifier} has {found} bytes, its column has {expected}")]
    CellWidth {
        /// The qualifier of the column.
        qualifier: u16,
        /// The width of the column.
        expected: usize,
        /// The length of the cell.
        found: usize,
    },
    /// Encoding: the row is too large for its offsets.
    #[error("{what} of {size} exceeds the limit of {limit}")]
    TooLarge {
        /// `row` (bytes) or `cells` (their number).
        what: &'static str,
        /// The actual size.
        size: usize,
        /// The maximum size.
        limit: usize,
    },
}

impl From<FragmentError> for StoreError {
    fn from(error: FragmentError) -> Self {
        match error {
            FragmentError::TooLarge { what, size, limit } => Self::TooLarge { what, bytes: size, limit },
            other => Self::Corrupted { detail: other.to_string() },
        }
    }
}
