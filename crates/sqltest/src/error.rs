//! Errors of a front, with the SQLSTATE that a file may ask for.

/// A failed statement, as its front told it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{code}: {message}")]
pub struct FrontError {
    /// SQLSTATE; `08000` when the connection failed.
    pub code: String,
    /// One line for a person.
    pub message: String,
}

impl From<bennu::Error> for FrontError {
    fn from(error: bennu::Error) -> Self {
        Self { code: error.code().into(), message: error.message().into() }
    }
}

impl From<tokio_postgres::Error> for FrontError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(db) => Self { code: db.code().code().into(), message: db.message().into() },
            None => Self { code: "08000".into(), message: error.to_string() },
        }
    }
}
