//! Limits the number of columns of a query's rows, including columns that exist only for ORDER BY.
//!
//! The limit is PostgreSQL's; planning time grows with the square of the number of columns.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};

/// The largest number of columns of an intermediate row (PostgreSQL's `MaxTupleAttributeNumber`).
const MAX_ENTRIES: usize = 1664;

/// Checks the number of result columns.
///
/// # Errors
/// 54011.
pub(super) fn check(columns: usize) -> QueryResult<()> {
    if columns > MAX_ENTRIES { Err(too_many()) } else { Ok(()) }
}

fn too_many() -> QueryError {
    Refusal::Columns.because(format!("target lists can have at most {MAX_ENTRIES} entries"))
}
