//! Frames of windows that make no sense.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use sql::ast::{
    Expr, UnaryOperator, Value, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowSpec, visit_expressions,
};
use std::ops::ControlFlow;

/// Looks at a window's frame.
///
/// # Errors
/// 42P20 for bounds that are the wrong way round, 42P10, 22004 and 22013 for offsets.
pub(super) fn check(window: &WindowSpec) -> QueryResult<()> {
    let Some(frame) = &window.window_frame else { return Ok(()) };
    let end = frame.end_bound.as_ref().unwrap_or(&WindowFrameBound::CurrentRow);
    if let Some(message) = wrong_way_round(&frame.start_bound, end) {
        return Err(Refusal::WindowDefinition.because(message));
    }
    if frame.units == WindowFrameUnits::Groups && window.order_by.is_empty() {
        return Err(Refusal::WindowDefinition.because("GROUPS mode requires an ORDER BY clause"));
    }
    if frame.units == WindowFrameUnits::Range
        && window.order_by.len() != 1
        && [&frame.start_bound, end].into_iter().any(|bound| offset_of(bound).is_some())
    {
        let message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column";
        return Err(Refusal::WindowDefinition.because(message));
    }
    check_offset(frame, &frame.start_bound, "starting")?;
    check_offset(frame, end, "ending")
}

fn wrong_way_round(start: &WindowFrameBound, end: &WindowFrameBound) -> Option<&'static str> {
    use WindowFrameBound::{CurrentRow, Following, Preceding};
    Some(match (start, end) {
        (Following(None), _) => "frame start cannot be UNBOUNDED FOLLOWING",
        (_, Preceding(None)) => "frame end cannot be UNBOUNDED PRECEDING",
        (CurrentRow, Preceding(Some(_))) => "frame starting from current row cannot have preceding rows",
        (Following(Some(_)), CurrentRow) => "frame starting from following row cannot end with current row",
        (Following(Some(_)), Preceding(Some(_))) => "frame starting from following row cannot have preceding rows",
        _ => return None,
    })
}

fn offset_of(bound: &WindowFrameBound) -> Option<&Expr> {
    match bound {
        WindowFrameBound::Preceding(offset) | WindowFrameBound::Following(offset) => offset.as_deref(),
        WindowFrameBound::CurrentRow => None,
    }
}

fn check_offset(frame: &WindowFrame, bound: &WindowFrameBound, which: &str) -> QueryResult<()> {
    let Some(offset) = offset_of(bound) else { return Ok(()) };
    let varies = visit_expressions(offset, |expr: &Expr| match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    if varies.is_break() {
        return Err(Refusal::Position.because(format!("argument of {} must not contain variables", frame.units)));
    }
    if matches!(offset, Expr::Value(value) if value.value == Value::Null) {
        return Err(Refusal::Null.because(format!("frame {which} offset must not be null")));
    }
    if matches!(offset, Expr::UnaryOp { op: UnaryOperator::Minus, .. }) {
        return Err(negative(frame.units, which));
    }
    Ok(())
}

fn negative(units: WindowFrameUnits, which: &str) -> QueryError {
    Refusal::FrameOffset.because(match units {
        WindowFrameUnits::Range => "invalid preceding or following size in window function".to_owned(),
        _ => format!("frame {which} offset must not be negative"),
    })
}
