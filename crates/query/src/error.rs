//! What can go wrong while a statement is planned or run. Variants carry data; `engine` chooses SQLSTATEs.

use datafusion::common::DataFusionError;
use types::TypeError;

/// Result of planning and running.
pub type QueryResult<T> = Result<T, QueryError>;

/// A statement that cannot be planned, or failed while it ran.
#[derive(Clone, Debug, thiserror::Error)]
pub enum QueryError {
    /// The statement was cancelled or ran out of time (57014).
    #[error("canceling statement")]
    Stopped,
    /// A value that a function has no answer for.
    #[error("{message}")]
    Refused {
        /// Why, and so with which code.
        reason: Refusal,
        /// One line for a person.
        message: String,
    },
    /// Fewer or more values than the statement has parameters (08P01).
    #[error("the statement needs {expected} parameters, {found} were given")]
    ParameterCount {
        /// Of the statement.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// A statement that makes no sense for a reason of its own (42601).
    #[error("{message}")]
    Invalid {
        /// One line for a person.
        message: String,
    },
    /// Understood, but not built (0A000).
    #[error("{feature} is not supported")]
    Unsupported {
        /// What.
        feature: String,
    },
    /// Division by zero (22012).
    #[error("division by zero")]
    DivisionByZero,
    /// A result outside its type (22003).
    #[error("{what} out of range")]
    OutOfRange {
        /// SQL name of the type, or `value`.
        what: String,
    },
    /// An interval that is too large (22008).
    #[error("interval out of range")]
    IntervalRange,
    /// A timestamp that is too large (22008).
    #[error("timestamp out of range")]
    TimestampRange,
    /// A scalar subquery that gave several rows (21000).
    #[error("more than one row returned by a subquery used as an expression")]
    SubqueryRows,
    /// A materialized view that no refresh has filled (55000).
    #[error("materialized view \"{name}\" has not been populated")]
    NotPopulated {
        /// Its name.
        name: String,
    },
    /// A setting that does not exist (42704).
    #[error("unrecognized configuration parameter \"{name}\"")]
    NoSuchSetting {
        /// Its name.
        name: String,
    },
    /// An argument that a function refuses (22023).
    #[error("{message}")]
    BadArgument {
        /// One line for a person.
        message: String,
    },
    /// A function of the embedding program failed (38000).
    #[error("function {name}() failed: {message}")]
    FunctionFailed {
        /// The function.
        name: String,
        /// What it said.
        message: String,
    },
    /// A value that does not fit its type.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// What the body of a function refuses.
    #[error(transparent)]
    Eval(builtins::EvalError),
    /// A row that cannot be made, or bytes that are none.
    #[error(transparent)]
    Row(#[from] catalog::RowError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// A function was given the name of nothing.
    #[error(transparent)]
    Catalog(#[from] catalog::CatalogError),
    /// A function that was given to the planner failed, and says how.
    #[error("{message}")]
    Function {
        /// SQLSTATE.
        code: &'static str,
        /// One line for a person.
        message: String,
    },
    /// Memory or temporary space ran out (53200).
    #[error("out of memory: {detail}")]
    Resources {
        /// Which operator wanted how much.
        detail: String,
    },
    /// The folder that queries spill to is full (53100).
    #[error("could not write a temporary file in \"{folder}\": {reason}")]
    SpillFull {
        /// The folder.
        folder: String,
        /// The system's words.
        reason: String,
    },
    /// The statement was cancelled (57014).
    #[error("canceling statement due to user request")]
    Cancelled,
    /// A defect: something that planning should have refused (XX000).
    #[error("internal error: {detail}")]
    Internal {
        /// What was found.
        detail: String,
    },
}

impl QueryError {
    /// The hint that PostgreSQL shows below the message, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::SpillFull { .. } => {
                Some("Make room there, or choose another folder with the setting spill_dir.".to_owned())
            }
            Self::NotPopulated { .. } => Some("Use the REFRESH MATERIALIZED VIEW command.".to_owned()),
            Self::Type(error) => error.hint().map(str::to_owned),
            Self::Refused { reason: Refusal::EscapeString, .. } => {
                Some("Escape string must be empty or one character.".to_owned())
            }
            _ => None,
        }
    }

