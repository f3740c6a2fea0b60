//! Counts of rows, in LIMIT and OFFSET.

use crate::Refusal;
use crate::error::QueryResult;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// Counts of rows are not negative.
///
/// # Errors
/// 2201W and 2201X.
pub(crate) fn check_limit(node: &LogicalPlan) -> QueryResult<()> {
    let LogicalPlan::Limit(limit) = node else { return Ok(()) };
    let negative = |bound: &Option<Box<Expr>>| {
        bound.as_deref().is_some_and(|bound| match bound {
            Expr::Literal(ScalarValue::Int64(Some(count)), _) => *count < 0,
            Expr::Negative(inner) => matches!(inner.as_ref(), Expr::Literal(ScalarValue::Int64(Some(1..)), _)),
            _ => false,
        })
    };
    if negative(&limit.fetch) {
        return Err(Refusal::Limit.because("LIMIT must not be negative"));
    }
    if negative(&limit.skip) {
        return Err(Refusal::Offset.because("OFFSET must not be negative"));
    }
    Ok(())
}
