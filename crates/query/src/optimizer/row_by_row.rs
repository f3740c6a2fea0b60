//! Lets projections and filters with effects evaluate row by row where a user can see the difference.
//!
//! They are replaced by [`RowByRowExec`], and so are DataFusion's operators for functions that wait. The rule runs first:
//! the new operators need their input in one partition, no condition may be pushed below them, and no projection merged
//! with them. The only call of a plan is made batch by batch, which is faster, unless a condition decides about it, it
//! waits, or a limit above may need fewer rows. Branches of UNION ALL with effects run one after the other.

use crate::exec::only_input;
use crate::exec::row_by_row::{BranchesExec, RowByRowExec, Steps};
use crate::functions::{effects, is_conditional, waits};
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::async_scalar_function::AsyncFuncExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::async_func::AsyncFuncExec;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::union::UnionExec;
use std::collections::HashSet;
use std::sync::Arc;

/// The rule.
#[derive(Debug)]
pub(super) struct RowByRow;

impl PhysicalOptimizerRule for RowByRow {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let calls = Calls::of(&plan)?;
        if calls.all == 0 {
            return Ok(plan);
        }
        let limited = limited(&plan);
        plan.transform_down(|node| {
            if node.is::<UnionExec>() && Calls::of(&node)?.all > 0 {
                return Ok(Transformed::yes(Arc::new(BranchesExec::new(node)) as _));
            }
            let Some(operator) = computing(&node)? else { return Ok(Transformed::no(node)) };
            let steps = if calls.operators > 1 || limited.contains(&address(&node)) {
                Steps::RowsApart
            } else if calls.all > 1 || !is_one_call_per_row(operator.as_ref())? {
                Steps::Rows
            } else {
                Steps::Batches
            };
            Ok(Transformed::yes(Arc::new(RowByRowExec::new(operator, steps)) as _))
        })
        .data()
    }

    fn name(&self) -> &str {
        "row_by_row"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The calls with effects of a plan.
#[derive(Default)]
struct Calls {
    all: usize,
    /// The number of operators that make them, or more.
    operators: usize,
}

impl Calls {
    fn of(plan: &Arc<dyn ExecutionPlan>) -> Result<Self> {
        let mut calls = Self::default();
        plan.apply(|node| {
            let own = own_calls(node)?;
            calls.all += own;
            calls.operators += usize::from(own > 0);
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(calls)
    }
}

/// The calls that an operator makes itself. Join conditions are evaluated batch by batch.
fn own_calls(plan: &Arc<dyn ExecutionPlan>) -> Result<usize> {
    let mut own = 0;
    if plan.is::<ProjectionExec>() || plan.is::<FilterExec>() || plan.is::<AsyncFuncExec>() {
        plan.apply_expressions(&mut |expr| {
            own += effects(called(expr))?;
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    Ok(own)
}

/// The call of a column of an `AsyncFuncExec`; any other expression as it is.
fn called(expr: &Arc<dyn PhysicalExpr>) -> &Arc<dyn PhysicalExpr> {
    expr.downcast_ref::<AsyncFuncExpr>().map_or(expr, |waiting| &waiting.func)
}

fn address(plan: &Arc<dyn ExecutionPlan>) -> usize {
    Arc::as_ptr(plan).cast::<()>().addr()
}

/// The operators of which a limit above may need fewer rows than there are.
fn limited(plan: &Arc<dyn ExecutionPlan>) -> HashSet<usize> {
    let mut limited = HashSet::new();
    let mut open = vec![(plan, false)];
    while let Some((plan, is_limited)) = open.pop() {
        if is_limited {
            limited.insert(address(plan));
        }
        let below = is_limited || limits(plan.as_ref());
        let passes = |side: usize| below && !reads_all(plan.as_ref(), side);
        open.extend(plan.children().into_iter().enumerate().map(|(side, child)| (child, passes(side))));
    }
    limited
}

/// Does an operator return a limited number of rows? A sort that does may be dropped if its input is in order.
fn limits(plan: &dyn ExecutionPlan) -> bool {
    let sort = plan.downcast_ref::<SortExec>();
    plan.is::<GlobalLimitExec>() || plan.is::<LocalLimitExec>() || sort.is_some_and(|sort| sort.fetch().is_some())
}

/// Does an operator read all rows of that input before it returns the first one?
fn reads_all(plan: &dyn ExecutionPlan, side: usize) -> bool {
    let builds = plan.is::<HashJoinExec>() || plan.is::<NestedLoopJoinExec>() || plan.is::<CrossJoinExec>();
    let sorts = plan.is::<SortExec>() && !limits(plan);
    sorts || plan.is::<AggregateExec>() || builds && side == 0
}

/// The projection or filter with effects, above what DataFusion would compute before it; `None` for other operators.
fn computing(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let own = match plan.is::<AsyncFuncExec>() {
        true => projected(plan)?,
        false => match plan.children().as_slice() {
            [below] if below.is::<AsyncFuncExec>() => with_waiting(plan, below)?,
            _ => Arc::clone(plan),
        },
    };
    Ok((own_calls(&own)? > 0).then_some(own))
}

/// An `AsyncFuncExec` as a projection.
fn projected(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let input = input_of(plan)?;
    let (below, schema) = (input.schema(), plan.schema());
    let columns = below.fields().iter().enumerate();
    let columns = columns.map(|(at, field)| Arc::new(Column::new(field.name(), at)) as Arc<dyn PhysicalExpr>);
    let exprs = columns.chain(calls_of(plan)?).zip(schema.fields());
    let exprs = exprs.map(|(expr, field)| ProjectionExpr { expr, alias: field.name().clone() });
    Ok(Arc::new(ProjectionExec::try_new(exprs.collect::<Vec<_>>(), input)?))
}

/// A projection or filter over an `AsyncFuncExec`, with the calls in it.
fn with_waiting(plan: &Arc<dyn ExecutionPlan>, waiting: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let input = input_of(waiting)?;
    let (calls, columns) = (calls_of(waiting)?, input.schema().fields().len());
    let inlined = |expr: &Arc<dyn PhysicalExpr>| {
        let call_at = |at: usize| calls.get(at.checked_sub(columns)?).map(Arc::clone);
        let inlined = Arc::clone(expr).transform_up(|part| {
            let call = part.downcast_ref::<Column>().and_then(|column| call_at(column.index()));
            Ok(call.map_or_else(|| Transformed::no(part), Transformed::yes))
        });
        inlined.data()
    };
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let item = |item: &ProjectionExpr| Ok(ProjectionExpr { expr: inlined(&item.expr)?, alias: item.alias.clone() });
        let exprs = projection.expr().iter().map(item).collect::<Result<Vec<_>>>()?;
        let schema = projection.schema();
        return Ok(Arc::new(ProjectionExec::try_new_with_schema_metadata(exprs, input, &schema)?));
    }
    let Some(filter) = plan.downcast_ref::<FilterExec>() else { return Ok(Arc::clone(plan)) };
    let columns = filter.projection().as_ref().map(|columns| columns.to_vec());
    let filter = FilterExecBuilder::new(inlined(filter.predicate())?, input).apply_projection(columns)?;
    Ok(Arc::new(filter.build()?))
}

fn input_of(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    only_input(plan.children()).map(Arc::clone)
}

/// The calls of an `AsyncFuncExec`.
fn calls_of(plan: &Arc<dyn ExecutionPlan>) -> Result<Vec<Arc<dyn PhysicalExpr>>> {
    let mut calls = Vec::new();
    plan.apply_expressions(&mut |expr| {
        calls.push(Arc::clone(called(expr)));
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(calls)
}

/// Does an operator make its call for each row, whatever the row is, without waiting?
fn is_one_call_per_row(plan: &dyn ExecutionPlan) -> Result<bool> {
    let mut is_plain = true;
    plan.apply_expressions(&mut |expr| {
        is_plain = is_plain && !is_conditional(expr)? && !expr.exists(|part| Ok(waits(part)))?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(is_plain)
}
