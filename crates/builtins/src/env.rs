//! What a body may ask besides its arguments.

use crate::TimeZone;

/// The session as functions see it: one value for a statement.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    /// The time zone, and how texts of dates and intervals are read and printed.
    pub zone: TimeZone,
    /// `now()`: when the transaction began, microseconds since 1970-01-01 UTC.
    pub transaction_time: i64,
    /// `statement_timestamp()`, likewise.
    pub statement_time: i64,
}
