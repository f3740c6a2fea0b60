//! Join ordering by statistics, for inner joins of several tables.
//!
//! ```text
//!   inner joins, semi and anti joins above them ──Group::of──> leaves and conditions
//!   leaves, with statistics of their tables     ──estimate──>  rows, values of columns
//!   rows of each set of leaves                  ──search──>    the join tree with the lowest cost
//!   the tree                                    ──build──>     the same columns, in the same order
//! ```
//! Outer joins are not reordered, nor are joins with an input without statistics: without ANALYZE the order is that of
//! the statement. Ordering happens when a statement is bound, so that parameter values are known, and a cached plan may
//! use another order each time.

mod build;
mod estimate;
mod factors;
mod group;
mod lookups;
mod search;
mod sources;

use crate::context::QueryContext;
use crate::error::QueryResult;
use crate::provider::RegionTable;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;
use estimate::Estimate;
use factors::Factors;
use group::Group;
use sources::Sources;

/// PostgreSQL's setting: 1 keeps the order of the statement.
const SETTING: &str = "join_collapse_limit";
/// Up to this many leaves all orders are tried, unless the setting is lower.
const MOST_TRIED: usize = 10;

/// Orders the joins of a plan by cost, and annotates its tables with the joins' lookups.
///
/// # Errors
/// Errors of the store's size estimates.
pub(crate) async fn ordered(plan: LogicalPlan, cx: &QueryContext) -> QueryResult<LogicalPlan> {
    let limit = cx.settings.get(SETTING).and_then(|value| value.parse::<usize>().ok()).unwrap_or(MOST_TRIED);
    let joins = joins(&plan)?;
    if joins == 0 || joins == 1 && !reads_indexed(&plan)? {
        return Ok(plan);
    }
    let sources = Sources::of(&plan).await?;
    if sources.are_none() {
        return Ok(plan);
    }
    // Two tables have no order to choose; DataFusion chooses the build side later.
    let plan = match limit.min(MOST_TRIED) {
        tried @ 2.. if joins > 1 => in_order(plan, &sources, tried)?,
        _ => plan,
    };
    Ok(lookups::annotated(plan, &sources)?)
}

/// The number of joins: 0, 1, or 2 for more than one.
fn joins(plan: &LogicalPlan) -> Result<usize> {
    let mut joins = 0;
    plan.apply_with_subqueries(|node| {
        joins += usize::from(matches!(node, LogicalPlan::Join(_)));
        Ok(if joins > 1 { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(joins)
}

/// Does it read a table with more than one access path?
fn reads_indexed(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found |=
            matches!(node, LogicalPlan::TableScan(scan) if RegionTable::of(scan).is_some_and(RegionTable::is_indexed));
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

fn in_order(plan: LogicalPlan, sources: &Sources, tried: usize) -> Result<LogicalPlan> {
    plan.transform_down_with_subqueries(|node| match &node {
        LogicalPlan::Join(_) => Ok(match reordered(&node, sources, tried)? {
            Some(plan) => Transformed::new(plan, true, TreeNodeRecursion::Jump),
            None => Transformed::no(node),
        }),
        _ => Ok(Transformed::no(node)),
    })
    .data()
}

/// The joins of the group of `join` in the best order; `None` keeps them.
fn reordered(join: &LogicalPlan, sources: &Sources, tried: usize) -> Result<Option<LogicalPlan>> {
    let Some(mut group) = Group::of(join) else { return Ok(None) };
    let estimates: Option<Vec<Estimate<'_>>> =
        group.leaves.iter().map(|leaf| estimate::of(&leaf.plan, sources)).collect();
    let Some(estimates) = estimates else { return Ok(None) };
    let factors = Factors::of(&group, &estimates);
    let Some(tree) = search::best(&group, &estimates, &factors, tried) else { return Ok(None) };
    for leaf in &mut group.leaves {
        leaf.plan = in_order(std::mem::take(&mut leaf.plan), sources, tried)?;
    }
    build::plan(&group, &tree, join.schema()).map(Some)
}
