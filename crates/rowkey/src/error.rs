//! What can be wrong with a key or a cell.

/// A value that is not of its part's type, or bytes that are not of this codec.
///
/// Offsets count from the start of the bytes that were read: the key, or the cell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The bytes end inside a part.
    #[error("rowkey byte {offset}: the key ends inside a part")]
    Truncated {
        /// Where the bytes end.
        offset: usize,
    },
    /// A zero byte of a variable-length part is followed by neither of its marks.
    #[error("rowkey byte {offset}: 00 is followed by {mark:02X}, expected FF (a zero byte) or 01 (the end)")]
    BadEscape {
        /// Of the zero byte.
        offset: usize,
        /// The byte after it.
        mark: u8,
    },
    /// The byte in front of a nullable part says neither NULL nor value.
    #[error("rowkey byte {offset}: {mark:02X} marks neither NULL nor a value")]
    BadNullMark {
        /// Of the mark.
        offset: usize,
        /// The byte.
        mark: u8,
    },
    /// Bytes of the right length that no value has.
    #[error("rowkey byte {offset}: not a value of type {ty}")]
    BadValue {
        /// Where the value begins.
        offset: usize,
        /// SQL name of the type.
        ty: String,
    },
    /// Bytes after the last part.
    #[error("rowkey byte {offset}: bytes after the last part")]
    TrailingBytes {
        /// Of the first one.
        offset: usize,
    },
    /// A fixed-width cell of another width.
    #[error("a cell of type {ty} has {found} bytes, expected {expected}")]
    BadWidth {
        /// SQL name of the type.
        ty: String,
        /// Bytes that the type takes.
        expected: usize,
        /// Bytes that are there.
        found: usize,
    },
    /// A value of another type than the part or cell, or outside its limits: `types::coerce::assign` comes first.
    #[error("a value of type {found} cannot be encoded as {ty}")]
    WrongType {
        /// SQL name of the wanted type.
        ty: String,
        /// SQL name of the value's type.
        found: String,
    },
    /// An array with other dimensions than its column declares (0A000).
    #[error("an array of {found} dimensions in a column of arrays of {declared} is not supported")]
    Dimensions {
        /// Dimensions of the array.
        found: usize,
        /// What the column declares.
        declared: usize,
    },
    /// An array whose parts have other sizes than each other (2202E).
    #[error("multidimensional arrays must have parts with matching dimensions")]
    Uneven,
    /// An interval whose time is longer than 292 years (22008).
    #[error("interval out of range")]
    IntervalRange,
    /// NULL in a part that is not nullable (23502).
    #[error("NULL in key part {part}, which is not nullable")]
    NullPart {
        /// Index of the part.
        part: usize,
    },
    /// More or fewer values than the key has parts.
    #[error("{found} values for a key of {expected} parts")]
    WrongArity {
        /// Parts of the key.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// A part that the key does not have.
    #[error("the key has no part {part}")]
    NoSuchPart {
        /// Index asked for.
        part: usize,
    },
    /// A key longer than [`crate::MAX_KEY_BYTES`] (54000).
    #[error("rowkey of {len} bytes is longer than the limit of {limit}")]
    TooLong {
        /// Bytes of the key.
        len: usize,
        /// Most bytes of a key.
        limit: usize,
    },
}

impl KeyError {
    /// The same error, its offset counted from `base` bytes further ahead.
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
