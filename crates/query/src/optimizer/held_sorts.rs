//! Keeps sorts above joins that forget constants.
//!
//! A join of DataFusion 55.2 passes on the equal columns of its right side, but not which of them are constant
//! (`EquivalenceClass::try_with_offset`). Its sort pushdown requires an order of the right side instead of the join
//! without asking whether the join then has it:
//!
//! ```text
//!   Window ORDER BY k, a        requires k, a; the join offers a: the plan is refused
//!     HashJoin
//!       …
//!       Sort a                  enough for k, a here, because k is constant
//!         Project 1 AS k, a
//! ```
//! So the order of a join is hidden if a sort above reads a constant that the join forgets.

use super::misplaced_keys::UnorderedExec;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{JoinType, Result};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Hides the order of such joins, before sorts are placed.
#[derive(Debug)]
pub(super) struct HeldSorts;

impl PhysicalOptimizerRule for HeldSorts {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let mut forgetful = HashSet::new();
        plan.apply(|node| {
            for (input, columns) in orders_required(node) {
                forgetful.extend(forgetful_joins(input, columns));
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        if forgetful.is_empty() {
            return Ok(plan);
        }
        plan.transform_down(|node| {
            // Removed, because the join is visited again below the new node.
            Ok(match forgetful.remove(&address(&node)) {
                true => Transformed::yes(Arc::new(UnorderedExec::new(node)) as _),
                false => Transformed::no(node),
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "held_sorts"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn address(plan: &Arc<dyn ExecutionPlan>) -> usize {
    Arc::as_ptr(plan).cast::<()>().addr()
}

/// An input, and columns of it.
type Below<'p> = (&'p Arc<dyn ExecutionPlan>, BTreeSet<usize>);

/// The inputs whose order matters to an operator, with the columns of the order.
fn orders_required(plan: &Arc<dyn ExecutionPlan>) -> Vec<Below<'_>> {
    if let Some(sort) = plan.downcast_ref::<SortExec>() {
        return vec![(sort.input(), columns_of(sort.expr().iter().map(|key| &key.expr)))];
    }
    let orders = plan.children().into_iter().zip(plan.required_input_ordering());
    let required = orders.filter_map(|(input, order)| {
        let keys = order?.into_single();
        Some((input, columns_of(keys.iter().map(|key| &key.expr))))
    });
    required.collect()
}

fn columns_of<'e>(exprs: impl Iterator<Item = &'e Arc<dyn PhysicalExpr>>) -> BTreeSet<usize> {
    exprs.flat_map(|expr| collect_columns(expr).into_iter().map(|column| column.index())).collect()
}

/// The joins below that forget that one of these columns is constant.
fn forgetful_joins(plan: &Arc<dyn ExecutionPlan>, columns: BTreeSet<usize>) -> Vec<usize> {
    let (mut found, mut open) = (Vec::new(), vec![(plan, columns)]);
    while let Some((plan, columns)) = open.pop() {
        if columns.is_empty() {
            continue;
        }
        match Join::of(plan.as_ref()) {
            Some(join) => {
                if columns.iter().any(|at| join.forgets(*at)) {
                    found.push(address(plan));
                }
                let places: Vec<_> = columns.iter().filter_map(|at| join.place(*at)).collect();
                for (side, input) in plan.children().into_iter().enumerate() {
                    open.push((input, places.iter().filter(|(of, _)| *of == side).map(|(_, at)| *at).collect()));
                }
            }
            None => {
                open.extend(plan.children().into_iter().map(|input| (input, below(plan.as_ref(), input, &columns))))
            }
        }
    }
    found
}

/// The columns of an operator as columns of its input.
fn below(plan: &dyn ExecutionPlan, input: &Arc<dyn ExecutionPlan>, columns: &BTreeSet<usize>) -> BTreeSet<usize> {
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let exprs = columns.iter().filter_map(|at| projection.expr().get(*at));
        return columns_of(exprs.map(|item| &item.expr));
    }
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        let groups = columns.iter().filter_map(|at| aggregate.group_expr().expr().get(*at));
        return columns_of(groups.map(|(expr, _)| expr));
    }
    if let Some(columns_kept) = plan.downcast_ref::<FilterExec>().and_then(|filter| filter.projection().as_ref()) {
        return columns.iter().filter_map(|at| columns_kept.get(*at).copied()).collect();
    }
    // Other operators add columns behind those of their input, if at all.
    let width = input.schema().fields().len();
    columns.iter().copied().filter(|at| *at < width).collect()
}

/// A join whose rows have the columns of both sides.
struct Join<'p> {
    plan: &'p dyn ExecutionPlan,
    left: &'p Arc<dyn ExecutionPlan>,
    right: &'p Arc<dyn ExecutionPlan>,
    /// The columns that are returned, if these are not all.
    projection: Option<&'p [usize]>,
}

impl<'p> Join<'p> {
    fn of(plan: &'p dyn ExecutionPlan) -> Option<Self> {
        let has_both = |kind| matches!(kind, JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full);
        let (kind, projection) = if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
            (*join.join_type(), join.projection.as_deref())
        } else if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
            (*join.join_type(), join.projection().as_deref())
        } else if let Some(join) = plan.downcast_ref::<SortMergeJoinExec>() {
            (join.join_type(), None)
        } else if plan.is::<CrossJoinExec>() {
            (JoinType::Inner, None)
        } else {
            return None;
        };
        match plan.children().as_slice() {
            [left, right] if has_both(kind) => Some(Self { plan, left, right, projection }),
            _ => None,
        }
    }

    /// The side of a column, and its index there.
    fn place(&self, at: usize) -> Option<(usize, usize)> {
        let at = match self.projection {
            Some(columns) => *columns.get(at)?,
            None => at,
        };
        let left = self.left.schema().fields().len();
        Some(if at < left { (0, at) } else { (1, at - left) })
    }

    /// Is the column constant on its side, and not known to be in the join?
    fn forgets(&self, at: usize) -> bool {
        let Some((side, of_side)) = self.place(at) else { return false };
        let input = if side == 0 { self.left } else { self.right };
        is_constant(input.as_ref(), of_side) && !is_constant(self.plan, at)
    }
}

fn is_constant(plan: &dyn ExecutionPlan, at: usize) -> bool {
    let schema = plan.schema();
    let Some(field) = schema.fields().get(at) else { return false };
    let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(field.name(), at));
    plan.properties().equivalence_properties().is_expr_constant(&column).is_some()
}
