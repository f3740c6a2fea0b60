//! Describes window operators: their functions, partitions, orders and frames.

use super::expr_text::{order, physical, readable};
use datafusion::logical_expr::{WindowFrame, WindowFrameBound, WindowFrameUnits};
use datafusion::physical_expr::window::WindowExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use rows::{PlanNode, Property};
use std::sync::Arc;

/// Functions that ignore the frame.
const FRAMELESS: [&str; 8] =
    ["row_number(", "rank(", "dense_rank(", "percent_rank(", "cume_dist(", "ntile(", "lag(", "lead("];

/// Describes a window operator; `None` for other operators.
pub(super) fn shown(node: &dyn ExecutionPlan) -> Option<PlanNode> {
    let functions = match (node.downcast_ref::<BoundedWindowAggExec>(), node.downcast_ref::<WindowAggExec>()) {
        (Some(window), _) => window.window_expr(),
        (None, Some(window)) => window.window_expr(),
        (None, None) => return None,
    };
    let texts: Vec<String> = functions.iter().map(function).collect();
    Some(PlanNode::of("Window").with([Property::new("Of", texts.join(", "))]))
}

/// `sum(a) OVER (PARTITION BY b ORDER BY c)`.
fn function(function: &Arc<dyn WindowExpr>) -> String {
    let name = readable(function.name());
    // The rest of DataFusion's name is the window, which is formatted below in SQL's order.
    let ends = [" PARTITION BY [", " ORDER BY [", " ROWS BETWEEN ", " RANGE BETWEEN ", " GROUPS BETWEEN "];
    let end = ends.iter().filter_map(|end| name.find(end)).min().unwrap_or(name.len());
    let name = name.get(..end).unwrap_or_default();
    let mut over = Vec::new();
    let partition: Vec<String> = function.partition_by().iter().map(|expr| physical(expr.as_ref())).collect();
    if !partition.is_empty() {
        over.push(format!("PARTITION BY {}", partition.join(", ")));
    }
    if !function.order_by().is_empty() {
        over.push(format!("ORDER BY {}", order(function.order_by())));
    }
    let frame = function.get_window_frame();
    if !is_usual(frame) && !FRAMELESS.iter().any(|of| name.starts_with(of)) {
        let bounds = format!("BETWEEN {} AND {}", frame.start_bound, frame.end_bound);
        over.push(format!("{} {}", frame.units, readable(&bounds)));
    }
    format!("{name} OVER ({})", over.join(" "))
}

/// Returns whether a frame is the default.
fn is_usual(frame: &WindowFrame) -> bool {
    frame.start_bound.is_unbounded()
        && match frame.end_bound {
            WindowFrameBound::CurrentRow => frame.units == WindowFrameUnits::Range,
            _ => frame.end_bound.is_unbounded(),
        }
}
