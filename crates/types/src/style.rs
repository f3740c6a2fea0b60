//! What a session says about texts of values: in which order it reads a date, how intervals and floats look.
//!
//! PostgreSQL's `DateStyle`, `IntervalStyle` and `extra_float_digits`. Dates print as ISO whatever the order.

/// All of it; the default is PostgreSQL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Style {
    /// Of dates that are read.
    pub dates: DateOrder,
    /// Of intervals that are printed, and of signs in those that are read.
    pub intervals: IntervalStyle,
    /// `extra_float_digits`: above 0 floats are the shortest that read back, else they have 15 (6 of a real) and so
    /// many digits more.
    pub float_digits: i8,
}

impl Style {
    /// That of a session that says nothing.
    pub const POSTGRES: Self =
        Self { dates: DateOrder::MonthDayYear, intervals: IntervalStyle::Postgres, float_digits: 1 };
}

impl Default for Style {
    fn default() -> Self {
        Self::POSTGRES
    }
}

/// What `1/2/3` is.
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

/// How an interval looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IntervalStyle {
    /// `1 year 2 mons -3 days +04:05:06`.
    #[default]
    Postgres,
    /// `@ 1 year 2 mons -3 days 4 hours 5 mins 6 secs`.
    PostgresVerbose,
    /// `+1-2 -3 +4:05:06`; a sign in front of all is that of all.
    SqlStandard,
    /// `P1Y2M-3DT4H5M6S`.
    Iso8601,
}
