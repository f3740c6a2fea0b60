//! What can be wrong with a value.

/// A value that does not fit its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    /// Text that is not of the type's form (22P02; 22007 for dates and times).
    #[error("invalid input syntax for type {ty}: \"{input}\"")]
    InvalidText {
        /// SQL name of the wanted type.
        ty: String,
        /// The text as given.
        input: String,
    },
    /// A date or time of the right form that does not exist or is out of range (22008).
    #[error("date/time field value out of range: \"{input}\"")]
    DateTimeRange {
        /// The text as given.
        input: String,
    },
    /// A number outside the type's range (22003).
    #[error("{what} out of range")]
    OutOfRange {
        /// The type, or `value "x"` with the type.
        what: String,
    },
    /// A numeric with more digits than its column takes (22003).
    #[error("numeric field overflow: {value} does not fit numeric({precision},{scale})")]
    NumericOverflow {
        /// The value as text.
        value: String,
        /// Digits of the column.
        precision: u8,
        /// Fraction digits of the column.
        scale: u8,
    },
    /// Text or bytes longer than the column's limit (22001).
    #[error("value too long for type {ty}")]
    TooLong {
        /// SQL name with its limit.
        ty: String,
    },
    /// Text with a zero byte or that is not UTF-8 (22021).
    #[error("invalid byte sequence for encoding \"UTF8\": {detail}")]
    InvalidEncoding {
        /// Which byte, where.
        detail: String,
    },
    /// A value of another type where no assignment cast exists (42804).
    #[error("value of type {from} cannot be assigned to type {to}")]
    NoCast {
        /// SQL name of the value's type.
        from: String,
        /// SQL name of the wanted type.
        to: String,
    },
    /// A type name or type parameters that do not exist (42704, 22023).
    #[error("{message}")]
    BadType {
        /// One line for a person.
        message: String,
    },
}
