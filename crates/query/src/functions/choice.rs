//! CASE and COALESCE whose operands have effects, in a form that DataFusion does not rewrite.
//!
//! DataFusion 55.2 (`simplify_expressions`) copies operands, which would make their calls twice:
//!
//! ```text
//!   coalesce(a, b)                         CASE WHEN a IS NOT NULL THEN a ELSE b END
//!   CASE WHEN a THEN b ELSE c END          (a AND b) OR (NOT a AND c), if the results are boolean
//! ```
//! `exec/row_by_row` evaluates the operands of these functions only as far as they are needed.

use super::effects::acts;
use crate::error::QueryError;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, new_null_array};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{cast, is_not_null, prep_null_mask_filter};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::functions::core::coalesce;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    Case, ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// The kind of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Chosen {
    /// The first operand that is not NULL.
    First,
    /// CASE with boolean results; the operands are conditions and results in turn, and ELSE.
    Case,
}

/// COALESCE whose operands keep their number of calls; `None` if DataFusion's own does.
pub(super) fn first_known(args: &[Expr]) -> Option<Expr> {
    let (_, copied) = args.split_last()?;
    copied.iter().any(acts).then(|| call(Chosen::First, args.to_vec()))
}

/// CASE with boolean results whose conditions keep their number of calls; otherwise the same CASE.
pub(crate) fn case_once(case: Case, is_boolean: bool) -> Expr {
    if !is_boolean || case.expr.is_some() || !case.when_then_expr.iter().any(|(when, then)| acts(when) || acts(then)) {
        return Expr::Case(case);
    }
    let arms = case.when_then_expr.into_iter().flat_map(|(when, then)| [*when, *then]);
    call(Chosen::Case, arms.chain(case.else_expr.map(|other| *other)).collect())
}

/// The kind of a choice, if the function is one.
pub(super) fn kind_of(function: &ScalarUDF) -> Option<Chosen> {
    function.inner().downcast_ref::<Choice>().map(|choice| choice.kind)
}

fn call(kind: Chosen, args: Vec<Expr>) -> Expr {
    let signature = match kind {
        Chosen::First => Signature::user_defined(Volatility::Immutable),
        Chosen::Case => Signature::any(args.len(), Volatility::Immutable),
    };
    let function = Arc::new(ScalarUDF::new_from_impl(Choice { kind, signature }));
    Expr::ScalarFunction(ScalarFunction::new_udf(function, args))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Choice {
    kind: Chosen,
    signature: Signature,
}

impl ScalarUDFImpl for Choice {
    fn name(&self) -> &str {
        match self.kind {
            // Other rules know `coalesce` by its name.
            Chosen::First => "first known",
            Chosen::Case => "first true",
        }
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
        match self.kind {
            Chosen::First => coalesce().return_field_from_args(args),
            Chosen::Case => Ok(Arc::new(Field::new(self.name(), ArrowType::Boolean, true))),
        }
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
        match self.kind {
            Chosen::First => {
                for operand in operands.iter().rev() {
                    chosen = zip(&is_not_null(operand)?, operand, &chosen)?;
                }
            }
            Chosen::Case => {
                let arms = operands.chunks_exact(2);
                if let [other] = arms.remainder() {
                    chosen = Arc::clone(other);
                }
                for arm in arms.rev() {
                    if let [when, then] = arm {
                        chosen = zip(&is_true(when.as_boolean()), then, &chosen)?;
                    }
                }
            }
        }
        Ok(ColumnarValue::Array(chosen))
    }
}

/// The conditions with false in place of NULL.
fn is_true(conditions: &BooleanArray) -> BooleanArray {
    if conditions.null_count() == 0 { conditions.clone() } else { prep_null_mask_filter(conditions) }
}
