//! Counts of rows, in LIMIT and OFFSET.

use crate::Refusal;
use crate::error::QueryResult;
use crate::functions::postgres_cast;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use types::DataType;

/// `LIMIT 1.5` is of two rows.
pub(super) fn whole_counts(mut node: LogicalPlan, schema: &DFSchema) -> LogicalPlan {
    if let LogicalPlan::Limit(limit) = &mut node {
        for count in [&mut limit.skip, &mut limit.fetch].into_iter().flatten() {
            if let Ok((_, field)) = count.to_field(schema)
                && (field.data_type().is_decimal() || field.data_type().is_floating())
                && let Some(whole) = postgres_cast(count, &field, &DataType::BigInt)
            {
                **count = whole;
            }
        }
    }
    node
}

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
