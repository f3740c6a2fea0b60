//! Unifies values of which one is the result: branches of CASE, arguments of `coalesce`, elements of ARRAY.
//!
//! The binder has cast them to one type; only type modifiers differ, such as the precision of a numeric.

use crate::convert::datum_to_scalar;
use crate::error::QueryResult;
use crate::functions::{even, is_nested, labelled};
use crate::lower::scalar::comparable::{Side, trimmed};
use arrow::array::Array;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::functions_nested::make_array::make_array_udf;
use datafusion::logical_expr::{Expr, ExprSchemable};
use types::{DataType, Datum, ElementType};

/// Unifies the type modifiers of `values` and returns their type; `None` if no type is known.
///
/// # Errors
/// None for a type that constants can have.
pub(in crate::lower) fn unify(values: &mut [&mut Expr], schema: &DFSchema) -> QueryResult<Option<DataType>> {
    let sides: Vec<Side> = values.iter().map(|value| Side::of(value, schema)).collect();
    let known = sides.iter().filter_map(|side| match side {
        Side::Known(ty) => Some(*ty),
        _ => None,
    });
    let Some(ty) = known.reduce(without_limits) else { return Ok(None) };
    for (value, side) in values.iter_mut().zip(&sides) {
        match side {
            // The value is rounded already, or must not be: only the declared precision changes.
            Side::Known(own) if *own != ty && own.without_digits() == ty.without_digits() => {
                **value = labelled(std::mem::take(*value), ty);
            }
            Side::Quoted(text) if matches!(ty, DataType::Char(_)) => **value = trimmed(text),
            // DataFusion does not infer the type of a NULL beside an array.
            Side::Null if matches!(ty, DataType::Array(_)) => {
                **value = Expr::Literal(datum_to_scalar(&ty, &Datum::Null)?, None);
            }
            _ => {}
        }
    }
    Ok(Some(ty))
}

/// The type, without modifiers that differ, for values of both types.
pub(in crate::lower) fn without_limits(a: DataType, b: DataType) -> DataType {
    match (a, b) {
        (DataType::Char(a), DataType::Char(b)) => DataType::Char(a.max(b)),
        (a, b) if a != b && a.without_digits() == b.without_digits() => a.without_digits(),
        (a, _) => a,
    }
}

/// Labels a value whose SQL type is not determined by its Arrow type, such as `char(n)`.
pub(in crate::lower) fn label_type(value: Expr, ty: Option<DataType>) -> Expr {
    match ty {
        Some(ty) if needs_type_label(&ty) || ty.digits().is_some() => labelled(value, ty),
        _ => value,
    }
}

/// Is it a type that its Arrow type does not determine, and that an expression may have?
pub(in crate::lower) fn needs_type_label(ty: &DataType) -> bool {
    matches!(
        ty,
        DataType::Char(_) | DataType::Oid | DataType::Json | DataType::Array(ElementType::Oid | ElementType::Varchar)
    )
}

/// `coalesce` and similar functions: calls `make` with the unified values.
///
/// # Errors
/// As [`unify`].
pub(in crate::lower) fn chosen(
    mut values: Vec<Expr>,
    schema: &DFSchema,
    make: impl FnOnce(Vec<Expr>, Option<DataType>) -> Expr,
) -> QueryResult<Expr> {
    let ty = unify(&mut values.iter_mut().collect::<Vec<_>>(), schema)?;
    Ok(label_type(make(values, ty), ty))
}

/// ARRAY[…]: unifies the elements, and checks that nested arrays have the same dimensions.
///
/// # Errors
/// As [`unify`].
pub(in crate::lower) fn array(mut items: Vec<Expr>, schema: &DFSchema) -> QueryResult<Expr> {
    // PostgreSQL returns an empty array for an array of empty arrays only.
    if items.iter().all(is_empty_array) && !items.is_empty() {
        return Ok(items.swap_remove(0));
    }
    let ty = unify(&mut items.iter_mut().collect::<Vec<_>>(), schema)?;
    let array = make_array_udf().call(items);
    if array.get_type(schema).is_ok_and(|ty| is_nested(&ty)) {
        return Ok(even(array));
    }
    Ok(label_type(array, ty.and_then(|ty| ElementType::of(&ty)).map(DataType::Array)))
}

/// Is it an empty array literal, as lowering builds it?
fn is_empty_array(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(ScalarValue::List(lists), _) if lists.len() == 1 && lists.value_length(0) == 0)
}
