//! Values of which one is taken, in one type: branches of CASE, arguments of `coalesce`, elements of ARRAY.
//!
//! Constants without a type take that of the others. Of texts the first type is the result's, of all others the widest.

use super::adapt::{Side, catalog_lists, class, give_type};
use super::named_columns::needs_name;
use crate::Refusal;
use crate::convert::arrow_type;
use crate::error::QueryResult;
use crate::functions::{self, SqlFunction, labelled, widens};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::functions::string::rtrim;
use datafusion::logical_expr::expr::{Case, ScalarFunction};
use datafusion::logical_expr::{Cast, Expr};
use types::DataType;

/// Gives `values` one type as far as the planner would not, and says which; `None` if all are without a type.
///
/// # Errors
/// 42804 for types that do not go together, `what` they are in; what is wrong with a constant.
pub(super) fn unify(values: &mut [&mut Expr], what: &str, schema: &DFSchema) -> QueryResult<Option<DataType>> {
    let sides: Vec<Side> = values.iter().map(|value| Side::of(value, schema)).collect();
    let mut common: Option<DataType> = None;
    for side in &sides {
        let Side::Known(ty) = side else { continue };
        common = Some(match common {
            None => *ty,
            Some(known) => wider(known, *ty, what)?,
        });
    }
    let Some(ty) = common else { return Ok(None) };
    for (value, side) in values.iter_mut().zip(&sides) {
        match side {
            Side::Known(own) => convert(value, own, &ty),
            // The planner does not find out what a NULL beside an array is.
            Side::Null if matches!(ty, DataType::Array(_)) => give_type(value, side, &ty)?,
            Side::Null | Side::Other => {}
            side => give_type(value, side, &ty)?,
        }
    }
    Ok(Some(ty))
}

/// The type of two that the other widens to.
///
/// # Errors
/// 42804 for types that do not go together.
pub(super) fn wider(a: DataType, b: DataType, what: &str) -> QueryResult<DataType> {
    // Names of what is in catalogs, `'t'::regclass`, are texts here and meet oids.
    if a.is_text() && b == DataType::Oid || a == DataType::Oid && b.is_text() {
        return Ok(DataType::Text);
    }
    if class(&a) != class(&b) && !catalog_lists(&a, &b) {
        let message = format!("{what} types {} and {} cannot be matched", a.base_name(), b.base_name());
        return Err(Refusal::Type.because(message));
    }
    Ok(match (a, b) {
        (DataType::Char(a), DataType::Char(b)) => DataType::Char(a.max(b)),
        (a, b) if a != b && a.without_digits() == b.without_digits() => a.without_digits(),
        (a, b) if widens(&a, &b) => b,
        (a, _) => a,
    })
}

/// Integers and decimals are left to the planner; of a decimal and a float it would make a decimal.
pub(super) fn convert(value: &mut Expr, own: &DataType, ty: &DataType) {
    match ty {
        // Rounded already, or not to be: what it says of its digits is all that differs.
        ty if own != ty && own.without_digits() == ty.without_digits() => {
            *value = labelled(std::mem::take(value), *ty);
        }
        DataType::Timestamp(_) | DataType::TimestampTz(_) | DataType::Real | DataType::Double if own != ty => {
            *value = Expr::Cast(Cast::new(Box::new(std::mem::take(value)), arrow_type(ty)));
        }
        // A char(n) is kept without its blanks.
        DataType::Char(_) if own.is_text() && !matches!(own, DataType::Char(_)) => {
            *value = rtrim().call(vec![std::mem::take(value)]);
        }
        _ => {}
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
pub(super) fn settle_branches(mut case: Case, schema: &DFSchema) -> QueryResult<Transformed<Expr>> {
    let before = case.clone();
    // PostgreSQL looks at ELSE first.
    let last = case.else_expr.iter_mut().map(AsMut::as_mut);
    let mut branches: Vec<&mut Expr> =
        last.chain(case.when_then_expr.iter_mut().map(|(_, then)| then.as_mut())).collect();
    let ty = unify(&mut branches, "CASE", schema)?;
    let changed = case != before || ty.is_some_and(|ty| needs_name(&ty) || ty.digits().is_some());
    Ok(Transformed::new_transformed(as_named(Expr::Case(case), ty), changed))
}

/// `coalesce` and its like: a call of the planner's function with arguments of one type.
///
/// # Errors
/// As [`unify`].
pub(super) fn settle_common(call: &ScalarFunction, schema: &DFSchema) -> Result<Option<Expr>> {
    if call.func.inner().downcast_ref::<SqlFunction>().is_none() {
        return Ok(None);
    }
    let Some((function, what)) = functions::planners_own(call.func.name()) else { return Ok(None) };
    let mut args = call.args.clone();
    let ty = unify(&mut args.iter_mut().collect::<Vec<_>>(), what, schema)?;
    if ty.is_none() {
        for arg in &mut args {
            let side = Side::of(arg, schema);
            give_type(arg, &side, &DataType::Text)?;
        }
    }
    let bits = ty.as_ref().is_some_and(|ty| ty.is_bytes() || matches!(ty, DataType::Interval | DataType::Array(_)));
    if let Some(definition) = functions::largest_or_smallest(call.func.name()).filter(|_| bits) {
        return Ok(Some(functions::call_of(definition, args)));
    }
    Ok(Some(as_named(Expr::ScalarFunction(ScalarFunction::new_udf(function, args)), ty)))
}
