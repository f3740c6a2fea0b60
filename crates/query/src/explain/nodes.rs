//! Describes operators: a title and a few details for each.

use super::expr_text::{order, physical, readable};
use super::{scan_lines, window};
use crate::exec::row_by_row::{BranchesExec, RowByRowExec};
use crate::exec::scan::Regions;
use crate::exec::{
    ComputeExec, FewerRowsExec, FittingRowsExec, HeldWindowExec, KeepOrderExec, LongRowsExec, PausingExec,
    RegionScanExec, SingleRowExec,
};
use crate::optimizer::UnorderedExec;
use datafusion::common::JoinType;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::buffer::BufferExec;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, displayable};
use rows::{PlanNode, Property};
use std::sync::Arc;

/// Describes a node; `None` for nodes that are omitted.
pub(super) fn describe(node: &dyn ExecutionPlan, regions: Option<Regions>, verbose: bool) -> Option<PlanNode> {
    if let Some(operator) = wrapped(node) {
        return describe(operator, regions, verbose);
    }
    if let Some(scan) = node.downcast_ref::<RegionScanExec>() {
        return Some(scan_lines::titled(scan).with(scan_lines::details(scan, regions, verbose)));
    }
    // A `PausingExec` stands above many operators of a plan, and does the same everywhere.
    if node.is::<PausingExec>() || !verbose && only_moves_rows(node) {
        return None;
    }
    if let Some(shown) = simple(node) {
        return Some(shown);
    }
    if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
        let partial = matches!(aggregate.mode(), AggregateMode::Partial | AggregateMode::PartialReduce);
        return (verbose || !partial).then(|| aggregate_shown(aggregate, partial));
    }
    let in_pieces = node.downcast_ref::<ComputeExec>().map(ComputeExec::projection);
    if let Some(projection) = node.downcast_ref::<ProjectionExec>().or(in_pieces) {
        let texts = |computed: bool| -> Vec<String> {
            let items = projection.expr().iter().filter(|item| item.expr.is::<Column>() != computed);
            items.map(|item| physical(item.expr.as_ref())).collect()
        };
        return match texts(true).join(", ") {
            computed if !computed.is_empty() => Some(PlanNode::doing("Compute", "Computed", computed)),
            _ => verbose.then(|| PlanNode::doing("Choose", "Output", texts(false).join(", "))),
        };
    }
    Some(join(node).or_else(|| window::shown(node)).unwrap_or_else(|| PlanNode::of(plain(node))))
}

/// Returns whether an operator passes batches through unchanged.
fn only_moves_rows(node: &dyn ExecutionPlan) -> bool {
    node.is::<CooperativeExec>()
        || node.is::<UnorderedExec>()
        || node.is::<KeepOrderExec>()
        || node.is::<SingleRowExec>()
        || node.is::<BufferExec>()
        || node.is::<FewerRowsExec>()
        || node.is::<LongRowsExec>()
        || node.is::<CoalescePartitionsExec>() && node.fetch().is_none()
        || node.is::<RepartitionExec>()
        || node.is::<LocalLimitExec>()
        || node.is::<SortPreservingMergeExec>()
}

fn simple(node: &dyn ExecutionPlan) -> Option<PlanNode> {
    if let Some(filter) = node.downcast_ref::<FilterExec>() {
        return Some(PlanNode::doing("Filter", "Filter", physical(filter.predicate().as_ref())));
    }
    if let Some(sort) = node.downcast_ref::<SortExec>() {
        let top = sort.fetch().map_or(String::new(), |fetch| format!(" (top {fetch})"));
        return Some(PlanNode::doing("Sort", "Sort key", format!("{}{top}", order(sort.expr()))));
    }
    if let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() {
        return Some(PlanNode::doing("Merge in order", "Sort key", order(merge.expr())));
    }
    if let Some(limit) = node.downcast_ref::<GlobalLimitExec>() {
        let fetch = limit.fetch().map_or("all".to_owned(), |fetch| fetch.to_string());
        let skip = if limit.skip() > 0 { format!(", after {}", limit.skip()) } else { String::new() };
        return Some(PlanNode::doing("Limit", "Limit", format!("{fetch}{skip}")));
    }
    if node.is::<CoalescePartitionsExec>() {
        let gather = PlanNode::of("Gather");
        return Some(match node.fetch() {
            Some(fetch) => gather.titled(format!("Gather (limit {fetch})")).naming("Limit", fetch.to_string()),
            None => gather,
        });
    }
    if node.is::<UnionExec>() {
        return Some(PlanNode::of("Append"));
    }
    None
}

