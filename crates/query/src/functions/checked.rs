//! `+`, `-` and `*` of integers that fail on overflow (22003), where the planner's own would wrap; `/` of floats that
//! fails on zero (22012), where its own makes an infinity.

use crate::error::{QueryError, Refusal};
use arrow::array::cast::AsArray;
use arrow::array::{Array, ArrayRef};
use arrow::compute::kernels::numeric::{add, div, mul, sub};
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use arrow::error::ArrowError;
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;
use std::sync::{Arc, LazyLock};

/// The checked form of an operator over two integers or floats of one type.
pub(crate) fn checked_arithmetic(op: Operator, left: Expr, right: Expr) -> Option<Expr> {
    let function = match op {
        Operator::Plus => &ADD,
        Operator::Minus => &SUB,
        Operator::Multiply => &MUL,
        Operator::Divide => &DIV,
        _ => return None,
    };
    Some(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(function), vec![left, right])))
}

pub(super) fn all() -> Vec<ScalarUDF> {
    [&ADD, &SUB, &MUL, &DIV].into_iter().map(|function| function.as_ref().clone()).collect()
}

static ADD: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_add", "+"));
static SUB: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_sub", "-"));
static MUL: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_mul", "*"));
static DIV: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_div", "/"));

fn function(name: &'static str, symbol: &'static str) -> Arc<ScalarUDF> {
    let signature = Signature::any(2, Volatility::Immutable);
    Arc::new(ScalarUDF::new_from_impl(Checked { name, symbol, signature }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    name: &'static str,
    symbol: &'static str,
    signature: Signature,
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        self.name
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        let shown: Vec<String> = args.iter().map(ToString::to_string).collect();
        Ok(shown.join(&format!(" {} ", self.symbol)))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        args.first().cloned().ok_or_else(|| QueryError::internal("arithmetic without operands").into())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = args.args.as_slice() else {
            return Err(QueryError::internal("arithmetic takes two operands").into());
        };
        let result = match self.symbol {
            "+" => apply(left, right, add),
            "-" => apply(left, right, sub),
            "/" => {
                refuse_zero(right)?;
                apply(left, right, div)
            }
            _ => apply(left, right, mul),
        };
        if args.return_field.data_type().is_floating() {
            let result = result?;
            refuse_infinity(&result, left, right)?;
            return Ok(result);
        }
        result.map_err(|error| {
            let overflow = matches!(
                error.find_root(),
                datafusion::common::DataFusionError::ArrowError(inner, _)
                    if matches!(inner.as_ref(), ArrowError::ArithmeticOverflow(_))
            );
            if overflow { out_of_range(args.return_field.data_type()) } else { error }
        })
    }
}

/// Zero divides nothing, not even floats.
fn refuse_zero(divisor: &ColumnarValue) -> Result<()> {
    let array = divisor.to_array(1)?;
    let zero = match array.data_type() {
        ArrowType::Float32 => array.as_primitive::<Float32Type>().iter().flatten().any(|value| value == 0.0),
        ArrowType::Float64 => array.as_primitive::<Float64Type>().iter().flatten().any(|value| value == 0.0),
        _ => false,
    };
    if zero { Err(QueryError::DivisionByZero.into()) } else { Ok(()) }
}

/// An infinity that neither side had is an overflow.
fn refuse_infinity(result: &ColumnarValue, left: &ColumnarValue, right: &ColumnarValue) -> Result<()> {
    let count = match result {
        ColumnarValue::Array(array) => array.len(),
        ColumnarValue::Scalar(_) => 1,
    };
    if !has_infinity(result, count)? {
        return Ok(());
    }
    // Rarely reached: row by row, which one made it?
    let (result, left, right) = (result.to_array(count)?, left.to_array(count)?, right.to_array(count)?);
    for row in 0..count {
        let infinite = |array: &ArrayRef| has_infinity(&ColumnarValue::Array(array.slice(row, 1)), 1);
        if infinite(&result)? && !infinite(&left)? && !infinite(&right)? {
            return Err(Refusal::Range.because("value out of range: overflow").into());
        }
    }
    Ok(())
}

fn has_infinity(value: &ColumnarValue, rows: usize) -> Result<bool> {
    let array = value.to_array(rows)?;
    Ok(match array.data_type() {
        ArrowType::Float32 => array.as_primitive::<Float32Type>().iter().flatten().any(f32::is_infinite),
        ArrowType::Float64 => array.as_primitive::<Float64Type>().iter().flatten().any(f64::is_infinite),
        _ => false,
    })
}

fn out_of_range(ty: &ArrowType) -> datafusion::common::DataFusionError {
    let what = crate::convert::sql_type(ty).map_or("value".to_owned(), |ty| ty.sql_name());
    QueryError::OutOfRange { what }.into()
}
