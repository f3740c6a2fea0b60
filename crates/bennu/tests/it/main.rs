//! Tests of the public API.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod appender;
mod check;
mod function;
#[cfg(feature = "server")]
mod old_snapshots;
mod power_loss;
mod rows;
#[cfg(feature = "server")]
mod serve;
mod transaction;

use bennu::{Bennu, Options, Session};

/// A session on a new database with small budgets.
pub(crate) async fn session() -> (Bennu, Session) {
    let options = Options { cache_bytes: 8 << 20, memtable_bytes: 8 << 20, ..Options::default() };
    let db = Bennu::open_in_memory(&options).await.unwrap();
    let session = db.session().unwrap();
    (db, session)
}
