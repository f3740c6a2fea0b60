//! Grouping.
//!
//! Keys and operands are columns here; what they are computed of is projected below by the binder. What DataFusion
//! computes in several aggregates, such as an average, is put together above.

use super::Lowering;
use super::error::{LowerResult, not_built};
use crate::pg_semantics::planned_aggregate;
use ::bind::tree::{AggCall, ColId, Key, Rel, Scalar};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, ScalarValue};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::planner::RawAggregateExpr;
use datafusion::logical_expr::utils::COUNT_STAR_EXPANSION;
use datafusion::logical_expr::{Aggregate, Expr, Filter, LogicalPlan, Projection};
use std::sync::Arc;

impl Lowering<'_> {
    pub(super) fn aggregate(
        &mut self,
        input: &Rel,
        keys: &[ColId],
        calls: &[(ColId, AggCall)],
    ) -> LowerResult<LogicalPlan> {
        Ok(self.counted_aggregate(input, keys, calls, false)?.0)
    }

    /// HAVING without groups. What reads no aggregate is asked of the one group all the same: rules would ask it of the rows
    /// below, of which the group has none then.
    pub(super) fn having(
        &mut self,
        input: &Rel,
        calls: &[(ColId, AggCall)],
        all: &[Scalar],
    ) -> LowerResult<LogicalPlan> {
        let (plan, count) = self.counted_aggregate(input, &[], calls, true)?;
        let Some(count) = count else { return not_built("HAVING without a group") };
        let Some(condition) = self.conjunction(all, plan.schema())? else { return Ok(plan) };
        let zero = Expr::Literal(ScalarValue::Int64(Some(0)), None);
        let of_group = Expr::Column(count).gt_eq(zero).and(condition).is_true();
        Ok(LogicalPlan::Filter(Filter::try_new(of_group, Arc::new(plan))?))
    }

    /// The groups, and a column with the number of their rows if it is asked for.
    fn counted_aggregate(
        &mut self,
        input: &Rel,
        keys: &[ColId],
        calls: &[(ColId, AggCall)],
        counted: bool,
    ) -> LowerResult<(LogicalPlan, Option<Column>)> {
        let input = self.rel(input)?;
        let distinct = calls.iter().filter(|(_, call)| call.distinct).flat_map(|(_, call)| &call.args);
        let compared: Vec<ColId> = keys.iter().chain(distinct).copied().collect();
        let input = self.signless(input, &compared)?;
        let mut groups: Vec<Expr> = Vec::with_capacity(keys.len());
        for key in keys {
            let column = Expr::Column(self.columns.get(*key)?.clone());
            if !groups.contains(&column) {
                groups.push(column);
            }
        }
        let mut shown = groups.clone();
        let mut parts: Vec<Expr> = Vec::new();
        for (id, call) in calls {
            let planned = self.aggregate_call(call)?;
            let value = above(planned, &mut parts)?;
            let name = self.bound.col(*id).map(|info| info.name.clone()).unwrap_or_default();
            let Column { relation, name, .. } = self.columns.computed(*id, &name);
            shown.push(value.alias_qualified(relation, name));
        }
        let mut count = None;
        // One group without any value has a number of rows, too.
        if counted || groups.is_empty() && parts.is_empty() {
            let value = above(count_udaf().call(vec![Expr::Literal(COUNT_STAR_EXPANSION, None)]), &mut parts)?;
            if counted {
                let column = self.columns.nameless("rows");
                shown.push(value.alias_qualified(column.relation.clone(), column.name.clone()));
                count = Some(column);
            }
        }
        let aggregate = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(input), groups, parts)?);
        Ok((LogicalPlan::Projection(Projection::try_new(shown, Arc::new(aggregate))?), count))
    }

    /// What a call is in DataFusion's aggregates.
    fn aggregate_call(&mut self, call: &AggCall) -> LowerResult<Expr> {
        let Some(function) = builtins::function(call.func) else { return not_built("an unknown aggregate") };
        if !call.direct.is_empty() {
            return not_built("an ordered-set aggregate");
        }
        let name = aggregate_name(function.name);
        let Some(func) = self.planner.aggregate_function(name) else { return not_built(format!("aggregate {name}")) };
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            args.push(self.operand(*arg)?);
        }
        if args.is_empty() {
            args.push(Expr::Literal(COUNT_STAR_EXPANSION, None));
        }
        let filter = call.filter.map(|filter| self.columns.get(filter).cloned()).transpose()?;
        let order = self.aggregate_order(name, call)?;
        let raw = RawAggregateExpr {
            func,
            args,
            distinct: call.distinct,
            filter: filter.map(|filter| Box::new(Expr::Column(filter))),
            order_by: order,
            null_treatment: None,
        };
        Ok(planned_aggregate(raw)?)
    }

    /// DISTINCT sorts, and an array or a list shows it.
    fn aggregate_order(&self, name: &str, call: &AggCall) -> LowerResult<Vec<datafusion::logical_expr::SortExpr>> {
        let shows = matches!(name, "array_agg" | "string_agg");
        match call.args.first() {
            Some(arg) if shows && call.distinct && call.order.is_empty() => {
                self.sort_keys(&[Key { col: *arg, desc: false, nulls_first: false }])
            }
            _ => self.sort_keys(&call.order),
        }
    }
}

/// DataFusion's name of an aggregate.
pub(super) fn aggregate_name(name: &str) -> &str {
    match name {
        "every" => "bool_and",
        "variance" => "var_samp",
        "stddev" => "stddev_samp",
        name => name,
    }
}

/// The expression over the columns of the aggregates in it, which join `parts`, each once.
fn above(planned: Expr, parts: &mut Vec<Expr>) -> LowerResult<Expr> {
    let lifted = planned.transform_down(|expr| match expr {
        Expr::AggregateFunction(_) => {
            let column = Column::new_unqualified(expr.schema_name().to_string());
            if !parts.contains(&expr) {
                parts.push(expr);
            }
            Ok(Transformed::yes(Expr::Column(column)))
        }
        expr => Ok(Transformed::no(expr)),
    });
    Ok(lifted.data()?)
}
