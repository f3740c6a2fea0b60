//! Zero and minus zero are equal, and so one group: the planner groups by bits.
//!
//! Columns of tables have no minus zero, so this is about what is computed. The sum of minus zero and zero is zero.

use crate::convert::origin_of;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable, Operator, binary_expr};

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
