//! `=` where no operator is written: simple CASE, IN (query), IS DISTINCT FROM, nullif, keys of joins.
//!
//! The planner would find a type for both sides that suits it: of a double and a numeric a numeric, which has no NaN.
//! Each such comparison gets here the types that the operator `=` has.

use super::adapt::{Side, compare_sides};
use super::signless_zero::{compared, zero};
use crate::error::QueryResult;
use crate::functions;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::{BinaryExpr, Expr, Join, JoinConstraint, LogicalPlanBuilder, Subquery};
use std::sync::Arc;
use types::DataType;

/// The name of what is compared instead of a subquery's column. Not the column's own: where the subquery is one side of OR
/// the planner would ask for both, the column by the name alone.
const ITEM: &str = "\u{1}item";

/// Makes of two values, each of the columns in its own schema, those that are compared by bits.
///
/// # Errors
/// As [`compare_sides`].
fn equate(left: (&mut Expr, &DFSchema), right: (&mut Expr, &DFSchema)) -> QueryResult<()> {
    let ((left, left_schema), (right, right_schema)) = (left, right);
    let (a, b) = (Side::of(left, left_schema), Side::of(right, right_schema));
    compare_sides((left, &a), (right, &b))?;
    let interval = [&a, &b].contains(&&Side::Known(DataType::Interval));
    for (value, schema) in [(left, left_schema), (right, right_schema)] {
        let bare = std::mem::take(value);
        *value = if interval { functions::interval_span(bare) } else { zero(compared(bare, schema)) };
    }
    Ok(())
}

/// `a = b` of two values in the types of the operator.
///
/// # Errors
/// As [`compare_sides`].
pub(super) fn equal(mut left: Expr, mut right: Expr, schema: &DFSchema) -> QueryResult<Expr> {
    equate((&mut left, schema), (&mut right, schema))?;
    Ok(left.eq(right))
}

/// `a IS [NOT] DISTINCT FROM b`.
///
/// # Errors
/// As [`compare_sides`].
pub(super) fn represent_distinct(mut binary: BinaryExpr, schema: &DFSchema) -> QueryResult<Expr> {
    equate((&mut binary.left, schema), (&mut binary.right, schema))?;
    Ok(Expr::BinaryExpr(binary))
}

/// `x IN (SELECT …)`.
///
/// # Errors
/// As [`compare_sides`].
pub(super) fn represent_within(mut within: InSubquery, schema: &DFSchema) -> Result<InSubquery> {
    let rows = &within.subquery.subquery;
    let columns = rows.schema().columns();
    let [column] = columns.as_slice() else { return Ok(within) };
    let mut item = Expr::Column(column.clone());
    equate((&mut within.expr, schema), (&mut item, rows.schema()))?;
    if !matches!(item, Expr::Column(_)) {
        let item = item.alias(ITEM);
        let plan = LogicalPlanBuilder::from(rows.as_ref().clone()).project([item])?.build()?;
        within.subquery = Subquery { subquery: Arc::new(plan), ..within.subquery };
    }
    Ok(within)
}

/// The columns that USING, NATURAL and INTERSECT compare.
///
/// # Errors
/// As [`compare_sides`].
pub(super) fn represent_keys(mut join: Join) -> QueryResult<Join> {
    for (left, right) in &mut join.on {
        let own = (left.clone(), right.clone());
        equate((left, join.left.schema()), (right, join.right.schema()))?;
        if (&own.0, &own.1) != (&*left, &*right) {
            // Names were resolved before: what they merge is no longer asked for.
            join.join_constraint = JoinConstraint::On;
        }
    }
    Ok(join)
}
