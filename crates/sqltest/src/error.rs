//! Errors of a front, with the SQLSTATE that a record may expect.

use tokio_postgres::error::{DbError, ErrorPosition};

/// A failed statement as its front reports it: `[character n: ]code: message`. A record without a character matches
/// any.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}{code}: {message}", place_of(*.position))]
pub struct FrontError {
    /// SQLSTATE; `08000` when the connection failed.
    pub code: String,
    /// The message, one line.
    pub message: String,
    /// The position of the error in the statement's text, in characters from 1.
    pub position: Option<usize>,
}

impl FrontError {
    /// An error of the front itself.
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), position: None }
    }
}

fn place_of(position: Option<usize>) -> String {
    position.map_or_else(String::new, |character| format!("character {character}: "))
}

impl From<bennu::Error> for FrontError {
    fn from(error: bennu::Error) -> Self {
        Self { code: error.code().into(), message: error.message().into(), position: error.position() }
    }
}

impl From<tokio_postgres::Error> for FrontError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(db) => Self { code: db.code().code().into(), message: db.message().into(), position: position(db) },
            None => Self::new("08000", error.to_string()),
        }
    }
}

fn position(error: &DbError) -> Option<usize> {
    match error.position()? {
        ErrorPosition::Original(character) => usize::try_from(*character).ok(),
        ErrorPosition::Internal { .. } => None,
    }
}
