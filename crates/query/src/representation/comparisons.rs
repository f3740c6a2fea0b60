//! Comparisons of floats, arrays and intervals; `nullif`.

use super::adapt::{self, Side};
use super::calls::represent_call;
use super::common_type::as_named;
use super::equality::equal;
use super::growth::copy;
use crate::error::{QueryError, QueryResult};
use crate::functions;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::functions::core::nullif;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable, Operator, lit, when};
use types::DataType;

pub(super) fn is_comparison(op: Operator) -> bool {
    op.supports_propagation()
}

/// Intervals are compared by their length: a day is 24 hours, a month 30 days.
pub(super) fn represent_comparison(mut binary: BinaryExpr, schema: &DFSchema) -> QueryResult<Transformed<Expr>> {
    let array = |side: &Expr| matches!(Side::of(side, schema), Side::Known(DataType::Array(_)));
    let order = matches!(binary.op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq);
    if order
        && array(&binary.left)
        && array(&binary.right)
        && let Some(definition) = functions::operator(&binary.op.to_string())
        && let Expr::ScalarFunction(call) =
            functions::call_of(definition, vec![*binary.left.clone(), *binary.right.clone()])
    {
        return Ok(Transformed::yes(represent_call(call, schema)?));
    }
    let interval = |side: &Expr| Side::of(side, schema) == Side::Known(DataType::Interval);
    let both = interval(&binary.left) && interval(&binary.right);
    if both {
        for side in [&mut binary.left, &mut binary.right] {
            **side = functions::interval_span(std::mem::take(side.as_mut()));
        }
    }
    Ok(Transformed::new_transformed(Expr::BinaryExpr(binary), both))
}

/// `nullif(a, b)` compares as `a = b` does, and gives `a` as it is, or as the double that it is compared as.
pub(super) fn represent_nullif(call: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Ok([value, mut other]) = <[Expr; 2]>::try_from(call.args) else {
        return Err(QueryError::internal("nullif takes two values").into());
    };
    let side = Side::of(&value, schema);
    let quoted = matches!(side, Side::Quoted(_));
    let ty = match side {
        Side::Known(ty) => Some(ty),
        _ => None,
    };
    let mut compared = copy(&value)?;
    adapt::compare(&mut compared, &mut other, schema)?;
    let other_ty = Side::of(&other, schema);
    let stays =
        matches!((&ty, &other_ty), (Some(ty), Side::Known(other)) if ty != other && keeps_type_beside(ty, other));
    // The planner's own function has no form of these, or compares their bits.
    let strange = match &ty {
        Some(ty) => {
            matches!(ty, DataType::Boolean | DataType::Uuid | DataType::Interval | DataType::Real | DataType::Double)
        }
        None => false,
    };
    if compared == value && !stays && !strange {
        return Ok(Transformed::yes(as_named(nullif().call(vec![value, other]), ty)));
    }
    // A real stays one, which is compared with doubles; another number is a double, though a constant is compared as a real.
    let is_float = |expr: &Expr| expr.get_type(schema).is_ok_and(|ty| ty.is_floating());
    let value = match (is_float(&compared) && !is_float(&value), &ty) {
        (true, Some(_)) => Expr::Cast(Cast::new(Box::new(value), ArrowType::Float64)),
        (true, None) => copy(&compared)?,
        // A quoted constant is of the type that it is compared in.
        (false, _) if quoted => copy(&compared)?,
        (false, _) => value,
    };
    let equal = equal(compared, other, schema)?;
    Ok(Transformed::yes(as_named(when(equal, lit(ScalarValue::Null)).otherwise(value)?, ty)))
}

/// Types that `=` compares without making one of them the other.
fn keeps_type_beside(ty: &DataType, other: &DataType) -> bool {
    let moment = |ty: &DataType| matches!(ty, DataType::Date | DataType::Timestamp(_) | DataType::TimestampTz(_));
    ty.is_integer() && other.is_integer() || moment(ty) && moment(other)
}
