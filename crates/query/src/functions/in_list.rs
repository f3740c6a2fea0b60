//! `x = ANY (array)` as a list, where the array is constant.

use crate::error::QueryResult;
use arrow::array::Array;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::InList;

/// `x = ANY (constant array)` as `x IN (...)`, of which key ranges are made, and `x <> ALL (...)` likewise.
///
/// # Errors
/// What taking the array apart gives.
pub(crate) fn in_list(name: &str, args: &[Expr]) -> QueryResult<Option<Expr>> {
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
    let item = |at| {
        // Zero and minus zero are equal, and lists are looked up by bits.
        Ok(Expr::Literal(
            match ScalarValue::try_from_array(&items, at)? {
                ScalarValue::Float32(Some(value)) => ScalarValue::Float32(Some(value + 0.0)),
                ScalarValue::Float64(Some(value)) => ScalarValue::Float64(Some(value + 0.0)),
                value => value,
            },
            None,
        ))
    };
    let list = (0..items.len()).map(item).collect::<Result<Vec<_>>>()?;
    Ok(Some(Expr::InList(InList::new(Box::new(value.clone()), list, negated))))
}
