//! Rewrites `x = ANY (array)` as an IN list, if the array is constant.

use crate::error::QueryResult;
use arrow::array::Array;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::InList;

/// Rewrites `x = ANY (constant array)` as `x IN (...)`, from which key ranges are derived, and `x <> ALL (...)`
/// likewise. `value_type` is the type of `x`, which the list items must have; `None` if it is unknown or the call must
/// stay.
///
/// # Errors
/// If Arrow cannot read an item of the array.
pub(crate) fn in_list(name: &str, args: &[Expr], value_type: Option<&ArrowType>) -> QueryResult<Option<Expr>> {
    let negated = match name {
        "= any" => false,
        "<> all" => true,
        _ => return Ok(None),
    };
    let [value, Expr::Literal(ScalarValue::List(lists), _)] = args else { return Ok(None) };
    let items = lists.value(0);
    if items.is_empty() || matches!(items.data_type(), ArrowType::List(_)) || lists.is_null(0) {
        return Ok(None);
    }
    let Some(ty) = value_type else { return Ok(None) };
    let mut list = Vec::with_capacity(items.len());
    for at in 0..items.len() {
        list.extend(as_value(ScalarValue::try_from_array(&items, at)?, ty).map(|item| Expr::Literal(item, None)));
    }
    // No item can be equal, but the comparison of a NULL with the array is still NULL.
    if list.is_empty() {
        return Ok(None);
    }
    Ok(Some(Expr::InList(InList::new(Box::new(value.clone()), list, negated))))
}

/// Converts an item to type `ty`; `None` if no value of that type is equal to it.
pub(super) fn as_value(item: ScalarValue, ty: &ArrowType) -> Option<ScalarValue> {
    match item {
        // 0 and -0 are equal, but list items are looked up by their bits.
        ScalarValue::Float32(Some(value)) => Some(ScalarValue::Float32(Some(value + 0.0))),
        ScalarValue::Float64(Some(value)) => Some(ScalarValue::Float64(Some(value + 0.0))),
        item => {
            let own = item.data_type();
            if own == *ty {
                return Some(item);
            }
            let cast = item.cast_to(ty).ok()?;
            (cast.cast_to(&own).ok()? == item).then_some(cast)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit};

    fn list_of(items: &[ScalarValue], ty: &ArrowType) -> Option<String> {
        let array = ScalarValue::List(ScalarValue::new_list_nullable(items, &items[0].data_type()));
        let list = in_list("= any", &[col("x"), lit(array)], Some(ty)).unwrap();
        list.map(|list| list.to_string())
    }

    #[test]
    fn items_have_the_type_of_the_value_or_cannot_be_equal() {
        let bigints = [Some(7), Some(1 << 40), None].map(ScalarValue::Int64);
        assert_eq!(list_of(&bigints, &ArrowType::Int32).unwrap(), "x IN ([Int32(7), Int32(NULL)])");
        assert_eq!(list_of(&bigints[1..2], &ArrowType::Int32), None);
        let numerics = [1500, 1001].map(|value| ScalarValue::Decimal128(Some(value), 38, 3));
        let wanted = "x IN ([Decimal128(1.50,8,2)])";
        assert_eq!(list_of(&numerics, &ArrowType::Decimal128(8, 2)).unwrap(), wanted);
    }
}
