//! Bennu as a library: SQL over ordered rowkeys, stored in a folder or in memory.
//!
//! ```
//! use bennu::Bennu;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), bennu::Error> {
//! let db = Bennu::in_memory().await?; // Bennu::open("my-data") keeps it
//! let mut session = db.session()?;
//! session.execute("CREATE TABLE visits (host varchar, at timestamp, page text, PRIMARY KEY (host, at DESC))").await?;
//! session.run("INSERT INTO visits VALUES ($1, now(), $2)", &[&"alpha", &"/index"]).await?;
//!
//! let pages: Vec<(String, Option<String>)> =
//!     session.rows("SELECT host, page FROM visits WHERE host = $1", &[&"alpha"]).await?;
//! assert_eq!(pages, [("alpha".to_string(), Some("/index".to_string()))]);
//! db.close().await
//! # }
//! ```
//!
//! # Overview
//!
//! ```text
//!   Bennu ──session()──> Session ──query──> Batches: Arrow, streamed
//!     │                     ├─────rows────> Vec<T: FromRow>
//!     │                     ├─────prepare─> Statement, to run many times
//!     │                     ├─────transaction(async |tx| …)
//!     │                     └─────appender─> rows that bypass the log, at COPY's speed
//!     ├──register(Function)    a Rust closure as a SQL function
//!     └──serve(listener)       PostgreSQL clients on the same handle (feature `server`)
//! ```
//!
//! A [`Bennu`] is cheap to clone and shared by all threads; a [`Session`] runs one statement at a time. All calls are
//! async and need a tokio runtime. The changes of a statement are durable when its call returns.
//!
//! # Features
//!
//! | feature | what |
//! |---|---|
//! | `server` | [`Bennu::serve`]: the PostgreSQL wire protocol |
//! | `console` | [`Bennu::serve_http`]: health and metrics |
//!
//! Neither is a default feature.
//!
//! # Errors
//!
//! Every error is an [`Error`]: a message, PostgreSQL's SQLSTATE, and the position in the statement.
//! [`Error::is_retryable`] tells whether the same transaction may succeed when it is retried.
//!
//! This crate is the only place that chooses a store. Read next: `engine`.

mod appender;
mod batches;
mod cancel;
mod check;
mod error;
mod function;
mod open;
mod options;
mod own_folder;
mod row;
#[cfg(any(feature = "server", feature = "console"))]
mod serve;
mod session;
mod statement;
mod transaction;
mod value;

pub use appender::{Appender, IntoRow};
pub use arrow;
pub use batches::Batches;
pub use cancel::CancelHandle;
pub use check::CheckReport;
pub use engine::{
    Answer, AutoAnalyzeOptions, Chunk, ColumnDesc, CopyIn, CopyOut, Engine, RowStream, TimeZone, TransactionStatus,
};
pub use error::Error;
pub use function::Function;
pub use open::Bennu;
pub use options::Options;
pub use row::{ColumnIndex, FromRow, Row};
#[cfg(feature = "console")]
pub use serve::HttpPeers;
#[cfg(feature = "server")]
pub use serve::{Keepalive, ServerOptions, raise_file_limit};
pub use session::Session;
pub use statement::{Statement, ToStatement};
pub use store::Store;
pub use transaction::Transaction;
pub use types::{DataType, Datum, Decimal, Interval};
pub use value::{FromValue, ToValue};
