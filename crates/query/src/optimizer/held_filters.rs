//! Keeps filters above operators where pushing them down would change the result.
//!
//! DataFusion's rule (55.2, `PushDownFilter`) pushes a condition below an operator that passes through all columns of
//! the condition. A condition without columns is always pushed down:
//!
//! ```text
//!   Filter now() < '2000-01-01'          no row
//!     Aggregate count(*), one group      one row for any input: with the filter below, the row with count 0 remains
//! ```
//! The same holds for ROLLUP and other grouping sets that have a group of all rows. Below a materialized CTE a filter
//! would apply to all its readers. A volatile condition is evaluated once per row, and below aggregates, windows, joins
//! and set operations that is a different number of times.

use crate::functions::is_nullable;
use crate::plan::is_materialized_cte;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Aggregate, Expr, Filter, GroupingSet, Join, LogicalPlan};
use datafusion::optimizer::push_down_filter::PushDownFilter;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Replaces DataFusion's rule, and hides such filters from it.
#[derive(Debug, Default)]
pub(super) struct HeldFilters {
    rule: PushDownFilter,
}

impl OptimizerRule for HeldFilters {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let (plan, merged) = match plan {
            LogicalPlan::Filter(filter) => one_filter(filter)?,
            plan => (plan, false),
        };
        let (held, plan) = without_held(plan)?;
        let handed_on = self.handed_on(plan, config)?;
        let restored = handed_on.map_data(|plan| held.restored(plan))?;
        Ok(Transformed::new_transformed(restored.data, restored.transformed || merged))
    }
}

impl HeldFilters {
    fn handed_on(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match &plan {
            LogicalPlan::Filter(filter)
                if returns_row_for_empty_input(&filter.input) || is_materialized_cte(&filter.input) =>
            {
                Ok(Transformed::no(plan))
            }
            LogicalPlan::Filter(_) | LogicalPlan::Join(_) => self.rule.rewrite(plan, config),
            _ => Ok(Transformed::no(plan)),
        }
    }
}

/// Merges adjacent filters, the conditions of the lowest first; the flag says whether there were several.
fn one_filter(mut filter: Filter) -> Result<(LogicalPlan, bool)> {
    let mut merged = false;
    while let LogicalPlan::Filter(below) = filter.input.as_ref() {
        let input = Arc::clone(&below.input);
        let mut all = split_conjunction_owned(below.predicate.clone());
        for condition in split_conjunction_owned(filter.predicate) {
            if !all.contains(&condition) {
                all.push(condition);
            }
        }
        // A filter has at least one condition.
        let Some(predicate) = conjunction(all) else { return Ok((input.as_ref().clone(), true)) };
        filter = Filter::try_new(predicate, input)?;
        merged = true;
    }
    Ok((LogicalPlan::Filter(filter), merged))
}

/// Does a plan return a row even for empty input?
fn returns_row_for_empty_input(plan: &LogicalPlan) -> bool {
    let LogicalPlan::Aggregate(Aggregate { group_expr, .. }) = plan else { return false };
    let of_all = |group: &Expr| match group {
        Expr::GroupingSet(GroupingSet::Rollup(_) | GroupingSet::Cube(_)) => true,
        Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => sets.iter().any(Vec::is_empty),
        _ => false,
    };
    group_expr.is_empty() || group_expr.iter().any(of_all)
}

/// Conditions that are hidden from the rule.
#[derive(Default)]
struct Held {
    /// The conditions of the filter.
    above: Vec<Expr>,
    /// The conditions of the join.
    on: Vec<Expr>,
}

impl Held {
    fn restored(self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let plan = joined_on(plan, self.on)?;
        match conjunction(self.above) {
            Some(predicate) => Ok(LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(plan))?)),
            None => Ok(plan),
        }
    }
}

/// Takes the conditions that must stay out of a filter or a join.
fn without_held(plan: LogicalPlan) -> Result<(Held, LogicalPlan)> {
    let mut held = Held::default();
    let plan = match plan {
        LogicalPlan::Filter(filter) if changes_rows(&filter.input) => {
            let join = match filter.input.as_ref() {
                LogicalPlan::Join(join) => Some(join),
                _ => None,
            };
            let (above, below) = split(filter.predicate, join);
            held.above = above;
            let input = match filter.input.as_ref() {
                LogicalPlan::Join(join) if has_held(join) => Arc::new(without_on(join.clone(), &mut held)),
                _ => filter.input,
            };
            match conjunction(below) {
                Some(predicate) => LogicalPlan::Filter(Filter::try_new(predicate, input)?),
                None => Arc::unwrap_or_clone(input),
            }
        }
        LogicalPlan::Join(join) if has_held(&join) => without_on(join, &mut held),
        plan => plan,
    };
    Ok((held, plan))
}

/// Are its rows different from, or more or fewer than, those of its input?
fn changes_rows(plan: &LogicalPlan) -> bool {
    matches!(
        plan,
        LogicalPlan::Aggregate(_)
            | LogicalPlan::Window(_)
            | LogicalPlan::Distinct(_)
            | LogicalPlan::Unnest(_)
            | LogicalPlan::Join(_)
            | LogicalPlan::Extension(_)
    )
}

/// The volatile conditions, and the others. Over a join only volatile conditions count as such that have no columns, or
/// columns of its keys: the rule infers a condition on the other side of a key, and makes the calls there, too.
fn split(predicate: Expr, join: Option<&Join>) -> (Vec<Expr>, Vec<Expr>) {
    let keys: Vec<&Expr> = join.iter().flat_map(|join| &join.on).flat_map(|(left, right)| [left, right]).collect();
    let is_of_key = |column: &&Column| keys.iter().any(|key| key.column_refs().contains(*column));
    let stays = |condition: &Expr| {
        let columns = condition.column_refs();
        join.is_none() || columns.is_empty() || columns.iter().any(is_of_key)
    };
    split_conjunction_owned(predicate).into_iter().partition(|condition| is_volatile(condition) && stays(condition))
}

fn is_volatile(condition: &Expr) -> bool {
    condition.exists(|part| Ok(part.is_volatile_node() && !is_nullable(part))).unwrap_or(true)
}

fn has_held(join: &Join) -> bool {
    join.filter.as_ref().is_some_and(is_volatile)
}

fn without_on(mut join: Join, held: &mut Held) -> LogicalPlan {
    if let Some(filter) = join.filter.take() {
        let (on, others) = split(filter, Some(&join));
        held.on = on;
        join.filter = conjunction(others);
    }
    LogicalPlan::Join(join)
}

/// Adds the conditions to the join again, which may stand below filters.
fn joined_on(plan: LogicalPlan, on: Vec<Expr>) -> Result<LogicalPlan> {
    if on.is_empty() {
        return Ok(plan);
    }
    match plan {
        LogicalPlan::Join(mut join) => {
            join.filter = conjunction(join.filter.take().into_iter().chain(on));
            Ok(LogicalPlan::Join(join))
        }
        LogicalPlan::Filter(Filter { predicate, input, .. }) => {
            let input = joined_on(Arc::unwrap_or_clone(input), on)?;
            Ok(LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(input))?))
        }
        other => Err(crate::QueryError::internal(format!("{} in the place of a join", other.display())).into()),
    }
}
