//! `+`, `-` and `*` of integers that fail on overflow (22003), where DataFusion's own would wrap; `/` of floats that
//! fails on zero (22012), where its own makes an infinity. A NaN that comes of floats is the one without a sign: only
//! that is above infinity in the order of bits.

use super::short_name::short_name;
use crate::error::{QueryError, Refusal};
use arrow::array::cast::AsArray;
use arrow::array::{Array, ArrayRef};
use arrow::compute::kernels::numeric::{add, div, mul, neg, sub};
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use arrow::error::ArrowError;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;
use std::sync::{Arc, LazyLock};

/// `+`, `-`, `*` or `/` of two integers or floats of one type.
pub(crate) fn checked_arithmetic(op: Operator, left: Expr, right: Expr) -> Expr {
    let function = match op {
        Operator::Plus => &ADD,
        Operator::Minus => &SUB,
        Operator::Multiply => &MUL,
        Operator::Divide => &DIV,
        op => return Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))),
    };
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(function), vec![left, right]))
}

/// `-value` of an integer or float: the smallest integer has none.
pub(crate) fn checked_negative(value: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&NEG), vec![value]))
}

pub(super) fn all() -> Vec<ScalarUDF> {
    [&ADD, &SUB, &MUL, &DIV, &NEG].into_iter().map(|function| function.as_ref().clone()).collect()
}

static ADD: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_add", "+", 2));
static SUB: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_sub", "-", 2));
static MUL: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_mul", "*", 2));
static DIV: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_div", "/", 2));
static NEG: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_neg", "-", 1));

fn function(name: &'static str, symbol: &'static str, operands: usize) -> Arc<ScalarUDF> {
    let signature = Signature::any(operands, Volatility::Immutable);
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

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(short_name(self.name, args))
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        let shown: Vec<String> = args.iter().map(ToString::to_string).collect();
        if let [operand] = shown.as_slice() {
            return Ok(format!("(- {operand})"));
        }
        Ok(shown.join(&format!(" {} ", self.symbol)))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        args.first().cloned().ok_or_else(|| QueryError::internal("arithmetic without operands").into())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let result = match (self.symbol, args.args.as_slice()) {
            ("-", [value]) => negative(value),
            ("+", [left, right]) => apply(left, right, add),
            ("-", [left, right]) => apply(left, right, sub),
            ("*", [left, right]) => apply(left, right, mul),
            ("/", [left, right]) => {
                refuse_zero(left, right)?;
                apply(left, right, div)
            }
            _ => Err(QueryError::internal("arithmetic takes one operand or two").into()),
        };
        if args.return_field.data_type().is_floating() {
            return sound_floats(result?, &args.args);
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

/// Zero divides nothing but NULL, not even floats.
fn refuse_zero(dividend: &ColumnarValue, divisor: &ColumnarValue) -> Result<()> {
    let rows = [dividend, divisor].into_iter().find_map(|operand| match operand {
        ColumnarValue::Array(array) => Some(array.len()),
        ColumnarValue::Scalar(_) => None,
    });
    let rows = rows.unwrap_or(1);
    let array = divisor.to_array(rows)?;
    let zeros: Vec<usize> = match array.data_type() {
        ArrowType::Float32 => zeros(array.as_primitive::<Float32Type>().iter().map(|it| it.map(f64::from))),
        ArrowType::Float64 => zeros(array.as_primitive::<Float64Type>().iter()),
        _ => Vec::new(),
    };
    if zeros.is_empty() {
        return Ok(());
    }
    let dividend = dividend.to_array(rows)?;
    if zeros.into_iter().any(|row| dividend.is_valid(row)) { Err(QueryError::DivisionByZero.into()) } else { Ok(()) }
}

fn zeros(values: impl Iterator<Item = Option<f64>>) -> Vec<usize> {
    values.enumerate().filter(|(_, value)| *value == Some(0.0)).map(|(row, _)| row).collect()
}

fn negative(value: &ColumnarValue) -> Result<ColumnarValue> {
    Ok(match value {
        ColumnarValue::Array(array) => ColumnarValue::Array(neg(array.as_ref())?),
        ColumnarValue::Scalar(scalar) => {
            ColumnarValue::Scalar(ScalarValue::try_from_array(&neg(scalar.to_array()?.as_ref())?, 0)?)
        }
    })
}

/// An infinity that no operand had is an overflow, and a NaN has no sign.
fn sound_floats(result: ColumnarValue, operands: &[ColumnarValue]) -> Result<ColumnarValue> {
    let array = match &result {
        ColumnarValue::Array(array) => Arc::clone(array),
        ColumnarValue::Scalar(scalar) => scalar.to_array()?,
    };
    let finite = match array.data_type() {
        ArrowType::Float32 => array.as_primitive::<Float32Type>().values().iter().all(|value| value.is_finite()),
        ArrowType::Float64 => array.as_primitive::<Float64Type>().values().iter().all(|value| value.is_finite()),
        _ => true,
    };
    if finite {
        return Ok(result);
    }
    refuse_infinity(&array, operands)?;
    let unsigned: ArrayRef = match array.data_type() {
        ArrowType::Float32 => Arc::new(
            array.as_primitive::<Float32Type>().unary::<_, Float32Type>(|x| if x.is_nan() { f32::NAN } else { x }),
        ),
        _ => Arc::new(
            array.as_primitive::<Float64Type>().unary::<_, Float64Type>(|x| if x.is_nan() { f64::NAN } else { x }),
        ),
    };
    Ok(match result {
        ColumnarValue::Array(_) => ColumnarValue::Array(unsigned),
        ColumnarValue::Scalar(_) => ColumnarValue::Scalar(ScalarValue::try_from_array(&unsigned, 0)?),
    })
}

/// Rarely reached: row by row, which one made it?
fn refuse_infinity(result: &ArrayRef, operands: &[ColumnarValue]) -> Result<()> {
    let operands = operands.iter().map(|operand| operand.to_array(result.len())).collect::<Result<Vec<_>>>()?;
    for row in 0..result.len() {
        if is_infinite(result, row) && !operands.iter().any(|operand| is_infinite(operand, row)) {
            return Err(Refusal::Range.because("value out of range: overflow").into());
        }
    }
    Ok(())
}

fn is_infinite(array: &ArrayRef, row: usize) -> bool {
    array.is_valid(row)
        && match array.data_type() {
            ArrowType::Float32 => array.as_primitive::<Float32Type>().value(row).is_infinite(),
            ArrowType::Float64 => array.as_primitive::<Float64Type>().value(row).is_infinite(),
            _ => false,
        }
}

fn out_of_range(ty: &ArrowType) -> datafusion::common::DataFusionError {
    let what = crate::convert::sql_type(ty).map_or("value".to_owned(), |ty| ty.sql_name());
    QueryError::OutOfRange { what }.into()
}
