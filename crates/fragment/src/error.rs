//! What can be wrong with a fragment, or with what should become one.

use store::StoreError;

/// A failed call of this crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FragmentError {
    /// The bytes end before the part that must be there.
    #[error("fragment of {len} bytes ends inside its {part}, which needs {need}")]
    Truncated {
        /// `header`, `fixed part`, ...
        part: &'static str,
        /// Bytes that are there.
        len: usize,
        /// Bytes that had to be there.
        need: usize,
    },
    /// More bytes than the offsets account for.
    #[error("fragment of {len} bytes should end after {end}")]
    TrailingBytes {
        /// Bytes that are there.
        len: usize,
        /// Where the last cell ends.
        end: usize,
    },
    /// Byte 0 is no format that this build reads.
    #[error("fragment format {found} is not known to this build")]
    UnknownFormat {
        /// Byte 0.
        found: u8,
    },
    /// Byte 1 has flags that this build does not read.
    #[error("fragment flags {found:#04x} are not known to this build")]
    UnknownFlags {
        /// Byte 1.
        found: u8,
    },
    /// Dense where sparse was expected, or the other way round.
    #[error("fragment is {found}, expected {expected}")]
    WrongForm {
        /// `dense` or `sparse`.
        found: &'static str,
        /// `dense` or `sparse`.
        expected: &'static str,
    },
    /// A dense fragment of another layout than the one it is read with.
    #[error("fragment has layout {found}, read with layout {expected}")]
    WrongLayout {
        /// Bytes 2 and 3.
        found: u16,
        /// [`crate::Layout::id`].
        expected: u16,
    },
    /// A cell ends before it begins.
    #[error("cell {cell} ends at {end}, before its start {start}")]
    BadOffset {
        /// Number of the cell among those with an offset.
        cell: usize,
        /// Where the cell before it ends.
        start: usize,
        /// Where it ends.
        end: usize,
    },
    /// Qualifiers of a sparse fragment must ascend.
    #[error("qualifier {found} follows {before}")]
    QualifierOrder {
        /// The earlier one.
        before: u16,
        /// The later one, not larger.
        found: u16,
    },
    /// Encoding: not one cell for each column of the layout.
    #[error("{found} cells for the {expected} columns of layout {layout}")]
    CellCount {
        /// The layout.
        layout: u16,
        /// Its columns.
        expected: usize,
        /// Cells given.
        found: usize,
    },
    /// Encoding: a cell of a fixed-width column has another width.
    #[error("cell {qualifier} has {found} bytes, its column has {expected}")]
    CellWidth {
        /// The column.
        qualifier: u16,
        /// Its width.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// Encoding: more than offsets can say.
    #[error("{what} of {size} exceeds the limit of {limit}")]
    TooLarge {
        /// `row` (bytes) or `cells` (their number).
        what: &'static str,
        /// As given.
        size: usize,
        /// The most that fits.
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
