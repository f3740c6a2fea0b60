//! Tests of the grammar through the public API.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod deep;
mod details;
mod errors;
mod printed;
mod random;
mod statements;

use bennu_sql as sql;

/// Returns the only statement of a text.
fn one(text: &str) -> sql::Statement {
    let mut parsed = sql::parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    assert_eq!(parsed.len(), 1, "{text}");
    parsed.remove(0).statement
}
