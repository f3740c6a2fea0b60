//! Rounds times to fewer digits of a second: `timestamp(3)`.
//!
//! Rounds half away from zero. Zero is midnight for a time and 2000-01-01 for a timestamp, as in PostgreSQL, whose
//! timestamps count from there: half a second of 1999 is rounded back, half a second of 2000 forward.

use super::DAY;
use crate::{Datum, MAX_DIGITS};

/// 2000-01-01 in microseconds since 1970.
const MILLENNIUM: i64 = 10_957 * DAY;

/// Rounds the value to at most `digits` digits of a second. Infinities and values of other kinds are unchanged; `None`
/// if the result is out of range.
pub fn rounded(value: Datum, digits: u8) -> Option<Datum> {
    let step = 10_i64.pow(u32::from(MAX_DIGITS.saturating_sub(digits)));
    let moment = |micros: i64| match micros {
        i64::MIN | i64::MAX => Some(micros),
        _ => round_from(MILLENNIUM, micros, step),
    };
    Some(match value {
        Datum::Time(micros) => Datum::Time(round_from(0, micros, step)?),
        Datum::Timestamp(micros) => Datum::Timestamp(moment(micros)?),
        Datum::TimestampTz(micros) => Datum::TimestampTz(moment(micros)?),
        other => other,
    })
}

/// Rounds to a multiple of `step`, counted from `zero`.
fn round_from(zero: i64, micros: i64, step: i64) -> Option<i64> {
    let away = i128::from(micros) - i128::from(zero);
    let (step, half) = (i128::from(step), i128::from(step / 2));
    let rounded = if away >= 0 { (away + half) / step * step } else { (away - half) / step * step };
    i64::try_from(rounded + i128::from(zero)).ok().filter(|micros| *micros != i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timestamp(from_2000: i64, digits: u8) -> Option<i64> {
        match rounded(Datum::Timestamp(MILLENNIUM + from_2000), digits)? {
            Datum::Timestamp(micros) => Some(micros - MILLENNIUM),
            _ => None,
        }
    }

    #[test]
    fn halves_go_away_from_the_year_2000() {
        assert_eq!(timestamp(500_000, 0), Some(1_000_000));
        assert_eq!(timestamp(-500_000, 0), Some(-1_000_000));
        assert_eq!(timestamp(-499_999, 0), Some(0));
        assert_eq!(timestamp(123_456, 3), Some(123_000));
        assert_eq!(timestamp(123_456, 6), Some(123_456));
    }

    #[test]
    fn a_day_may_be_full_but_infinity_stays() {
        assert_eq!(rounded(Datum::Time(DAY - 1), 3), Some(Datum::Time(DAY)));
        assert_eq!(rounded(Datum::Timestamp(i64::MAX), 0), Some(Datum::Timestamp(i64::MAX)));
        assert_eq!(rounded(Datum::TimestampTz(i64::MIN), 0), Some(Datum::TimestampTz(i64::MIN)));
        assert_eq!(rounded(Datum::Timestamp(i64::MAX - 1), 0), None);
    }
}
