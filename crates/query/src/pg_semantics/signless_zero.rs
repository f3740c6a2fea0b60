//! Zero and minus zero are equal, and so one group: the planner groups by bits.
//!
//! Columns of tables have no minus zero, so this is about what is computed. The sum of minus zero and zero is zero.

use crate::convert::origin_of;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Distinct, Expr, ExprSchemable, LogicalPlan, Operator, binary_expr};
use std::sync::Arc;

/// A value to group by, without the sign of zero. A column keeps it: other operators find it by its name.
pub(super) fn signless(expr: Expr, schema: &DFSchema) -> Expr {
    if matches!(unaliased(&expr), Expr::Column(_)) { expr } else { compared(expr, schema) }
}

/// A value that is compared with those of other rows, without the sign of zero.
pub(super) fn compared(expr: Expr, schema: &DFSchema) -> Expr {
    let zero = match expr.get_type(schema) {
        _ if matches!(unaliased(&expr), Expr::Literal(..) | Expr::Placeholder(_) | Expr::GroupingSet(_)) => {
            return expr;
        }
        _ if is_of_table(&expr, schema) => return expr,
        Ok(ArrowType::Float32) => ScalarValue::Float32(Some(0.0)),
        Ok(ArrowType::Float64) => ScalarValue::Float64(Some(0.0)),
        _ => return expr,
    };
    binary_expr(expr, Operator::Plus, Expr::Literal(zero, None))
}

/// The constant zero instead of minus zero: that is what their sum is.
pub(super) fn zero(expr: Expr) -> Expr {
    match expr {
        Expr::Literal(ScalarValue::Float32(Some(value)), data) => {
            Expr::Literal(ScalarValue::Float32(Some(value + 0.0)), data)
        }
        Expr::Literal(ScalarValue::Float64(Some(value)), data) => {
            Expr::Literal(ScalarValue::Float64(Some(value + 0.0)), data)
        }
        expr => expr,
    }
}

fn is_of_table(expr: &Expr, schema: &DFSchema) -> bool {
    let Expr::Column(_) = unaliased(expr) else { return false };
    expr.to_field(schema).is_ok_and(|(_, field)| origin_of(&field) != (0, 0))
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        expr => expr,
    }
}

/// The rows that DISTINCT and UNION compare, and what DISTINCT ON compares.
///
/// # Errors
/// None of a plan that the planner made.
pub(super) fn distinct_rows(node: LogicalPlan) -> Result<LogicalPlan> {
    match node {
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let input = rows(Arc::unwrap_or_clone(input))?;
            Ok(LogicalPlan::Distinct(Distinct::All(Arc::new(input))))
        }
        LogicalPlan::Distinct(Distinct::On(mut on)) => {
            let schema = Arc::clone(on.input.schema());
            on.on_expr = on.on_expr.into_iter().map(|expr| compared(expr, &schema)).collect();
            for by in on.sort_expr.iter_mut().flatten() {
                by.expr = compared(std::mem::take(&mut by.expr), &schema);
            }
            Ok(LogicalPlan::Distinct(Distinct::On(on)))
        }
        node => Ok(node),
    }
}

fn rows(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Projection(projection) => {
            let schema = Arc::clone(projection.input.schema());
            let names = NamePreserver::new_for_projection();
            let exprs = projection.expr.into_iter().map(|expr| {
                let name = names.save(&expr);
                name.restore(signless(expr, &schema))
            });
            let exprs: Vec<Expr> = exprs.collect();
            LogicalPlan::Projection(datafusion::logical_expr::Projection::try_new(exprs, projection.input)?)
                .recompute_schema()
        }
        LogicalPlan::Union(mut union) => {
            let inputs = union.inputs.into_iter().map(|input| Ok(Arc::new(rows(Arc::unwrap_or_clone(input))?)));
            union.inputs = inputs.collect::<Result<_>>()?;
            LogicalPlan::Union(union).recompute_schema()
        }
        plan => Ok(plan),
    }
}
