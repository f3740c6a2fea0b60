//! Errors of values.

/// A value that does not fit its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    /// Text with invalid syntax for the type (22P02; 22007 for dates and times).
    #[error("invalid input syntax for type {ty}: \"{input}\"")]
    InvalidText {
        /// SQL name of the target type.
        ty: String,
        /// The text as given.
        input: String,
    },
    /// Text of bytes with an invalid digit, or with half a byte (22023).
    #[error("invalid hexadecimal data: \"{input}\"")]
    InvalidHex {
        /// The text as given.
        input: String,
    },
    /// A date or time of the right form that does not exist or is out of range (22008).
    #[error("date/time field value out of range: \"{input}\"")]
    DateTimeRange {
        /// The text as given.
        input: String,
        /// Whether the month or the day is out of range, which may be in another order.
        in_this_order: bool,
    },
    /// An interval of the right form whose parts are too large (22015).
    #[error("interval field value out of range: \"{input}\"")]
    IntervalRange {
        /// The text as given.
        input: String,
    },
    /// Years and months whose sum is out of range (22008).
    #[error("interval out of range")]
    IntervalOverflow {
        /// The text as given.
        input: String,
    },
    /// Text that is not an array (22P02).
    #[error("{message}")]
    BadArray {
        /// The message.
        message: String,
    },
    /// An array with too many dimensions (54000).
    #[error("number of array dimensions ({found}) exceeds the maximum allowed ({})", crate::array::MAX_DIMENSIONS)]
    TooManyDimensions {
        /// How many dimensions it has, at least.
        found: usize,
    },
    /// An array with too many elements (54000).
    #[error("array size exceeds the maximum allowed ({})", crate::array::MAX_ITEMS)]
    TooManyItems,
    /// COLLATE of a type that has no collations (42804).
    #[error("collations are not supported by type {ty}")]
    NotCollatable {
        /// SQL name of the type.
        ty: String,
    },
    /// Text that is not JSON (22P02).
    #[error("invalid input syntax for type json")]
    BadJson {
        /// The reason.
        detail: String,
    },
    /// Text of a number outside the type's range (22003).
    #[error("{}\"{input}\" is out of range for type {ty}", value_word(ty))]
    TextOutOfRange {
        /// SQL name of the target type.
        ty: String,
        /// The text as given.
        input: String,
    },
    /// A number outside the type's range (22003).
    #[error("{what} out of range")]
    OutOfRange {
        /// SQL name of the type.
        what: String,
    },
    /// A computed date or time out of the type's range (22008).
    #[error("{what} out of range")]
    MomentRange {
        /// SQL name of the type.
        what: String,
    },
    /// A numeric with more digits than its column takes (22003).
    #[error("numeric field overflow")]
    NumericOverflow {
        /// The value as text.
        value: String,
        /// Precision of the column.
        precision: u8,
        /// Scale of the column.
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
        /// The invalid bytes.
        detail: String,
    },
    /// A value of a type without an assignment cast to the target type (42804).
    #[error("value of type {from} cannot be assigned to type {to}")]
    NoCast {
        /// SQL name of the value's type.
        from: String,
        /// SQL name of the target type.
        to: String,
    },
    /// A type name that does not exist (42704).
    #[error("{message}")]
    BadType {
        /// The message.
        message: String,
    },
    /// Parameters that a type does not take, or that are out of range (22023).
    #[error("{message}")]
    BadTypeParameter {
        /// The message.
        message: String,
    },
    /// An array whose subscripts do not start at 1 (0A000).
    #[error("array bounds other than from 1 are not supported: \"{input}\"")]
    ArrayBounds {
        /// The text as given.
        input: String,
    },
    /// A type of PostgreSQL or Phoenix that Bennu does not support (0A000).
    #[error("type {name} is not supported{hint}")]
    UnsupportedType {
        /// The name as given.
        name: String,
        /// Empty, or the type to use instead, after a colon or semicolon.
        hint: String,
    },
}

impl TypeError {
    /// Returns the error for bytes that are not UTF-8 from `at` on. Its message has as many bytes as the first one
    /// announces. Source: `report_invalid_encoding` of PostgreSQL.
    pub fn not_utf8(bytes: &[u8], at: usize) -> Self {
        let wrong = bytes.get(at..).unwrap_or_default();
        let promised = match wrong.first() {
            Some(0xc0..=0xdf) => 2,
            Some(0xe0..=0xef) => 3,
            Some(0xf0..=0xf7) => 4,
            _ => 1,
        };
        let shown: Vec<String> = wrong.iter().take(promised).map(|byte| format!("0x{byte:02x}")).collect();
        Self::InvalidEncoding { detail: shown.join(" ") }
    }

    /// Returns the SQLSTATE for the client.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            Self::InvalidText { ty, .. } if is_date_or_time(ty) => "22007",
            Self::InvalidText { .. } | Self::BadArray { .. } | Self::BadJson { .. } => "22P02",
            Self::TooManyDimensions { .. } | Self::TooManyItems => "54000",
            Self::IntervalRange { .. } => "22015",
            Self::InvalidHex { .. } => "22023",
            Self::DateTimeRange { .. } | Self::MomentRange { .. } | Self::IntervalOverflow { .. } => "22008",
            Self::TextOutOfRange { .. } | Self::OutOfRange { .. } | Self::NumericOverflow { .. } => "22003",
            Self::TooLong { .. } => "22001",
            Self::InvalidEncoding { .. } => "22021",
            Self::NoCast { .. } | Self::NotCollatable { .. } => "42804",
            Self::BadType { .. } => "42704",
            Self::BadTypeParameter { .. } => "22023",
            Self::UnsupportedType { .. } | Self::ArrayBounds { .. } => "0A000",
        }
    }

    /// Returns PostgreSQL's DETAIL, if there is one.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::NumericOverflow { precision, scale, .. } => Some(format!(
                "A field with precision {precision}, scale {scale} must round to an absolute value less than {}.",
                match precision.saturating_sub(*scale) {
                    0 => "1".to_owned(),
                    digits => format!("10^{digits}"),
                }
            )),
            Self::BadJson { detail } => Some(detail.clone()),
            _ => None,
        }
    }

    /// Returns PostgreSQL's HINT, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::DateTimeRange { in_this_order: true, .. } => {
                Some("Perhaps you need a different \"datestyle\" setting.")
            }
            _ => None,
        }
    }
}

/// PostgreSQL's integer message begins with a word that its float message lacks.
fn value_word(ty: &str) -> &'static str {
    if matches!(ty, "real" | "double precision") { "" } else { "value " }
}

fn is_date_or_time(ty: &str) -> bool {
    ty == "date" || ty == "interval" || ty.starts_with("time")
}