    /// Something that cannot be, told instead of a panic.
    pub fn internal(detail: impl Into<String>) -> Self {
        Self::Internal { detail: detail.into() }
    }
}

/// Why a function refuses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An argument out of the function's domain (22023).
    Argument,
    /// A value of the right type in a form that the function does not take (22000).
    Data,
    /// A logarithm of zero or less (2201E).
    Logarithm,
    /// A power without a real result (2201F).
    Power,
    /// Bounds or count of buckets (2201G).
    Buckets,
    /// A pattern that is none (2201B).
    Pattern,
    /// A pattern that ends with its escape character (22025).
    Escape,
    /// An ESCAPE of several characters (22025).
    EscapeString,
    /// A negative length (22011).
    Substring,
    /// A subscript out of range (2202E).
    Subscript,
    /// A negative distance of a frame's bound (22013).
    FrameOffset,
    /// No buckets for `ntile` (22014).
    Ntile,
    /// A place before the first for `nth_value` (22016).
    NthValue,
    /// More than two separators in `substring(x SIMILAR p ESCAPE e)` (2200C).
    Separators,
    /// A negative LIMIT (2201W).
    Limit,
    /// A negative OFFSET (2201X).
    Offset,
    /// A date or time that does not exist (22008).
    DateTime,
    /// Text that is no date or time of the pattern (22007).
    DateTimeText,
    /// A zone too far from UTC (22009).
    ZoneDisplacement,
    /// A number that does not fit (22003).
    Range,
    /// Text that is no number of the pattern (22P02).
    Text,
    /// More than a value can hold (54000).
    Size,
    /// More columns than a row may have (54011).
    Columns,
    /// What the transaction is not in the state for (25001).
    Transaction,
    /// More parts than a statement may have (54001).
    Complexity,
    /// NULL where none may be (22004).
    Null,
    /// Bytes that are no text (22021).
    Encoding,
    /// An index of a byte or bit beyond the value (2202E).
    Index,
    /// A frame of RANGE with a distance over values that have none (0A000).
    FrameType,
}

impl Refusal {
    /// The error with its message.
    pub fn because(self, message: impl Into<String>) -> QueryError {
        QueryError::Refused { reason: self, message: message.into() }
    }
}

/// Our errors travel through DataFusion's plans as external errors and come out by `From<DataFusionError>`.
impl From<types::interrupt::Interrupted> for QueryError {
    fn from(_: types::interrupt::Interrupted) -> Self {
        Self::Stopped
    }
}

impl From<builtins::EvalError> for QueryError {
    fn from(error: builtins::EvalError) -> Self {
        use builtins::{EvalError, Reason};
        match error {
            EvalError::Stopped => Self::Stopped,
            EvalError::DivisionByZero => Self::DivisionByZero,
            EvalError::Type(error) => Self::Type(error),
            EvalError::Refused { reason: Reason::Argument, message } => Refusal::Argument.because(message),
            EvalError::Refused { reason: Reason::Escape, message } => Refusal::Escape.because(message),
            EvalError::Refused { reason: Reason::EscapeString, message } => Refusal::EscapeString.because(message),
            EvalError::Refused { reason: Reason::Substring, message } => Refusal::Substring.because(message),
            EvalError::Outside(error) => match error.downcast_ref::<Self>() {
                Some(own) => own.clone(),
                None => Self::internal(error.to_string()),
            },
            other => Self::Eval(other),
        }
    }
}

impl From<QueryError> for DataFusionError {
    fn from(error: QueryError) -> Self {
        Self::External(Box::new(error))
    }
}
