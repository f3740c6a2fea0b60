//! In which order inner joins of several tables are made, by statistics.
//!
//! ```text
//!   inner joins, semi and anti joins above them ──Group::of──> leaves and conditions
//!   leaves, with statistics of their tables     ──estimate──>  rows, values of columns
//!   rows of each set of leaves                  ──search──>    a tree of joins: the one that costs least
//!   the tree                                    ──build──>     the same columns, in the same places
//! ```
//! Outer joins stay where they are, and so do joins whose inputs nothing is known of: without ANALYZE the order is that
//! of the statement. It is done when a statement is bound, so that values of parameters count, and a kept plan may join in
//! another order each time.

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
/// Up to so many leaves all orders are tried, unless the setting says less.
const MOST_TRIED: usize = 10;

/// The plan with its joins in the order that costs least, and its tables told which of them are looked up.
///
/// # Errors
/// Those of the store when it is asked for sizes.
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
    // Two tables alone have no order; which side is built is chosen later.
    let plan = match limit.min(MOST_TRIED) {
        tried @ 2.. if joins > 1 => in_order(plan, &sources, tried)?,
        _ => plan,
    };
    Ok(lookups::annotated(plan, &sources)?)
}

/// How many joins there are: none, one, or two for more than that.
fn joins(plan: &LogicalPlan) -> Result<usize> {
    let mut joins = 0;
    plan.apply_with_subqueries(|node| {
        joins += usize::from(matches!(node, LogicalPlan::Join(_)));
        Ok(if joins > 1 { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(joins)
}

/// Is there a table with more than one way to its rows?
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

/// The join, and all joins that it is a group with, in the best order; `None`: as it is.
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
