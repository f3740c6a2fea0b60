//! `LIMIT` and `OFFSET` that are known only when the query runs.

use crate::Refusal;
use crate::error::QueryError;
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// The count as a bigint, or an error if it is negative.
pub(crate) fn row_count(count: Expr, clause: Refusal) -> Expr {
    let name = if matches!(clause, Refusal::Limit) { "LIMIT" } else { "OFFSET" };
    let function = ScalarUDF::new_from_impl(RowCount { name, signature: Signature::any(1, Volatility::Immutable) });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![count]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RowCount {
    name: &'static str,
    signature: Signature,
}

impl ScalarUDFImpl for RowCount {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [count] = args.args.as_slice() else {
            return Err(QueryError::internal(format!("{} takes one count", self.name)).into());
        };
        let counts = cast(&count.to_array(args.number_rows)?, &ArrowType::Int64)?;
        if counts.as_primitive::<Int64Type>().iter().flatten().any(|count| count < 0) {
            let clause = if self.name == "LIMIT" { Refusal::Limit } else { Refusal::Offset };
            return Err(clause.because(format!("{} must not be negative", self.name)).into());
        }
        Ok(ColumnarValue::Array(counts))
    }
}
