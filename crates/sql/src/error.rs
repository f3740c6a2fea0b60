//! What can be wrong with a text.

use types::TypeError;

/// Where in the text, for the error's reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Offset in bytes, from 0.
    pub byte: usize,
    /// Offset in characters, from 1: what the wire's position field wants.
    pub character: usize,
}

/// A text that is not a statement of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// Not SQL (42601).
    #[error("syntax error {}", place_of(.near))]
    Syntax {
        /// The token that does not fit; `None` at the end of the text.
        near: Option<String>,
        /// What would have fitted, if that is one thing.
        expected: Option<String>,
        /// Where.
        position: Position,
    },
    /// A text that is well-formed up to a rule that it breaks (42601).
    #[error("{message}")]
    Invalid {
        /// One line for a person.
        message: String,
        /// Where.
        position: Position,
    },
    /// The same with advice (42601).
    #[error("{message}")]
    Advised {
        /// One line for a person.
        message: String,
        /// What to do about it.
        hint: &'static str,
        /// Where.
        position: Position,
    },
    /// SQL that we do not do (0A000).
    #[error("{feature} is not supported")]
    Unsupported {
        /// What it is called.
        feature: String,
        /// What to do instead.
        hint: Option<&'static str>,
        /// Where.
        position: Position,
    },
    /// What PostgreSQL does not do either, in its words (0A000).
    #[error("{message}")]
    NotAllowed {
        /// One line for a person.
        message: String,
        /// Where.
        position: Position,
    },
    /// A table that cannot be (42P16).
    #[error("{message}")]
    InvalidTable {
        /// One line for a person.
        message: String,
        /// Where.
        position: Position,
    },
    /// A value that the option or parameter does not take (22023).
    #[error("{message}")]
    InvalidParameter {
        /// One line for a person.
        message: String,
        /// Where.
        position: Position,
    },
    /// A type that does not exist, or parameters that it does not take (as the inner error says).
    #[error("{source}")]
    Type {
        /// What is wrong with it.
        #[source]
        source: TypeError,
        /// Where.
        position: Position,
    },
    /// Nested too deeply, or a chain of too many operators (54001).
    #[error("statement is too complex: {what}, at most {limit} are allowed")]
    TooDeep {
        /// What there is too much of.
        what: &'static str,
        /// The bound.
        limit: usize,
        /// Where it is passed.
        position: Position,
    },
    /// Longer than a statement may be (54000).
    #[error("statement text of {bytes} bytes is too long, at most {limit} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// Reading it was stopped by whom it is read for (57014).
    #[error("the statement was stopped")]
    Stopped,
}

impl From<types::interrupt::Interrupted> for SqlError {
    fn from(_: types::interrupt::Interrupted) -> Self {
        Self::Stopped
    }
}

impl SqlError {
    /// Where in the text, if it is about one place.
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

    /// A second line that helps, if there is one.
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

/// "at or near" as PostgreSQL says it.
fn place_of(token: &Option<String>) -> String {
    match token {
        Some(token) => format!("at or near \"{token}\""),
        None => "at end of input".to_owned(),
    }
}
