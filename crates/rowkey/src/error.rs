//! Errors of encoding and decoding keys and cells.

/// A value that is not of the part's type, or bytes that this codec did not write.
///
/// Offsets count from the start of the bytes that are decoded: the key, or the cell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The bytes end inside a part.
    #[error("rowkey byte {offset}: the key ends inside a part")]
    Truncated {
        /// The length of the bytes.
        offset: usize,
    },
    /// A zero byte of a variable-length part is followed by an invalid mark.
    #[error("rowkey byte {offset}: 00 is followed by {mark:02X}, expected FF (a zero byte) or 01 (the end)")]
    BadEscape {
        /// Offset of the zero byte.
        offset: usize,
        /// The byte after it.
        mark: u8,
    },
    /// The byte before a nullable part is neither the NULL mark nor the value mark.
    #[error("rowkey byte {offset}: {mark:02X} marks neither NULL nor a value")]
    BadNullMark {
        /// Offset of the mark.
        offset: usize,
        /// The mark.
        mark: u8,
    },
    /// Bytes of the right length that encode no value.
    #[error("rowkey byte {offset}: not a value of type {ty}")]
    BadValue {
        /// Offset of the value.
        offset: usize,
        /// SQL name of the type.
        ty: String,
    },
    /// Bytes after the last part.
    #[error("rowkey byte {offset}: bytes after the last part")]
    TrailingBytes {
        /// Offset of the first one.
        offset: usize,
    },
    /// A fixed-width cell of another width.
    #[error("a cell of type {ty} has {found} bytes, expected {expected}")]
    BadWidth {
        /// SQL name of the type.
        ty: String,
        /// Width of the type.
        expected: usize,
        /// Length of the cell.
        found: usize,
    },
    /// A value of another type than the part or cell, or outside its limits: callers use `types::coerce::assign` first.
    #[error("a value of type {found} cannot be encoded as {ty}")]
    WrongType {
        /// SQL name of the expected type.
        ty: String,
        /// SQL name of the value's type.
        found: String,
    },
    /// 0A000: an array with other dimensions than its column declares.
    #[error("an array of {found} dimensions in a column of arrays of {declared} is not supported")]
    Dimensions {
        /// Dimensions of the array.
        found: usize,
        /// Dimensions of the column.
        declared: usize,
    },
    /// 2202E: an array with sub-arrays of different sizes.
    #[error("multidimensional arrays must have parts with matching dimensions")]
    Uneven,
    /// 22008: an interval whose time exceeds 292 years.
    #[error("interval out of range")]
    IntervalRange,
    /// 23502: NULL in a part that is not nullable.
    #[error("NULL in key part {part}, which is not nullable")]
    NullPart {
        /// Index of the part.
        part: usize,
    },
    /// More or fewer values than the key has parts.
    #[error("{found} values for a key of {expected} parts")]
    WrongArity {
        /// The number of parts.
        expected: usize,
        /// The number of values.
        found: usize,
    },
    /// A part that the key does not have.
    #[error("the key has no part {part}")]
    NoSuchPart {
        /// The requested index.
        part: usize,
    },
    /// 54000: a key longer than [`crate::MAX_KEY_BYTES`].
    #[error("rowkey of {len} bytes is longer than the limit of {limit}")]
    TooLong {
        /// Length of the key.
        len: usize,
        /// The limit.
        limit: usize,
    },
}

impl KeyError {
    /// Adds `base` to the offset of the error.
    #[must_use]
    pub(crate) fn at(mut self, base: usize) -> Self {
        match &mut self {
            Self::Truncated { offset }
            | Self::BadEscape { offset, .. }
            | Self::BadNullMark { offset, .. }
            | Self::BadValue { offset, .. }
            | Self::TrailingBytes { offset } => *offset += base,
            _ => {}
        }
        self
    }
}
