//! CASE and COALESCE whose operands have effects, in a form for which DataFusion makes no more calls than are asked for.
//!
//! DataFusion 55.2 (`simplify_expressions`) copies operands, which would make their calls twice:
//!
//! ```text
//!   coalesce(a, b)                         CASE WHEN a IS NOT NULL THEN a ELSE b END
//!   CASE WHEN a THEN b ELSE c END          (a AND b) OR (NOT a AND c), if the results are boolean
//! ```
//! It also evaluates conditions of CASE while it plans, to find out whether the result can be NULL
//! (`CaseExpr::nullable`). It does neither for `CASE true WHEN a THEN b ELSE c END`, which means the same.
//! COALESCE becomes a function of its own, whose operands `exec/row_by_row` evaluates only as far as they are needed.

use super::effects::{acts, draws};
use crate::error::QueryError;
use arrow::array::{ArrayRef, new_null_array};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{cast, is_not_null};
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use datafusion::common::Result;
use datafusion::functions::core::coalesce;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    Case, ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
    lit,
};
use std::sync::Arc;

/// COALESCE whose operands keep their number of calls; `None` if DataFusion's own does.
pub(super) fn first_known(args: &[Expr]) -> Option<Expr> {
    let (_, copied) = args.split_last()?;
    if !copied.iter().any(acts) {
        return None;
    }
    let function = ScalarUDF::new_from_impl(FirstKnown { signature: Signature::user_defined(Volatility::Immutable) });
    Some(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), args.to_vec())))
}

/// CASE whose conditions keep their number of calls, which matters for all volatile functions.
pub(crate) fn case_once(mut case: Case) -> Expr {
    if case.expr.is_none() && case.when_then_expr.iter().any(|(when, _)| draws(when)) {
        case.expr = Some(Box::new(lit(true)));
    }
    Expr::Case(case)
}

/// Is it the function that stands for COALESCE?
pub(super) fn is_first_known(function: &ScalarUDF) -> bool {
    function.inner().is::<FirstKnown>()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct FirstKnown {
    signature: Signature,
}

impl ScalarUDFImpl for FirstKnown {
    /// Other rules know `coalesce` by its name.
    fn name(&self) -> &str {
        "first known"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, args: &[ArrowType]) -> Result<Vec<ArrowType>> {
        coalesce().coerce_types(args)
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Err(QueryError::internal("a choice has a field").into())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        coalesce().return_field_from_args(args)
    }

    fn short_circuits(&self) -> bool {
        true
    }

    /// For operators that evaluate whole batches: all operands are evaluated.
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let ty = args.return_field.data_type();
        let operands = args.args.into_iter().map(|arg| Ok(cast(&arg.into_array(rows)?, ty)?));
        let operands = operands.collect::<Result<Vec<ArrayRef>>>()?;
        let mut chosen = new_null_array(ty, rows);
        for operand in operands.iter().rev() {
            chosen = zip(&is_not_null(operand)?, operand, &chosen)?;
        }
        Ok(ColumnarValue::Array(chosen))
    }
}
