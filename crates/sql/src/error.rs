//! Errors of parsing.

use types::TypeError;

/// A position in the text, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Offset in bytes, from 0.
    pub byte: usize,
    /// Offset in characters, from 1, as the wire protocol reports it.
    pub character: usize,
}

/// The error of a text that is not a valid statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// Invalid syntax (42601).
    #[error("syntax error {}", place_of(.near))]
    Syntax {
        /// The unexpected token; `None` at the end of the text.
        near: Option<String>,
        /// What is expected, if that is one thing.
        expected: Option<String>,
        /// Its position.
        position: Position,
    },
    /// A text that the grammar accepts and a further rule forbids (42601).
    #[error("{message}")]
    Invalid {
        /// One line for a person.
        message: String,
        /// Its position.
        position: Position,
    },
    /// As [`Self::Invalid`], with a hint (42601).
    #[error("{message}")]
    Advised {
        /// One line for a person.
        message: String,
        /// The hint.
        hint: &'static str,
        /// Its position.
        position: Position,
    },
    /// SQL that Bennu does not support (0A000).
    #[error("{feature} is not supported")]
    Unsupported {
        /// The name of the feature.
        feature: String,
        /// The hint.
        hint: Option<&'static str>,
        /// Its position.
        position: Position,
    },
    /// A feature that PostgreSQL does not have either, in its wording (0A000).
    #[error("{message}")]
    NotAllowed {
        /// One line for a person.
        message: String,
        /// Its position.
        position: Position,
    },
    /// An invalid table definition (42P16).
    #[error("{message}")]
    InvalidTable {
        /// One line for a person.
        message: String,
        /// Its position.
        position: Position,
    },
    /// An invalid value of an option or parameter (22023).
    #[error("{message}")]
    InvalidParameter {
        /// One line for a person.
        message: String,
        /// Its position.
        position: Position,
    },
    /// A type that does not exist or has invalid modifiers; the inner error has the SQLSTATE.
    #[error("{source}")]
    Type {
        /// The inner error.
        #[source]
        source: TypeError,
        /// Its position.
        position: Position,
    },
    /// Nested too deeply, or a chain of too many operators (54001).
    #[error("statement is too complex: {what}, at most {limit} are allowed")]
    TooDeep {
        /// What exceeds the limit.
        what: &'static str,
        /// The limit.
        limit: usize,
        /// Where the limit is exceeded.
        position: Position,
    },
    /// A text that is longer than the limit (54000).
    #[error("statement text of {bytes} bytes is too long, at most {limit} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Parsing was cancelled (57014).
    #[error("the statement was stopped")]
    Stopped,
}

impl From<types::interrupt::Interrupted> for SqlError {
    fn from(_: types::interrupt::Interrupted) -> Self {
        Self::Stopped
    }
}

impl SqlError {
    /// Returns the position, if the error has one.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        match self {
            Self::Syntax { position, .. }
            | Self::Invalid { position, .. }
            | Self::Advised { position, .. }
            | Self::Unsupported { position, .. }
            | Self::NotAllowed { position, .. }
            | Self::InvalidTable { position, .. }
            | Self::InvalidParameter { position, .. }
            | Self::Type { position, .. }
            | Self::TooDeep { position, .. } => Some(*position),
            Self::TooLong { .. } | Self::Stopped => None,
        }
    }

    /// Returns the hint, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax { expected, .. } => expected.as_ref().map(|what| format!("Expected {what}.")),
            Self::Advised { hint, .. } => Some((*hint).to_owned()),
            Self::Unsupported { hint, .. } => hint.map(str::to_owned),
            _ => None,
        }
    }
}

/// Returns PostgreSQL's "at or near".
fn place_of(token: &Option<String>) -> String {
    match token {
        Some(token) => format!("at or near \"{token}\""),
        None => "at end of input".to_owned(),
    }
}
