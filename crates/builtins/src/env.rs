//! What a body depends on besides its arguments.

use crate::TimeZone;

/// The session as functions see it, constant during a statement.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    /// The time zone, and how texts of dates and intervals are read and printed.
    pub zone: TimeZone,
    /// `now()`: when the transaction began, microseconds since 1970-01-01 UTC.
    pub transaction_time: i64,
    /// `statement_timestamp()`, in the same unit.
    pub statement_time: i64,
}
