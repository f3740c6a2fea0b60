//! `one_row(value, count)`: the value, unless several rows gave one.

use crate::error::QueryError;
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, FieldRef, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// `value`, or an error if any `count` is above one.
pub(crate) fn one_row(value: Expr, count: Expr) -> Expr {
    let function = ScalarUDF::new_from_impl(OneRow { signature: Signature::any(2, Volatility::Immutable) });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![value, count]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OneRow {
    signature: Signature,
}

impl ScalarUDFImpl for OneRow {
    fn name(&self) -> &str {
        "one_row"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        args.first().cloned().ok_or_else(|| QueryError::internal("one_row takes a value and a count").into())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let missing = || QueryError::internal("one_row takes a value and a count");
        let value = args.arg_fields.first().ok_or_else(missing)?;
        Ok(Arc::new(value.as_ref().clone().with_name(self.name()).with_nullable(true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [value, count] = args.args.as_slice() else {
            return Err(QueryError::internal("one_row takes a value and a count").into());
        };
        let counts = cast(&count.to_array(args.number_rows)?, &ArrowType::Int64)?;
        if counts.as_primitive::<Int64Type>().iter().flatten().any(|count| count > 1) {
            return Err(QueryError::SubqueryRows.into());
        }
        Ok(value.clone())
    }
}
