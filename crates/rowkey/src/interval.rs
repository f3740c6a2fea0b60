//! Cells of intervals: a version byte and the three fields. The encoding is not order-preserving: intervals with
//! different fields can be equal, so interval columns are not used in keys and not compared as bytes.
//!
//! ```text
//!   01 | months i32 | days i32 | microseconds i64
//! ```

use crate::KeyError;
use types::{DataType, Interval};

const VERSION: u8 = 1;

/// The maximum time: readers convert it to nanoseconds.
const MAX_MICROS: u64 = i64::MAX as u64 / 1_000;

/// # Errors
/// [`KeyError::IntervalRange`].
pub(crate) fn encode(value: Interval, out: &mut Vec<u8>) -> Result<(), KeyError> {
    if value.micros.unsigned_abs() > MAX_MICROS {
        return Err(KeyError::IntervalRange);
    }
    out.push(VERSION);
    out.extend(value.months.to_be_bytes());
    out.extend(value.days.to_be_bytes());
    out.extend(value.micros.to_be_bytes());
    Ok(())
}

/// # Errors
/// [`KeyError::BadWidth`], and [`KeyError::BadValue`] for another version.
pub(crate) fn decode(bytes: &[u8]) -> Result<Interval, KeyError> {
    let bytes: [u8; 17] = bytes.try_into().map_err(|_| KeyError::BadWidth {
        ty: DataType::Interval.sql_name(),
        expected: 17,
        found: bytes.len(),
    })?;
    let [VERSION, a, b, c, d, e, f, g, h, micros @ ..] = bytes else {
        return Err(KeyError::BadValue { offset: 0, ty: DataType::Interval.sql_name() });
    };
    let micros = i64::from_be_bytes(micros);
    if micros.unsigned_abs() > MAX_MICROS {
        return Err(KeyError::BadValue { offset: 0, ty: DataType::Interval.sql_name() });
    }
    Ok(Interval { months: i32::from_be_bytes([a, b, c, d]), days: i32::from_be_bytes([e, f, g, h]), micros })
}
