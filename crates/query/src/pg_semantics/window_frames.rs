//! Windows ordered by times of day, uuids, bytes or intervals.
//!
//! The planner knows RANGE frames over types that can be subtracted only. A frame whose ends are the partition's or
//! the current row's peers needs no subtraction: it is the same in GROUPS, which count peers.

use arrow::datatypes::DataType as ArrowType;
use datafusion::common::DFSchema;
use datafusion::logical_expr::expr::WindowFunctionParams;
use datafusion::logical_expr::{ExprSchemable, WindowFrame, WindowFrameBound, WindowFrameUnits};

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

fn is_plain(bound: &WindowFrameBound) -> bool {
    match bound {
        WindowFrameBound::CurrentRow => true,
        WindowFrameBound::Preceding(distance) | WindowFrameBound::Following(distance) => distance.is_null(),
    }
}

fn cannot_be_subtracted(ty: &ArrowType) -> bool {
    matches!(ty, ArrowType::Time64(_) | ArrowType::FixedSizeBinary(_) | ArrowType::Binary | ArrowType::Interval(_))
}
