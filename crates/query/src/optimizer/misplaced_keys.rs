//! Hides unique keys and orders that DataFusion derives wrongly.
//!
//! An aggregate declares its group columns a unique key, and rows ordered by a unique key need no further sort keys.
//! DataFusion's projections (55.2) pass a key on by column index, not by column:
//!
//! ```text
//!   Sort r, b                       dropped: rows are ordered by r, and "column 0 is unique"
//!     Project rank() AS r, b        column 0 is r here
//!       Window rank() OVER c        ordered by c, so by rank()
//!         Aggregate by b: b, count c  column 0, b, is unique
//! ```
//!
//! For ROLLUP, CUBE and GROUPING SETS, DataFusion claims the order, the constants and the equal columns of the input,
//! but a column is NULL in the grouping sets without it. For `SELECT 1 … UNION ALL SELECT 2 …` it claims a constant,
//! because each input has one, and would drop a sort by it with a limit. If columns are equal in one input only, as in
//! `SELECT j, j … UNION ALL SELECT 3, j …`, that input is sorted by one of them, and the order of the union is lost.
//!
//! Windows whose partition keys include a unique key and more are not planned over rows in the order of that key.
//!
//! Over such a node an [`UnorderedExec`] declares neither keys nor order. It stays in the plan, because an executing
//! sort checks again whether it is needed.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Constraint, Constraints, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{AcrossPartitions, EquivalenceProperties, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::{
    CardinalityEffect, ChildrenPropertiesMode, ReplaceChildrenOptions, replace_children_if_necessary,
};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use std::fmt;
use std::sync::Arc;

/// Hides unsound properties before sorts are placed.
#[derive(Debug)]
pub(super) struct HideMisplacedKeys;

