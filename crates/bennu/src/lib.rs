//! Bennu as a library: open a folder (or in memory), run SQL, or serve PostgreSQL clients on the same handle.
//!
//! ```no_run
//! # async fn example() -> Result<(), bennu::Error> {
//! let db = bennu::Bennu::open("bennu-data").await?;
//! let mut session = db.session()?;
//! session.execute("CREATE TABLE t (k bigint PRIMARY KEY, v text)").await?;
//! session.execute("INSERT INTO t VALUES (1, 'one')").await?;
//! let rows = session.query("SELECT v FROM t WHERE k = 1").await?;
//! assert_eq!(rows.len(), 1);
//! db.close().await
//! # }
//! ```
//!
//! This crate is the one place that picks a store. Read next: `engine`.

mod error;
mod open;
mod options;
mod serve;
mod session;

pub use engine::{Answer, Chunk, ColumnDesc, Engine, Prepared};
pub use error::Error;
pub use open::Bennu;
pub use options::Options;
pub use serve::ServerOptions;
pub use session::{Rows, Session};
pub use store::{CheckReport, Store};
pub use types::{DataType, Datum};
