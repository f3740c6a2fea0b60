//! Calls whose number and order a user can observe: they change something outside of the statement (`nextval`, advisory
//! locks, `pg_sleep`, volatile functions of the embedding program) or read what such calls change (`currval`).
//!
//! Such calls are made once per row, in the order of the rows and of the expressions of a row, and not at all for rows
//! beyond a LIMIT (`exec/row_by_row`). Other volatile functions, such as `random()`, only draw a value.

use super::choice::is_first_known;
use super::labelled::is_label;
use super::simple::draws_a_value;
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::functions::math::random::RandomFunc;
use datafusion::logical_expr::{Expr, Operator, ScalarUDF, Volatility};
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use std::sync::Arc;

/// Does a call of it have effects? A volatile function does, unless it is known to draw a value only.
fn has_effects(function: &ScalarUDF) -> bool {
    function.signature().volatility == Volatility::Volatile
        && !function.inner().is::<RandomFunc>()
        && !draws_a_value(function)
        && !is_label(function)
}

/// Does an expression contain a call with effects?
pub(crate) fn acts(expr: &Expr) -> bool {
    let acts = |part: &Expr| match part {
        Expr::ScalarFunction(call) => has_effects(&call.func),
        _ => false,
    };
    expr.exists(|part| Ok(acts(part))).unwrap_or(true)
}

/// Does a copy of the expression have another value? It calls a volatile function.
pub(crate) fn draws(expr: &Expr) -> bool {
    let draws = |part: &Expr| match part {
        Expr::ScalarFunction(call) => call.func.signature().volatility == Volatility::Volatile && !is_label(&call.func),
        _ => false,
    };
    expr.exists(|part| Ok(draws(part))).unwrap_or(true)
}

/// The number of calls with effects in an expression.
///
/// # Errors
/// None.
pub(crate) fn effects(expr: &Arc<dyn PhysicalExpr>) -> Result<usize> {
    let mut found = 0;
    expr.apply(|part| {
        found += usize::from(call_of(part).is_some_and(|call| has_effects(call.fun())));
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// Is it a function that waits, which DataFusion calls from an operator of its own?
pub(crate) fn waits(expr: &Arc<dyn PhysicalExpr>) -> bool {
    call_of(expr).is_some_and(|call| call.fun().as_async().is_some())
}

/// Is it a COALESCE with effects?
pub(crate) fn is_coalesce(expr: &Arc<dyn PhysicalExpr>) -> bool {
    call_of(expr).is_some_and(|call| is_first_known(call.fun()))
}

/// Does a condition within the expression decide about a call with effects?
///
/// # Errors
/// None.
pub(crate) fn is_conditional(expr: &Arc<dyn PhysicalExpr>) -> Result<bool> {
    if effects(expr)? == 0 {
        return Ok(false);
    }
    let logic =
        expr.downcast_ref::<BinaryExpr>().is_some_and(|logic| matches!(logic.op(), Operator::And | Operator::Or));
    if logic || expr.is::<CaseExpr>() || is_coalesce(expr) {
        return Ok(true);
    }
    for child in expr.children() {
        if is_conditional(child)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn call_of(expr: &Arc<dyn PhysicalExpr>) -> Option<&ScalarFunctionExpr> {
    expr.downcast_ref::<ScalarFunctionExpr>()
}