impl PhysicalOptimizerRule for HideMisplacedKeys {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            if splits_single_rows(plan.as_ref()) {
                let hidden = |child: &Arc<dyn ExecutionPlan>| Arc::new(UnorderedExec::new(Arc::clone(child))) as Arc<_>;
                let children = plan.children().into_iter().map(hidden).collect();
                return Ok(Transformed::yes(replace_children_if_necessary(plan, children)?));
            }
            Ok(if has_unsound_equivalences(plan.as_ref()) || misplaces_keys(plan.as_ref()) {
                Transformed::yes(Arc::new(UnorderedExec::new(plan)) as Arc<dyn ExecutionPlan>)
            } else {
                Transformed::no(plan)
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "hide_misplaced_keys"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Does a window partition by a unique key and further columns? Rows in the order of the key are taken for rows in the
/// order of all these columns, but the window requires that each of them is sorted by.
fn splits_single_rows(plan: &dyn ExecutionPlan) -> bool {
    let window = plan.downcast_ref::<BoundedWindowAggExec>().map(BoundedWindowAggExec::window_expr);
    let window = window.or_else(|| plan.downcast_ref::<WindowAggExec>().map(WindowAggExec::window_expr));
    let Some(partition) = window.and_then(|calls| calls.first()).map(|call| call.partition_by()) else { return false };
    let columns: Vec<usize> = partition.iter().filter_map(column_of).collect();
    let is_part =
        |key: &Constraint| places(key).len() < partition.len() && places(key).iter().all(|at| columns.contains(at));
    let has_part =
        |input: &&Arc<dyn ExecutionPlan>| input.properties().equivalence_properties().constraints().iter().any(is_part);
    plan.children().iter().any(has_part)
}

/// Are all equivalence properties of the node unsound?
fn has_unsound_equivalences(plan: &dyn ExecutionPlan) -> bool {
    groups_by_sets(plan) || appends_constants(plan) || appends_equal_columns(plan)
}

fn groups_by_sets(plan: &dyn ExecutionPlan) -> bool {
    plan.downcast_ref::<AggregateExec>().is_some_and(|aggregate| aggregate.group_expr().has_grouping_set())
}

/// Is a column constant in each input, but perhaps not in all of them together?
fn appends_constants(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<UnionExec>()
        && plan
            .properties()
            .equivalence_properties()
            .constants()
            .iter()
            .any(|constant| !matches!(constant.across_partitions, AcrossPartitions::Uniform(Some(_))))
}

/// Does an input of a union have equal columns?
fn appends_equal_columns(plan: &dyn ExecutionPlan) -> bool {
    let equal = |input: &&Arc<dyn ExecutionPlan>| {
        let known = input.properties().equivalence_properties();
        known.eq_group().iter().any(|class| class.iter().filter(|part| column_of(part).is_some()).count() > 1)
    };
    plan.is::<UnionExec>() && plan.children().iter().any(equal)
}

/// The properties that hold for the node's rows.
fn still_known(plan: &dyn ExecutionPlan) -> EquivalenceProperties {
    if has_unsound_equivalences(plan) {
        return EquivalenceProperties::new(plan.schema());
    }
    let mut known = plan.properties().equivalence_properties().clone().with_constraints(Constraints::default());
    known.clear_orderings();
    known
}

/// Does a node declare a unique key that its input does not have?
fn misplaces_keys(plan: &dyn ExecutionPlan) -> bool {
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let columns: Vec<_> = projection.expr().iter().map(|part| column_of(&part.expr)).collect();
        // Without a sort or window below, rows are ordered by their keys at most.
        return !all_hold(plan, &columns, projection.input().as_ref()) && orders_rows(projection.input().as_ref());
    }
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        let groups = aggregate.group_expr();
        let columns: Vec<_> = groups.expr().iter().map(|(expr, _)| column_of(expr)).collect();
        return !all_hold(plan, &columns, aggregate.input().as_ref());
    }
    false
}

fn column_of(expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    expr.downcast_ref::<Column>().map(Column::index)
}

/// Do all unique keys of the node hold? `columns` maps its columns to those of the input.
fn all_hold(plan: &dyn ExecutionPlan, columns: &[Option<usize>], input: &dyn ExecutionPlan) -> bool {
    let known = input.properties().equivalence_properties().constraints();
    let grouped = plan.is::<AggregateExec>();
    plan.properties().equivalence_properties().constraints().iter().all(|claim| {
        let claimed = places(claim);
        if grouped && (0..columns.len()).all(|at| claimed.contains(&at)) {
            return true;
        }
        let meant: Vec<usize> = claimed.iter().filter_map(|at| columns.get(*at).copied().flatten()).collect();
        known.iter().any(|key| places(key).iter().all(|at| meant.contains(at)))
    })
}

fn places(key: &Constraint) -> &[usize] {
    match key {
        Constraint::PrimaryKey(places) | Constraint::Unique(places) => places,
    }
}

fn orders_rows(plan: &dyn ExecutionPlan) -> bool {
    let mut open = vec![plan];
    while let Some(plan) = open.pop() {
        if plan.is::<SortExec>() || plan.is::<WindowAggExec>() || plan.is::<BoundedWindowAggExec>() {
            return true;
        }
        open.extend(plan.children().into_iter().map(AsRef::as_ref));
    }
    false
}

/// Passes rows on and hides properties of its input.
#[derive(Debug)]
pub(crate) struct UnorderedExec {
    input: Arc<dyn ExecutionPlan>,
    /// Are constants and equal columns hidden as well?
    all: bool,
    properties: Arc<PlanProperties>,
}

impl UnorderedExec {
    /// Hides keys and order.
    pub(super) fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let known = still_known(input.as_ref());
        Self::knowing(input, known, false)
    }

    /// Hides all equivalence properties.
    pub(super) fn unknown(input: Arc<dyn ExecutionPlan>) -> Self {
        let known = EquivalenceProperties::new(input.schema());
        Self::knowing(input, known, true)
    }

    fn knowing(input: Arc<dyn ExecutionPlan>, known: EquivalenceProperties, all: bool) -> Self {
        let properties = input.properties().as_ref().clone().with_eq_properties(known);
        Self { input, all, properties: Arc::new(properties) }
    }
}

impl DisplayAs for UnorderedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnorderedExec")
    }
}

impl ExecutionPlan for UnorderedExec {
    fn name(&self) -> &str {
        "UnorderedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    /// With [`ChildrenPropertiesMode::Keep`] the properties stay, so that the operators above need not be recomputed.
    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Ok([input]) = <[_; 1]>::try_from(children) else { return internal_err!("one input is wanted") };
        Ok(Arc::new(match options.children_properties {
            ChildrenPropertiesMode::Keep => Self { input, all: self.all, properties: Arc::clone(&self.properties) },
            ChildrenPropertiesMode::Recompute if self.all => Self::unknown(input),
            ChildrenPropertiesMode::Recompute => Self::new(input),
        }))
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        match inputs {
            [input] => Ok(Arc::clone(input)),
            _ => internal_err!("one input is wanted"),
        }
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        FilterDescription::from_children(filters, &self.children())
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        Ok(FilterPushdownPropagation::if_all(result))
    }

    fn execute(&self, partition: usize, tasks: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, tasks)
    }
}
