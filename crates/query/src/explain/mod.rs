//! EXPLAIN: a tree of the access paths and operators of a plan.
//!
//! ```text
//!   Sort: delay DESC (top 5)
//!     ->  Range scan on flights
//!           Key ranges: ['UA',1545,*]
//!           Salt buckets: 8 of 8
//!           Regions: 8 of 8
//!           Checked on bytes: delay > 5
//! ```
//! Without ANALYZE the text depends on the plan alone. Operators that only move batches between tasks are omitted
//! (VERBOSE shows them): their number depends on the machine.

mod expr_text;
mod nodes;
mod scan_lines;
mod window;

use crate::context::QueryContext;
use crate::error::QueryResult;
use crate::exec::RegionScanExec;
use crate::exec::scan::Regions;
use crate::join_order;
use crate::plan::{Phases, Plan, Planner};
use datafusion::physical_plan::metrics::MetricValue;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::StreamExt;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use types::Datum;

/// Formats an expression as SQL.
pub(crate) fn expression_text(expr: &datafusion::logical_expr::Expr) -> String {
    expr_text::logical(expr)
}

/// The options of EXPLAIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplainOptions {
    /// Run the plan, and show rows and costs.
    pub analyze: bool,
    /// Show output columns, and operators that only move rows between tasks.
    pub verbose: bool,
    /// Show times (with `analyze`).
    pub timing: bool,
    /// Show the execution time (with `analyze` and `timing`).
    pub summary: bool,
    /// Show estimates.
    pub costs: bool,
    /// Show planning times; the value is the time of binding.
    pub planning: Option<Duration>,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        Self { analyze: false, verbose: false, timing: true, summary: true, costs: false, planning: None }
    }
}

impl Planner {
    /// Returns the plan as lines of text; with `analyze`, after running it.
    ///
    /// # Errors
    /// Errors of [`Planner::execute`] and of the execution.
    pub async fn explain(
        &self,
        cx: &QueryContext,
        plan: &Plan,
        params: &[Datum],
        options: ExplainOptions,
    ) -> QueryResult<Vec<String>> {
        let planning = Instant::now();
        let bound = join_order::ordered(self.bound(cx, plan, params)?, cx).await?;
        let physical = self.physical(&bound, cx.hints.sort_merge_joins).await?;
        let planning = planning.elapsed();
        let began = Instant::now();
        if options.analyze {
            let mut rows = execute_stream(Arc::clone(&physical), Arc::clone(self.tasks()))?;
            while let Some(batch) = rows.next().await {
                batch?;
            }
        }
        let mut scans = VecDeque::new();
        collect_regions(physical.as_ref(), &mut scans).await?;
        let mut lines = Vec::new();
        draw(physical.as_ref(), 0, options, &mut scans, &mut lines);
        if let Some(bind) = options.planning {
            lines.extend(planning_lines(bind, plan.phases, planning));
        }
        if options.analyze && options.summary && options.timing {
            lines.push(format!("Execution Time: {:.3} ms", began.elapsed().as_secs_f64() * 1000.0));
        }
        Ok(lines)
    }
}

/// Formats the planning time, in total and by phase.
fn planning_lines(bind: Duration, phases: Phases, physical: Duration) -> [String; 2] {
    let millis = |took: Duration| took.as_secs_f64() * 1000.0;
    let all = millis(bind + phases.lower + phases.optimize + physical);
    let Phases { lower, optimize } = phases;
    [
        format!("Planning Time: {all:.3} ms"),
        format!(
            "  Bind: {:.3} ms, lower: {:.3} ms, optimize: {:.3} ms, physical: {:.3} ms",
            millis(bind),
            millis(lower),
            millis(optimize),
            millis(physical)
        ),
    ]
}

/// Collects the regions of all scans, in the order in which the scans are drawn.
async fn collect_regions(root: &dyn ExecutionPlan, scans: &mut VecDeque<Option<Regions>>) -> QueryResult<()> {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if let Some(scan) = node.downcast_ref::<RegionScanExec>() {
            scans.push_back(scan.regions().await?);
        }
        open.extend(node.children().into_iter().rev().map(AsRef::as_ref));
    }
    Ok(())
}

/// Appends a node and its children.
fn draw(
    node: &dyn ExecutionPlan,
    depth: usize,
    options: ExplainOptions,
    scans: &mut VecDeque<Option<Regions>>,
    lines: &mut Vec<String>,
) {
    let regions = node.is::<RegionScanExec>().then(|| scans.pop_front()).flatten().flatten();
    let Some(shown) = nodes::describe(node, regions, options.verbose) else {
        // The children of an omitted node take its place.
        return node.children().into_iter().for_each(|child| draw(child.as_ref(), depth, options, scans, lines));
    };
    let (head, below) = match depth {
        0 => (String::new(), "  ".to_owned()),
        depth => (format!("{}->  ", " ".repeat(6 * depth - 4)), " ".repeat(6 * depth + 2)),
    };
    let estimates = if options.costs { estimates(node) } else { String::new() };
    let counted = if options.analyze { costs(node, options) } else { String::new() };
    lines.push(format!("{head}{}{estimates}{counted}", shown.title));
    lines.extend(shown.details.iter().map(|detail| format!("{below}{detail}")));
    if options.analyze {
        lines.extend(scan_lines::counters(node).map(|line| format!("{below}{line}")));
    }
    node.children().into_iter().for_each(|child| draw(child.as_ref(), depth + 1, options, scans, lines));
}

/// Formats the estimated rows of a node, and the estimated cost of a scan.
fn estimates(node: &dyn ExecutionPlan) -> String {
    let cost = node.downcast_ref::<RegionScanExec>().map(|scan| format!("cost={:.2}", scan.cost()));
    let rows = expected_rows(node).map(|rows| format!("rows={rows}"));
    let parts: Vec<String> = cost.into_iter().chain(rows).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(" ")) }
}

/// Returns the estimated rows of all partitions together, if they are known.
fn expected_rows(node: &dyn ExecutionPlan) -> Option<usize> {
    let statistics = StatisticsContext::new().compute(node, &StatisticsArgs::new()).ok()?;
    statistics.num_rows.get_value().copied()
}

/// Formats the actual rows and the time of a node, if it has counted them.
fn costs(node: &dyn ExecutionPlan, options: ExplainOptions) -> String {
    let metrics = node.metrics().unwrap_or_default().aggregate_by_name();
    let Some(rows) = metrics.output_rows() else { return String::new() };
    let time = metrics.iter().find_map(|metric| match metric.value() {
        MetricValue::ElapsedCompute(time) => Some(time.value()),
        _ => None,
    });
    match time.filter(|_| options.timing) {
        Some(nanos) => format!(" (actual rows={rows}, busy={:.3} ms)", nanos as f64 / 1e6),
        None => format!(" (actual rows={rows})"),
    }
}
