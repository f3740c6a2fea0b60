//! Frames of windows, and windows ordered by times of day, uuids, bytes or intervals.
//!
//! The planner knows RANGE frames over types that can be subtracted only. A frame whose ends are the partition's or
//! the current row's peers needs no subtraction: it is the same in GROUPS, which count peers.

use super::adapt::Side;
use crate::Refusal;
use crate::convert::datum_to_scalar;
use crate::error::QueryResult;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::WindowFunctionParams;
use datafusion::logical_expr::{ExprSchemable, WindowFrame, WindowFrameBound, WindowFrameUnits};
use types::{DataType, Datum, Decimal};

/// Puts GROUPS for RANGE where the planner has no RANGE and both mean the same.
pub(super) fn count_peers(params: &mut WindowFunctionParams, schema: &DFSchema) {
    let frame = &params.window_frame;
    let plain = [&frame.start_bound, &frame.end_bound].into_iter().all(is_plain);
    let first = params.order_by.first().and_then(|by| by.expr.get_type(schema).ok());
    if frame.units == WindowFrameUnits::Range && plain && first.is_some_and(|ty| cannot_be_subtracted(&ty)) {
        params.window_frame =
            WindowFrame::new_bounds(WindowFrameUnits::Groups, frame.start_bound.clone(), frame.end_bound.clone());
    }
}

/// Distances of RANGE: of numbers they are numbers, of dates and times intervals, of others there are none. Intervals
/// are ordered by their lengths.
///
/// # Errors
/// 0A000 for types that have no distance, 22013 for a negative one.
pub(super) fn represent_range(params: &mut WindowFunctionParams, schema: &DFSchema) -> QueryResult<()> {
    let frame = &mut params.window_frame;
    if frame.units != WindowFrameUnits::Range {
        return Ok(());
    }
    let Some(Side::Known(ty)) = params.order_by.first().map(|by| Side::of(&by.expr, schema)) else { return Ok(()) };
    for bound in [&mut frame.start_bound, &mut frame.end_bound] {
        if let WindowFrameBound::Preceding(distance) | WindowFrameBound::Following(distance) = bound
            && let ScalarValue::Utf8(Some(text)) = &*distance
            && let Some(represented) = represent_distance(text, &ty)?
        {
            *distance = represented;
        }
    }
    Ok(())
}

/// The distance in another form than the planner reads it from.
fn represent_distance(text: &str, ty: &DataType) -> QueryResult<Option<ScalarValue>> {
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
        // DataFusion 55.2 computes no range of times of day.
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
        // As a value: the planner does not read all that PostgreSQL does.
        _ => Ok(Some(datum_to_scalar(&DataType::Interval, &Datum::Interval(interval))?)),
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
