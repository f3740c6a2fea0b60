//! A session's text formats of values: the order of a date that is parsed, and the format of intervals and floats.
//!
//! PostgreSQL's `DateStyle`, `IntervalStyle` and `extra_float_digits`. Dates print as ISO whatever the order.

/// The text formats of a session; the default is PostgreSQL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Style {
    /// The order of dates that are parsed.
    pub dates: DateOrder,
    /// The format of intervals that are printed, and the meaning of signs in intervals that are parsed.
    pub intervals: IntervalStyle,
    /// `extra_float_digits`: above 0, floats print as the shortest text that reads back the same; else with 15 digits
    /// (`real`: 6) plus this number.
    pub float_digits: i8,
}

impl Style {
    /// The style of a session without settings.
    pub const POSTGRES: Self =
        Self { dates: DateOrder::MonthDayYear, intervals: IntervalStyle::Postgres, float_digits: 1 };
}

impl Default for Style {
    fn default() -> Self {
        Self::POSTGRES
    }
}

/// The meaning of `1/2/3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DateOrder {
    /// The second of January 2003.
    #[default]
    MonthDayYear,
    /// The first of February 2003.
    DayMonthYear,
    /// The third of February 2001.
    YearMonthDay,
}

/// The format of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IntervalStyle {
    /// `1 year 2 mons -3 days +04:05:06`.
    #[default]
    Postgres,
    /// `@ 1 year 2 mons -3 days 4 hours 5 mins 6 secs`.
    PostgresVerbose,
    /// `+1-2 -3 +4:05:06`; a single leading sign applies to all parts.
    SqlStandard,
    /// `P1Y2M-3DT4H5M6S`.
    Iso8601,
}
