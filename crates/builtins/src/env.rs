//! What a body may ask besides its arguments.

use types::Style;

/// The session as functions see it: one value for a statement.
#[derive(Clone, Debug)]
pub struct Env {
    /// Name of the time zone, as `SHOW timezone` prints it.
    pub time_zone: std::sync::Arc<str>,
    /// How texts of dates and intervals are read and printed.
    pub style: Style,
    /// `now()`: when the transaction began, microseconds since 1970-01-01 UTC.
    pub transaction_time: i64,
    /// `statement_timestamp()`, likewise.
    pub statement_time: i64,
}
