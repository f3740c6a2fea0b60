//! Fields that limit an interval, `MINUTE TO SECOND`, and digits of its seconds: their meaning for a text, and their
//! effect on a value.

use super::Interval;
use crate::temporal::SECOND;
use serde::{Deserialize, Serialize};

const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// A field of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum IntervalField {
    /// Years.
    Year,
    /// Months.
    Month,
    /// Days.
    Day,
    /// Hours.
    Hour,
    /// Minutes.
    Minute,
    /// Seconds.
    Second,
}

/// The fields that an interval is limited to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IntervalFields {
    /// The first and the last field; `None` for all fields.
    pub bounds: Option<(IntervalField, IntervalField)>,
    /// Fraction digits of the seconds.
    pub digits: Option<u8>,
}

impl IntervalFields {
    /// Returns the field that a last number without a unit counts.
    pub(super) fn last(&self) -> IntervalField {
        self.bounds.map_or(IntervalField::Second, |(_, last)| last)
    }

    /// Returns whether `5:06` is minutes and seconds, not hours and minutes.
    pub(super) fn begins_with_minutes(&self) -> bool {
        self.bounds == Some((IntervalField::Minute, IntervalField::Second))
    }

    /// Truncates a value to the fields, and rounds its seconds to the digits.
    pub fn limit(&self, value: Interval) -> Interval {
        let Interval { months, days, micros } = value;
        let whole = |unit: i64| micros / unit * unit;
        let limited = match self.last() {
            IntervalField::Year => Interval { months: months / 12 * 12, days: 0, micros: 0 },
            IntervalField::Month => Interval { months, days: 0, micros: 0 },
            IntervalField::Day => Interval { months, days, micros: 0 },
            IntervalField::Hour => Interval { months, days, micros: whole(HOUR) },
            IntervalField::Minute => Interval { months, days, micros: whole(MINUTE) },
            IntervalField::Second => value,
        };
        let digits = self.digits.filter(|_| self.last() == IntervalField::Second);
        let Some(step) = digits.and_then(|digits| 10_i64.checked_pow(6_u32.checked_sub(u32::from(digits))?)) else {
            return limited;
        };
        let half = if limited.micros < 0 { -(step / 2) } else { step / 2 };
        Interval { micros: limited.micros.saturating_add(half) / step * step, ..limited }
    }
}
