//! Aggregates that turn out to be equal when types are represented are computed once.
//!
//! `avg(x)` asks for a sum that is a double where `x` is a real; else it is the one that `sum(x)` asks for.

use datafusion::common::Result;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, Projection};
use std::sync::Arc;

/// One of each.
///
/// # Errors
/// None of a plan that the planner made.
pub(super) fn share(node: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Aggregate(aggregate) = node else { return Ok(node) };
    let mut kept: Vec<Expr> = Vec::with_capacity(aggregate.aggr_expr.len());
    let mut places = Vec::with_capacity(aggregate.aggr_expr.len());
    for expr in &aggregate.aggr_expr {
        let known = kept.iter().position(|other| bare(other) == bare(expr));
        places.push(known.unwrap_or(kept.len()));
        if known.is_none() {
            kept.push(expr.clone());
        }
    }
    if kept.len() == places.len() {
        return Ok(LogicalPlan::Aggregate(aggregate));
    }
    let Aggregate { input, group_expr, schema, .. } = aggregate;
    let fewer = Aggregate::try_new(input, group_expr, kept)?;
    let groups = schema.fields().len().saturating_sub(places.len());
    let columns = fewer.schema.columns();
    let all = (0..groups).chain(places.iter().map(|place| groups + place));
    let shown = all.zip(schema.iter()).filter_map(|(at, (qualifier, field))| {
        let column = columns.get(at).filter(|column| column.name != Aggregate::INTERNAL_GROUPING_ID)?;
        let same = column.relation.as_ref() == qualifier && column.name == *field.name();
        let value = Expr::Column(column.clone());
        Some(if same { value } else { value.alias_qualified(qualifier.cloned(), field.name()) })
    });
    let shown = shown.collect();
    Ok(LogicalPlan::Projection(Projection::try_new(shown, Arc::new(LogicalPlan::Aggregate(fewer)))?))
}

fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => bare(&alias.expr),
        expr => expr,
    }
}
