//! Window frames, and windows ordered by times of day, uuids, bytea or intervals.
//!
//! DataFusion supports RANGE frames only over types with subtraction. A frame that is bounded by the partition or the
//! current row's peers needs no subtraction: it equals a GROUPS frame, which counts peers.

use crate::Refusal;
use crate::convert::{datum_to_scalar, scalar_to_datum};
use crate::error::{QueryError, QueryResult};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{WindowFrame, WindowFrameBound, WindowFrameUnits};
use types::{DataType, Datum, Decimal};

/// Replaces RANGE by GROUPS if DataFusion does not support RANGE over the sort key's type and both mean the same.
pub(in crate::lower) fn counting_peers(frame: WindowFrame, ordered_by: Option<&ArrowType>) -> WindowFrame {
    let plain = [&frame.start_bound, &frame.end_bound].into_iter().all(is_plain);
    let is_range = frame.units == WindowFrameUnits::Range;
    if !(is_range && plain && ordered_by.is_some_and(cannot_be_subtracted)) {
        return frame;
    }
    WindowFrame::new_bounds(WindowFrameUnits::Groups, frame.start_bound, frame.end_bound)
}

/// Converts a RANGE offset: a number for numbers, an interval for dates and times; other types have none. Intervals are
/// ordered by their lengths. `None` if DataFusion parses it from its text.
///
/// # Errors
/// 0A000 for types without offsets, 22013 for a negative offset.
pub(in crate::lower) fn range_distance(text: &str, ty: &DataType) -> QueryResult<Option<ScalarValue>> {
    let number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let moment = ty.is_temporal() || *ty == DataType::Interval;
    let exact = number && text.contains('.');
    if !ty.is_number() && (!moment || number) || ty.is_integer() && exact {
        let kind = if exact { "numeric" } else { "integer" };
        let offset = if moment || ty.is_number() { format!(" and offset type {kind}") } else { String::new() };
        let what = format!("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {}", ty.base_name());
        return Err(Refusal::FrameType.because(format!("{what}{offset}")));
    }
    if !moment {
        return Ok(None);
    }
    if matches!(ty, DataType::Time(_)) {
        // DataFusion 55.2 supports no RANGE over times of day.
        return Err(Refusal::FrameType.because("RANGE with a distance over values of type time is not supported"));
    }
    let Datum::Interval(interval) = types::text::parse(&DataType::Interval, text)? else { return Ok(None) };
    if interval.span() < 0 {
        let message = "invalid preceding or following size in window function";
        return Err(Refusal::FrameOffset.because(message));
    }
    let length = || Datum::Numeric(Decimal { unscaled: interval.span(), scale: 0 });
    match ty {
        DataType::Interval => Ok(Some(datum_to_scalar(&DataType::Numeric(Some((38, 0))), &length())?)),
        // As a value, because DataFusion does not parse all of PostgreSQL's interval syntax.
        _ => Ok(Some(datum_to_scalar(&DataType::Interval, &Datum::Interval(interval))?)),
    }
}

/// The frame of the current row's peers.
pub(in crate::lower) fn peers() -> WindowFrame {
    WindowFrame::new_bounds(WindowFrameUnits::Range, WindowFrameBound::CurrentRow, WindowFrameBound::CurrentRow)
}

/// Does the frame end before it starts? DataFusion refuses such frames.
///
/// # Errors
/// 0A000 if that depends on the lengths of months.
pub(in crate::lower) fn is_reversed(frame: &WindowFrame) -> QueryResult<bool> {
    let offset = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(distance) => length(distance).map(|length| -length),
        WindowFrameBound::Following(distance) => length(distance),
        WindowFrameBound::CurrentRow => Some(0.0),
    };
    let (Some(start), Some(end)) = (offset(&frame.start_bound), offset(&frame.end_bound)) else { return Ok(false) };
    // DataFusion compares intervals field by field, months first.
    let is_refused = match (&frame.start_bound, &frame.end_bound) {
        (
            WindowFrameBound::Preceding(start @ ScalarValue::IntervalMonthDayNano(_)),
            WindowFrameBound::Preceding(end),
        ) => start < end,
        (
            WindowFrameBound::Following(start @ ScalarValue::IntervalMonthDayNano(_)),
            WindowFrameBound::Following(end),
        ) => start > end,
        _ => false,
    };
    if start <= end && is_refused {
        let feature = "RANGE between two distances, one in months and one in days".to_owned();
        return Err(QueryError::Unsupported { feature });
    }
    Ok(start > end)
}

/// The offset in rows, units or microseconds; `None` for UNBOUNDED.
#[allow(clippy::cast_precision_loss, reason = "two distances are told apart far below the precision")]
fn length(distance: &ScalarValue) -> Option<f64> {
    match distance {
        ScalarValue::UInt64(count) => count.map(|count| count as f64),
        ScalarValue::Utf8(text) => text.as_ref().and_then(|text| text.parse().ok()),
        ScalarValue::Decimal128(span, ..) => span.map(|span| span as f64),
        interval => match scalar_to_datum(interval) {
            Ok(Datum::Interval(interval)) => Some(interval.span() as f64),
            _ => None,
        },
    }
}

fn is_plain(bound: &WindowFrameBound) -> bool {
    match bound {
        WindowFrameBound::CurrentRow => true,
        WindowFrameBound::Preceding(distance) | WindowFrameBound::Following(distance) => distance.is_null(),
    }
}

fn cannot_be_subtracted(ty: &ArrowType) -> bool {
    matches!(ty, ArrowType::Time64(_) | ArrowType::FixedSizeBinary(_) | ArrowType::Binary | ArrowType::Interval(_))
}
