//! Intervals of one length are one value: `1 day` and `24:00:00` are one group, one row of DISTINCT.
//!
//! The planner compares their parts. So it is given their lengths, and a group shows the first interval that it met:
//!
//! ```text
//!   Aggregate group=[i] aggr=[sum(n)]
//!     =>  Projection first AS i, sum(n)
//!           Aggregate group=[length] aggr=[sum(n), first_value(i) AS first]
//!             Projection *, span(i) AS length
//! ```

use super::adapt::Side;
use crate::functions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::functions_aggregate::expr_fn::first_value;
use datafusion::logical_expr::{Aggregate, Distinct, Expr, GroupingSet, LogicalPlan, Projection, SortExpr, when};
use std::sync::Arc;
use types::DataType;

pub(super) fn is_interval(expr: &Expr, schema: &DFSchema) -> bool {
    Side::of(expr, schema) == Side::Known(DataType::Interval)
}

/// An interval's length instead of the interval; any other value as it is.
pub(super) fn by_length(expr: Expr, schema: &DFSchema) -> Expr {
    if is_interval(&expr, schema) { functions::interval_span(expr) } else { expr }
}

/// What a list of values is sorted by.
pub(super) fn sorted_by_length(by: &mut [SortExpr], schema: &DFSchema) {
    for by in by {
        by.expr = by_length(std::mem::take(&mut by.expr), schema);
    }
}

/// Groups and distinct rows by the lengths of intervals.
///
/// # Errors
/// None of a plan that the planner made.
pub(super) fn keyed_by_length(node: LogicalPlan) -> Result<LogicalPlan> {
    match node {
        LogicalPlan::Aggregate(aggregate) => grouped(aggregate),
        LogicalPlan::Distinct(Distinct::All(input)) if has_interval(input.schema()) => {
            let columns = input.schema().columns().into_iter().map(Expr::Column).collect();
            grouped(Aggregate::try_new(input, columns, Vec::new())?)
        }
        LogicalPlan::Distinct(Distinct::On(mut on)) => {
            let schema = Arc::clone(on.input.schema());
            on.on_expr = on.on_expr.into_iter().map(|expr| by_length(expr, &schema)).collect();
            sorted_by_length(on.sort_expr.as_deref_mut().unwrap_or_default(), &schema);
            Ok(LogicalPlan::Distinct(Distinct::On(on)))
        }
        node => Ok(node),
    }
}

fn has_interval(schema: &DFSchema) -> bool {
    schema.fields().iter().any(|field| Side::of_field(field) == Side::Known(DataType::Interval))
}

/// The lengths that stand for intervals among the groups.
struct Lengths<'a> {
    schema: &'a DFSchema,
    intervals: Vec<Expr>,
}

impl Lengths<'_> {
    /// The column of the interval's length; any other group as it is.
    fn of(&mut self, expr: Expr) -> Expr {
        if !is_interval(&expr, self.schema) {
            return expr;
        }
        let bare = expr.unalias();
        let known = self.intervals.iter().position(|known| *known == bare);
        let at = known.unwrap_or(self.intervals.len());
        if known.is_none() {
            self.intervals.push(bare);
        }
        Expr::Column(length(at))
    }

    fn of_all(&mut self, exprs: Vec<Expr>) -> Vec<Expr> {
        exprs.into_iter().map(|expr| self.of_group(expr)).collect()
    }

    fn of_group(&mut self, group: Expr) -> Expr {
        let Expr::GroupingSet(set) = group else { return self.of(group) };
        Expr::GroupingSet(match set {
            GroupingSet::Rollup(exprs) => GroupingSet::Rollup(self.of_all(exprs)),
            GroupingSet::Cube(exprs) => GroupingSet::Cube(self.of_all(exprs)),
            GroupingSet::GroupingSets(sets) => {
                GroupingSet::GroupingSets(sets.into_iter().map(|set| self.of_all(set)).collect())
            }
        })
    }
}

fn grouped(aggregate: Aggregate) -> Result<LogicalPlan> {
    let Aggregate { input, group_expr, mut aggr_expr, schema, .. } = aggregate;
    let mut lengths = Lengths { schema: input.schema(), intervals: Vec::new() };
    let groups = lengths.of_all(group_expr.clone());
    let intervals = lengths.intervals;
    if intervals.is_empty() {
        return Ok(LogicalPlan::Aggregate(Aggregate::try_new_with_schema(input, group_expr, aggr_expr, schema)?));
    }
    let of_lengths = |expr: Expr| Ok(asked_of_lengths(expr, &intervals));
    for call in &mut aggr_expr {
        *call = std::mem::take(call).transform(of_lengths).data()?;
    }
    let firsts = intervals.iter().enumerate();
    aggr_expr.extend(firsts.map(|(at, expr)| first_value(expr.clone(), Vec::new()).alias(first(at).name)));
    let columns = input.schema().columns().into_iter().map(Expr::Column);
    let computed = intervals.iter().cloned().enumerate();
    let computed = computed.map(|(at, expr)| functions::interval_span(expr).alias(length(at).name));
    let below = Projection::try_new(columns.chain(computed).collect(), input)?;
    let aggregate = Aggregate::try_new(Arc::new(LogicalPlan::Projection(below)), groups, aggr_expr)?;
    let columns = aggregate.schema.columns().into_iter().zip(schema.iter());
    // The number of the grouping set stays in sight: GROUPING() is computed of it.
    let shown = columns.map(|(column, (qualifier, field))| {
        let place = (0..intervals.len()).find(|at| length(*at) == column);
        let value = match place {
            // A length that is grouped out is NULL, and so is its interval.
            Some(at) => when(Expr::Column(column).is_not_null(), Expr::Column(first(at)))
                .otherwise(Expr::Literal(ScalarValue::IntervalMonthDayNano(None), None))?,
            None if column.relation.as_ref() == qualifier && column.name == *field.name() => {
                return Ok(Expr::Column(column));
            }
            None => Expr::Column(column),
        };
        Ok(value.alias_qualified(qualifier.cloned(), field.name()))
    });
    let shown = shown.collect::<Result<Vec<_>>>()?;
    Ok(LogicalPlan::Projection(Projection::try_new(shown, Arc::new(LogicalPlan::Aggregate(aggregate)))?))
}

/// `grouping()` of intervals asks for their lengths.
fn asked_of_lengths(mut expr: Expr, intervals: &[Expr]) -> Transformed<Expr> {
    match &mut expr {
        Expr::AggregateFunction(call) if call.func.name() == "grouping" => {
            for arg in &mut call.params.args {
                if let Some(at) = intervals.iter().position(|known| known == arg) {
                    *arg = Expr::Column(length(at));
                }
            }
            Transformed::yes(expr)
        }
        _ => Transformed::no(expr),
    }
}

/// No column of a query has such names.
fn length(at: usize) -> Column {
    Column::new_unqualified(format!("\u{1}length{at}"))
}

fn first(at: usize) -> Column {
    Column::new_unqualified(format!("\u{1}first{at}"))
}
