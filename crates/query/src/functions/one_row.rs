//! `one_row(value, count)`: the value of a scalar subquery, or an error if the subquery returned several rows.

use crate::error::QueryError;
use crate::functions::simple::{Returns, simple_call};
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs};

/// Returns `value`, or an error if any `count` is above one.
pub(crate) fn one_row(value: Expr, count: Expr) -> Expr {
    simple_call("one_row", Returns::First { nullable: true }, checked, vec![value, count])
}

fn checked(args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
    let [value, count] = args.args.as_slice() else {
        return Err(QueryError::internal("one_row takes a value and a count").into());
    };
    let counts = cast(&count.to_array(args.number_rows)?, &ArrowType::Int64)?;
    if counts.as_primitive::<Int64Type>().iter().flatten().any(|count| count > 1) {
        return Err(QueryError::SubqueryRows.into());
    }
    Ok(value.clone())
}
