//! How many columns a query's rows may have, those that it is only sorted by among them.
//!
//! The bound is PostgreSQL's; planning takes time that grows with the square of the columns.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};

/// Most columns of a row under way (PostgreSQL's `MaxTupleAttributeNumber`).
const MAX_ENTRIES: usize = 1664;

/// Checks the columns of an answer.
///
/// # Errors
/// 54011.
pub(super) fn check(columns: usize) -> QueryResult<()> {
    if columns > MAX_ENTRIES { Err(too_many()) } else { Ok(()) }
}

fn too_many() -> QueryError {
    Refusal::Columns.because(format!("target lists can have at most {MAX_ENTRIES} entries"))
}
