//! `CASE x WHEN y …` compares as `x = y` does.

use super::adapt::{Side, compare_sides};
use super::equality::equal;
use super::interval_keys::is_interval;
use crate::error::QueryResult;
use datafusion::common::DFSchema;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr, ExprSchemable};
use types::DataType;

/// Values in the types in which they are compared, or the comparisons themselves, where those are not all of one type.
///
/// # Errors
/// What [`compare_sides`] gives.
pub(super) fn compare_operand(mut case: Case, schema: &DFSchema) -> QueryResult<Case> {
    let Some(operand) = case.expr.take() else { return Ok(case) };
    // A constant is a text before it is compared.
    let side = match Side::of(&operand, schema) {
        Side::Quoted(_) => Side::Known(DataType::Text),
        side => side,
    };
    let mut compared = Vec::with_capacity(case.when_then_expr.len());
    for (when, _) in &case.when_then_expr {
        let (mut left, mut right) = (operand.as_ref().clone(), when.as_ref().clone());
        compare_sides((&mut left, &side), "=", (&mut right, &Side::of(when, schema)))?;
        compared.push((left, right));
    }
    let one_type = !is_interval(&operand, schema)
        && compared.iter().all(|(left, right)| left == operand.as_ref() && of_one_type(left, right, schema));
    for ((when, _), (left, right)) in case.when_then_expr.iter_mut().zip(compared) {
        **when = if one_type { right } else { equal(left, right, schema)? };
    }
    case.expr = one_type.then_some(operand);
    Ok(case)
}

/// Are they compared as they are, or as the planner makes wider numbers of both?
fn of_one_type(left: &Expr, right: &Expr, schema: &DFSchema) -> bool {
    let (Ok(left), Ok(right)) = (left.get_type(schema), right.get_type(schema)) else { return false };
    left == right || left.is_numeric() && right.is_numeric() || left.is_null() || right.is_null()
}
