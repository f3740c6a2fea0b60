//! `LIMIT` and `OFFSET` with a count that is computed when the query runs.

use crate::Refusal;
use crate::error::QueryError;
use crate::functions::simple::{Body, Returns, simple_call};
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs};

/// Casts the count to bigint; fails if it is negative.
pub(crate) fn row_count(count: Expr, clause: Refusal) -> Expr {
    let (name, body): (_, Body) = match clause {
        Refusal::Limit => ("LIMIT", |args| checked(args, "LIMIT", Refusal::Limit)),
        _ => ("OFFSET", |args| checked(args, "OFFSET", Refusal::Offset)),
    };
    simple_call(name, Returns::Type(ArrowType::Int64), body, vec![count])
}

fn checked(args: &ScalarFunctionArgs, name: &str, clause: Refusal) -> Result<ColumnarValue> {
    let [count] = args.args.as_slice() else {
        return Err(QueryError::internal(format!("{name} takes one count")).into());
    };
    let counts = cast(&count.to_array(args.number_rows)?, &ArrowType::Int64)?;
    if counts.as_primitive::<Int64Type>().iter().flatten().any(|count| count < 0) {
        return Err(clause.because(format!("{name} must not be negative")).into());
    }
    Ok(ColumnarValue::Array(counts))
}
