//! An error whose position is still a line and a column; [`Fault::at_position`] converts it to the public error.

use crate::SqlError;
use crate::lexer;
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::Location;
use std::ops::Range;
use types::TypeError;

/// The result of the grammar's functions. The fault is boxed because it is rare, and results are moved a lot.
pub(crate) type Parse<T> = Result<T, Box<Fault>>;

/// An error and its location.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The kind of error.
    pub(crate) kind: FaultKind,
    /// Start of the token; `None` means the end of the statement.
    pub(crate) location: Option<Location>,
}

/// A kind of error.
#[derive(Debug)]
pub(crate) enum FaultKind {
    /// [`SqlError::Syntax`].
    Syntax { near: Option<String>, expected: Option<String> },
    /// [`SqlError::Invalid`].
    Invalid(String),
    /// [`SqlError::Advised`].
    Advised { message: String, hint: &'static str },
    /// [`SqlError::Unsupported`].
    Unsupported { feature: String, hint: Option<&'static str> },
    /// [`SqlError::NotAllowed`].
    NotAllowed(String),
    /// [`SqlError::InvalidTable`].
    InvalidTable(String),
    /// [`SqlError::InvalidParameter`].
    InvalidParameter(String),
    /// [`SqlError::Type`].
    Type(TypeError),
    /// [`SqlError::TooDeep`].
    TooDeep { what: &'static str, limit: usize },
}

impl Fault {
    /// Converts to the public error: the location becomes an offset in `text`. `span` is the statement's.
    pub(crate) fn at_position(self, text: &str, span: Range<usize>) -> SqlError {
        let own = text.get(span.clone()).unwrap_or(text);
        let byte = self.location.map_or(own.len(), |location| lexer::byte_of(own, location));
        let position = lexer::position_at(text, span.start + byte);
        match self.kind {
            FaultKind::Syntax { near, expected } => SqlError::Syntax { near, expected, position },
            FaultKind::Invalid(message) => SqlError::Invalid { message, position },
            FaultKind::Advised { message, hint } => SqlError::Advised { message, hint, position },
            FaultKind::Unsupported { feature, hint } => SqlError::Unsupported { feature, hint, position },
            FaultKind::NotAllowed(message) => SqlError::NotAllowed { message, position },
            FaultKind::InvalidTable(message) => SqlError::InvalidTable { message, position },
            FaultKind::InvalidParameter(message) => SqlError::InvalidParameter { message, position },
            FaultKind::Type(source) => SqlError::Type { source, position },
            FaultKind::TooDeep { what, limit } => SqlError::TooDeep { what, limit, position },
        }
    }
}

/// The parts of an error of sqlparser.
pub(crate) struct Said {
    /// What is expected.
    pub(crate) expected: Option<String>,
    /// Location of the unexpected token.
    pub(crate) location: Option<Location>,
    /// Is the end of the statement unexpected?
    pub(crate) at_end: bool,
}

/// Splits sqlparser's `Expected: a, found: b at Line: 1, Column: 2`; `None` if the recursion limit or the fuel is used
/// up.
pub(crate) fn from_sqlparser(error: ParserError) -> Option<Said> {
    let message = match error {
        ParserError::ParserError(message) | ParserError::TokenizerError(message) => message,
        ParserError::RecursionLimitExceeded => return None,
    };
    let (body, location) = split_location(&message);
    let expected = body.strip_prefix("Expected: ").and_then(|rest| rest.split(", found:").next()).map(str::to_owned);
    let at_end = location.is_none() && body.ends_with("found: EOF");
    Some(Said { expected, location, at_end })
}

/// Removes ` at Line: 1, Column: 2` from the end of a message of sqlparser.
pub(crate) fn split_location(message: &str) -> (&str, Option<Location>) {
    let Some((body, place)) = message.rsplit_once(" at Line: ") else { return (message, None) };
    let Some((line, column)) = place.split_once(", Column: ") else { return (message, None) };
    match (line.trim().parse(), column.trim().parse()) {
        (Ok(line), Ok(column)) => (body, Some(Location { line, column })),
        _ => (message, None),
    }
}