/// The operator of a node that runs it in another way.
fn wrapped(node: &dyn ExecutionPlan) -> Option<&dyn ExecutionPlan> {
    let fitting = node.downcast_ref::<FittingRowsExec>().map(FittingRowsExec::operator);
    let held = || node.downcast_ref::<HeldWindowExec>().map(HeldWindowExec::operator);
    let rows = || node.downcast_ref::<RowByRowExec>().map(RowByRowExec::operator);
    let branches = || node.downcast_ref::<BranchesExec>().map(BranchesExec::union);
    fitting.or_else(held).or_else(rows).or_else(branches)
}

fn aggregate_shown(aggregate: &AggregateExec, partial: bool) -> PlanNode {
    let groups: Vec<String> = aggregate.group_expr().expr().iter().map(|(expr, _)| physical(expr.as_ref())).collect();
    let functions: Vec<String> = aggregate.aggr_expr().iter().map(|function| readable(function.name())).collect();
    let title = match (partial, groups.is_empty()) {
        (true, _) => "Partial aggregate",
        (false, true) => "Aggregate",
        (false, false) => "Group",
    };
    let by = (!groups.is_empty()).then(|| Property::new("By", groups.join(", ")));
    let of = (!functions.is_empty()).then(|| Property::new("Of", functions.join(", ")));
    PlanNode::of(title).with(by.into_iter().chain(of))
}

fn join(node: &dyn ExecutionPlan) -> Option<PlanNode> {
    if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        let filter = join.filter().map(|filter| physical(filter.expression().as_ref()));
        return Some(joined("Hash", *join.join_type(), join.on(), filter));
    }
    if let Some(join) = node.downcast_ref::<SortMergeJoinExec>() {
        let filter = join.filter().as_ref().map(|filter| physical(filter.expression().as_ref()));
        return Some(joined("Merge", join.join_type(), join.on(), filter));
    }
    if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        let filter = join.filter().map(|filter| physical(filter.expression().as_ref()));
        return Some(joined("Nested loop", *join.join_type(), &[], filter));
    }
    node.is::<CrossJoinExec>().then(|| PlanNode::of("Cross join"))
}

type JoinKey = (Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>);

fn joined(how: &str, ty: JoinType, on: &[JoinKey], filter: Option<String>) -> PlanNode {
    let kind = match ty {
        JoinType::Inner => "inner",
        JoinType::Left => "left",
        JoinType::Right => "right",
        JoinType::Full => "full",
        JoinType::LeftSemi => "semi",
        JoinType::RightSemi => "right semi",
        JoinType::LeftAnti => "anti",
        JoinType::RightAnti => "right anti",
        JoinType::LeftMark => "mark",
        JoinType::RightMark => "right mark",
    };
    let keys: Vec<String> =
        on.iter().map(|(left, right)| format!("{} = {}", physical(left.as_ref()), physical(right.as_ref()))).collect();
    let on = (!keys.is_empty()).then(|| Property::new("On", keys.join(" AND ")));
    let filter = filter.map(|filter| Property::new("If", filter));
    PlanNode::joining(how, kind, "").with(on.into_iter().chain(filter))
}

/// Formats operators without details; rare operators have DataFusion's text.
fn plain(node: &dyn ExecutionPlan) -> String {
    let line = displayable(node).one_line().to_string();
    let part = |from: &str| {
        let (_, behind) = line.split_once(from)?;
        Some(behind.split([',', ':', ']']).next().unwrap_or_default().trim().to_owned())
    };
    match node.name() {
        "PlaceholderRowExec" => "One row".to_owned(),
        "EmptyExec" => "No rows".to_owned(),
        "DataSourceExec" => "Rows in memory".to_owned(),
        "LazyMemoryExec" => format!("Rows of {}", part("batch_generators=[").unwrap_or_default()),
        "RecursiveQueryExec" => format!("Recursive query {}", part("name=").unwrap_or_default()),
        "WorkTableExec" => format!("Last round of {}", part("name=").unwrap_or_default()),
        "UnnestExec" => "Unnest".to_owned(),
        "InterleaveExec" => "Append".to_owned(),
        "RepartitionExec" => "Spread over tasks".to_owned(),
        "CooperativeExec" => "With pauses".to_owned(),
        "BufferExec" => "Read ahead".to_owned(),
        "FewerRowsExec" => "In smaller batches".to_owned(),
        "LongRowsExec" => "Measure rows".to_owned(),
        _ => readable(line.trim_end()),
    }
}
