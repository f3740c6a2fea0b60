//! Values of which one is taken, in one type: branches of CASE, arguments of `coalesce`, elements of ARRAY.
//!
//! The binder has cast them to one type; what differs is limits, such as digits of a numeric.

use super::adapt::{Side, give_type};
use super::named_columns::needs_name;
use crate::error::QueryResult;
use crate::functions::{self, SqlFunction, labelled};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::{Case, ScalarFunction};
use types::DataType;

/// Gives `values`, which are of one type but for their limits, that type, and says which; `None` if all are without a type.
///
/// # Errors
/// None of a type that constants have.
pub(super) fn unify(values: &mut [&mut Expr], schema: &DFSchema) -> QueryResult<Option<DataType>> {
    let sides: Vec<Side> = values.iter().map(|value| Side::of(value, schema)).collect();
    let known = sides.iter().filter_map(|side| match side {
        Side::Known(ty) => Some(*ty),
        _ => None,
    });
    let Some(ty) = known.reduce(without_limits) else { return Ok(None) };
    for (value, side) in values.iter_mut().zip(&sides) {
        match side {
            // Rounded already, or not to be: what it says of its digits is all that differs.
            Side::Known(own) if *own != ty && own.without_digits() == ty.without_digits() => {
                **value = labelled(std::mem::take(*value), ty);
            }
            Side::Quoted(_) => give_type(value, side, &ty)?,
            // DataFusion does not find out what a NULL beside an array is.
            Side::Null if matches!(ty, DataType::Array(_)) => give_type(value, side, &ty)?,
            _ => {}
        }
    }
    Ok(Some(ty))
}

/// The type that values of both have.
pub(super) fn without_limits(a: DataType, b: DataType) -> DataType {
    match (a, b) {
        (DataType::Char(a), DataType::Char(b)) => DataType::Char(a.max(b)),
        (a, b) if a != b && a.without_digits() == b.without_digits() => a.without_digits(),
        (a, _) => a,
    }
}

/// A value of a type that its Arrow type does not tell, such as a `char(n)`, says so.
pub(super) fn as_named(value: Expr, ty: Option<DataType>) -> Expr {
    match ty {
        Some(ty) if needs_name(&ty) || ty.digits().is_some() => labelled(value, ty),
        _ => value,
    }
}

/// The branches of CASE.
///
/// # Errors
/// As [`unify`].
pub(super) fn represent_branches(mut case: Case, schema: &DFSchema) -> QueryResult<Transformed<Expr>> {
    let before = case.clone();
    // PostgreSQL looks at ELSE first.
    let last = case.else_expr.iter_mut().map(AsMut::as_mut);
    let mut branches: Vec<&mut Expr> =
        last.chain(case.when_then_expr.iter_mut().map(|(_, then)| then.as_mut())).collect();
    let ty = unify(&mut branches, schema)?;
    let changed = case != before || ty.is_some_and(|ty| needs_name(&ty) || ty.digits().is_some());
    Ok(Transformed::new_transformed(as_named(Expr::Case(case), ty), changed))
}

/// `coalesce` and its like: a call of the planner's function with arguments of one type.
///
/// # Errors
/// As [`unify`].
pub(super) fn represent_common(call: &ScalarFunction, schema: &DFSchema) -> Result<Option<Expr>> {
    if call.func.inner().downcast_ref::<SqlFunction>().is_none() {
        return Ok(None);
    }
    let Some(function) = functions::datafusions_own(call.func.name()) else { return Ok(None) };
    let mut args = call.args.clone();
    let ty = unify(&mut args.iter_mut().collect::<Vec<_>>(), schema)?;
    let bits = ty.as_ref().is_some_and(|ty| ty.is_bytes() || matches!(ty, DataType::Interval | DataType::Array(_)));
    if let Some(definition) = functions::largest_or_smallest(call.func.name()).filter(|_| bits) {
        return Ok(Some(functions::call_of(definition, args)));
    }
    Ok(Some(as_named(Expr::ScalarFunction(ScalarFunction::new_udf(function, args)), ty)))
}
