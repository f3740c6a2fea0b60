//! Errors of bodies: typed, without SQLSTATE, which `engine` chooses in one match.

use std::sync::Arc;
use types::TypeError;

/// A value that cannot be computed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EvalError {
    /// The statement was cancelled or ran out of time (57014).
    #[error("canceling statement")]
    Stopped,
    /// Division by zero (22012).
    #[error("division by zero")]
    DivisionByZero,
    /// A result outside its type (22003).
    #[error("{what} out of range")]
    OutOfRange {
        /// SQL name of the type, or `value`.
        what: String,
    },
    /// An argument that a function refuses.
    #[error("{message}")]
    Refused {
        /// The kind of refusal, which determines the SQLSTATE.
        reason: Reason,
        /// The message.
        message: String,
    },
    /// A value that does not fit its type.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// An error of a function that is written outside of this crate.
    #[error(transparent)]
    Outside(Arc<dyn std::error::Error + Send + Sync>),
    /// A defect: something that binding should have refused (XX000).
    #[error("internal error: {detail}")]
    Internal {
        /// A description of the defect.
        detail: String,
    },
}

/// Why a function refuses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// An argument out of the function's domain (22023).
    Argument,
    /// A number outside its type's range (22003).
    Range,
    /// A date, a time or an interval that does not exist (22008).
    DateTime,
    /// A pattern that ends with its escape character (22025).
    Escape,
    /// An ESCAPE of several characters (22025).
    EscapeString,
    /// A negative length (22011).
    Substring,
    /// A type, a role or a setting that does not exist (42704).
    NoSuchObject,
    /// A database that does not exist (3D000).
    NoSuchDatabase,
    /// A function that does not exist, in a call that names it by a text (42883).
    NoSuchFunction,
    /// A name that several functions have (42725).
    AmbiguousFunction,
    /// A text that is not a function with its argument types (22P02).
    Signature,
    /// An object of another kind (42809).
    WrongObject,
    /// A call that the state of the server does not allow (55000).
    WrongState,
}

impl Reason {
    /// Creates the error with a message.
    pub fn because(self, message: impl Into<String>) -> EvalError {
        EvalError::Refused { reason: self, message: message.into() }
    }
}

impl From<types::interrupt::Interrupted> for EvalError {
    fn from(_: types::interrupt::Interrupted) -> Self {
        Self::Stopped
    }
}
