//! Errors of planning and execution. Variants carry data; `engine` chooses SQLSTATEs.

use datafusion::common::DataFusionError;
use types::TypeError;

/// The result of planning and execution.
pub type QueryResult<T> = Result<T, QueryError>;

/// A statement that cannot be planned, or failed during execution.
#[derive(Clone, Debug, thiserror::Error)]
pub enum QueryError {
    /// The statement was cancelled or ran out of time (57014).
    #[error("canceling statement")]
    Stopped,
    /// A value that a function rejects.
    #[error("{message}")]
    Refused {
        /// The reason, which determines the SQLSTATE.
        reason: Refusal,
        /// The message.
        message: String,
    },
    /// Fewer or more values than the statement has parameters (08P01).
    #[error("the statement needs {expected} parameters, {found} were given")]
    ParameterCount {
        /// The number of the statement's parameters.
        expected: usize,
        /// The number of values given.
        found: usize,
    },
    /// An invalid statement (42601).
    #[error("{message}")]
    Invalid {
        /// The message.
        message: String,
    },
    /// An unsupported feature (0A000).
    #[error("{feature} is not supported")]
    Unsupported {
        /// The feature.
        feature: String,
    },
    /// Division by zero (22012).
    #[error("division by zero")]
    DivisionByZero,
    /// A result outside the range of its type (22003).
    #[error("{what} out of range")]
    OutOfRange {
        /// SQL name of the type, or `value`.
        what: String,
    },
    /// An interval out of range (22008).
    #[error("interval out of range")]
    IntervalRange,
    /// A timestamp out of range (22008).
    #[error("timestamp out of range")]
    TimestampRange,
    /// A scalar subquery that returned several rows (21000).
    #[error("more than one row returned by a subquery used as an expression")]
    SubqueryRows,
    /// A materialized view that has never been refreshed (55000).
    #[error("materialized view \"{name}\" has not been populated")]
    NotPopulated {
        /// The name of the view.
        name: String,
    },
    /// A setting that does not exist (42704).
    #[error("unrecognized configuration parameter \"{name}\"")]
    NoSuchSetting {
        /// The name of the setting.
        name: String,
    },
    /// An argument that a function rejects (22023).
    #[error("{message}")]
    BadArgument {
        /// The message.
        message: String,
    },
    /// A function of the embedding program failed (38000).
    #[error("function {name}() failed: {message}")]
    FunctionFailed {
        /// The name of the function.
        name: String,
        /// The function's error message.
        message: String,
    },
    /// A value that does not fit its type.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// An error of a function's implementation.
    #[error(transparent)]
    Eval(builtins::EvalError),
    /// A row that cannot be encoded, or corrupt bytes.
    #[error(transparent)]
    Row(#[from] catalog::RowError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// An object name that does not exist, passed to a function.
    #[error(transparent)]
    Catalog(#[from] catalog::CatalogError),
    /// A function that the engine provides failed, with an SQLSTATE of its own.
    #[error("{message}")]
    Function {
        /// SQLSTATE.
        code: &'static str,
        /// The message.
        message: String,
    },
    /// Memory or temporary space ran out (53200).
    #[error("out of memory: {detail}")]
    Resources {
        /// The operator and the size of its request.
        detail: String,
    },
    /// The folder that queries spill to is full (53100).
    #[error("could not write a temporary file in \"{folder}\": {reason}")]
    SpillFull {
        /// The path of the folder.
        folder: String,
        /// The system's error message.
        reason: String,
    },
    /// The statement was cancelled (57014).
    #[error("canceling statement due to user request")]
    Cancelled,
    /// A defect: a state that planning should have rejected (XX000).
    #[error("internal error: {detail}")]
    Internal {
        /// The observed state.
        detail: String,
    },
}

impl QueryError {
    /// PostgreSQL's hint for the error, if there is one.
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

    /// An error for an impossible state, in place of a panic.
    pub fn internal(detail: impl Into<String>) -> Self {
        Self::Internal { detail: detail.into() }
    }
}

/// The reason for which a function rejects a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An argument outside the function's domain (22023).
    Argument,
    /// A value that is not valid for the function (22000).
    Data,
    /// A logarithm of zero or less (2201E).
    Logarithm,
    /// A power without a real result (2201F).
    Power,
    /// Invalid bounds or count of `width_bucket` (2201G).
    Buckets,
    /// An invalid regular expression (2201B).
    Pattern,
    /// A pattern that ends with its escape character (22025).
    Escape,
    /// An ESCAPE of several characters (22025).
    EscapeString,
    /// A negative length (22011).
    Substring,
    /// A subscript out of range (2202E).
    Subscript,
    /// A negative frame offset (22013).
    FrameOffset,
    /// An argument of `ntile` below 1 (22014).
    Ntile,
    /// An argument of `nth_value` below 1 (22016).
    NthValue,
    /// More than two separators in `substring(x SIMILAR p ESCAPE e)` (2200C).
    Separators,
    /// A negative LIMIT (2201W).
    Limit,
    /// A negative OFFSET (2201X).
    Offset,
    /// A date or time that does not exist (22008).
    DateTime,
    /// Text that does not match a date or time format (22007).
    DateTimeText,
    /// A time zone displacement out of range (22009).
    ZoneDisplacement,
    /// A number out of range (22003).
    Range,
    /// Text that does not match a number format (22P02).
    Text,
    /// A value larger than the limit (54000).
    Size,
    /// More columns than a row may have (54011).
    Columns,
    /// An action that the state of the transaction does not allow (25001).
    Transaction,
    /// A statement that is too complex (54001).
    Complexity,
    /// NULL where it is not allowed (22004).
    Null,
    /// Bytes that are not valid text (22021).
    Encoding,
    /// A byte or bit index out of range (2202E).
    Index,
    /// A RANGE offset for a type that does not support it (0A000).
    FrameType,
}

impl Refusal {
    /// The error with this message.
    pub fn because(self, message: impl Into<String>) -> QueryError {
        QueryError::Refused { reason: self, message: message.into() }
    }
}

/// Our errors pass through DataFusion's plans as external errors and are recovered by `From<DataFusionError>`.
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
