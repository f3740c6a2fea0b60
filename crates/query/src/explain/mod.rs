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
use rows::{Actual, Estimate, ExplainedPlan, PlanNode, Planning};
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
    /// Returns the plan as EXPLAIN shows it; with `analyze`, after running it.
    ///
    /// # Errors
    /// Errors of [`Planner::execute`] and of the execution.
    pub async fn explain(
        &self,
        cx: &QueryContext,
        plan: &Plan,
        params: &[Datum],
        options: ExplainOptions,
    ) -> QueryResult<ExplainedPlan> {
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
        let execution = (options.analyze && options.summary && options.timing).then(|| began.elapsed());
        let roots = nodes_of(physical.as_ref(), options, &mut scans);
        let planning = options.planning.map(|bind| planning_times(bind, plan.phases, planning));
        Ok(ExplainedPlan { roots, executor: None, planning, execution })
    }
}

/// The planning time, in total and by phase.
fn planning_times(bind: Duration, Phases { lower, optimize }: Phases, physical: Duration) -> Planning {
    let phases = vec![("Bind", bind), ("lower", lower), ("optimize", optimize), ("physical", physical)];
    Planning { total: bind + lower + optimize + physical, phases }
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

/// A node with its children below it; of an omitted node its children, which take its place.
fn nodes_of(node: &dyn ExecutionPlan, options: ExplainOptions, scans: &mut VecDeque<Option<Regions>>) -> Vec<PlanNode> {
    let regions = node.is::<RegionScanExec>().then(|| scans.pop_front()).flatten().flatten();
    let shown = nodes::describe(node, regions, options.verbose);
    let inputs = node.children().into_iter().flat_map(|child| nodes_of(child.as_ref(), options, scans)).collect();
    let Some(mut shown) = shown else { return inputs };
    if options.costs {
        shown.estimate = estimate(node);
    }
    if options.analyze {
        shown.actual = actual(node, options);
        shown.details.extend(scan_lines::counters(node));
    }
    vec![PlanNode { inputs, ..shown }]
}

/// The estimated rows of a node, and the estimated cost of a scan.
fn estimate(node: &dyn ExecutionPlan) -> Estimate {
    let cost = node.downcast_ref::<RegionScanExec>().map(RegionScanExec::cost);
    Estimate { cost, rows: expected_rows(node).map(|rows| rows as u64) }
}

/// Returns the estimated rows of all partitions together, if they are known.
fn expected_rows(node: &dyn ExecutionPlan) -> Option<usize> {
    let statistics = StatisticsContext::new().compute(node, &StatisticsArgs::new()).ok()?;
    statistics.num_rows.get_value().copied()
}

/// The actual rows and the time of a node, if it has counted them.
fn actual(node: &dyn ExecutionPlan, options: ExplainOptions) -> Option<Actual> {
    let metrics = node.metrics().unwrap_or_default().aggregate_by_name();
    let rows = metrics.output_rows()? as u64;
    let time = metrics.iter().find_map(|metric| match metric.value() {
        MetricValue::ElapsedCompute(time) => Some(time.value()),
        _ => None,
    });
    Some(Actual { rows, busy: time.filter(|_| options.timing).map(|nanos| Duration::from_nanos(nanos as u64)) })
}
