//! `CASE x WHEN y …` compares as `x = y` does.

use super::adapt::{self, Side};
use super::interval_keys::is_interval;
use crate::error::QueryResult;
use crate::functions;
use datafusion::common::DFSchema;
use datafusion::logical_expr::expr::Case;

/// Values in the types in which they are compared, or the comparisons themselves, where those are not all of one type.
///
/// # Errors
/// What [`adapt::compare`] gives.
pub(super) fn compare_operand(mut case: Case, schema: &DFSchema) -> QueryResult<Case> {
    let Some(operand) = case.expr.take() else { return Ok(case) };
    let mut operand = *operand;
    if let side @ Side::Quoted(_) = Side::of(&operand, schema)
        && let Some(ty) = case.when_then_expr.iter().find_map(|(when, _)| match Side::of(when, schema) {
            Side::Known(ty) => Some(ty),
            _ => None,
        })
    {
        adapt::give_type(&mut operand, &side, &ty)?;
    }
    let mut compared = Vec::with_capacity(case.when_then_expr.len());
    for (when, _) in &case.when_then_expr {
        let (mut left, mut right) = (operand.clone(), when.as_ref().clone());
        adapt::compare(&mut left, "=", &mut right, schema)?;
        compared.push((left, right));
    }
    let interval = is_interval(&operand, schema);
    if !interval && compared.iter().all(|(left, _)| *left == operand) {
        for ((when, _), (_, right)) in case.when_then_expr.iter_mut().zip(compared) {
            **when = right;
        }
        case.expr = Some(Box::new(operand));
        return Ok(case);
    }
    for ((when, _), (left, right)) in case.when_then_expr.iter_mut().zip(compared) {
        let span = |side| if interval { functions::interval_span(side) } else { side };
        **when = span(left).eq(span(right));
    }
    Ok(case)
}
