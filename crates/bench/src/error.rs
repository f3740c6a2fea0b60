//! Errors of a benchmark run.

#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{what} failed: {output}")]
    Command { what: String, output: String },
    #[error("{server}: {error}", error = database(.error))]
    Sql { server: &'static str, error: tokio_postgres::Error },
    #[error("{0}")]
    Store(#[from] store::StoreError),
    #[error("fjall: {0}")]
    Fjall(#[from] fjall::Error),
    #[cfg(feature = "sqlite")]
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Bennu(#[from] bennu::Error),
    #[error("{0}")]
    Wrong(String),
}

fn database(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string)
}
