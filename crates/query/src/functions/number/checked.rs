//! `+`, `-` and `*` of integers fail on overflow (22003), where DataFusion's own wrap; float arithmetic fails where
//! PostgreSQL's does. A resulting NaN is always the one without a sign, because only that sorts above infinity by its
//! bits.

use crate::error::{QueryError, QueryResult};
use crate::functions::short_name::short_name;
use arrow::array::cast::AsArray;
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow::compute::kernels::numeric::{add, div, mul, neg, sub};
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use arrow::error::ArrowError;
use builtins::EvalError;
use builtins::bodies::floats;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;
use std::sync::{Arc, LazyLock};
use types::Datum;

/// Builds `+`, `-`, `*` or `/` of two integers or floats of one type.
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

/// Builds `-value` of an integer or float; fails for the smallest integer.
pub(crate) fn checked_negative(value: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&NEG), vec![value]))
}

pub(in crate::functions) fn all() -> Vec<ScalarUDF> {
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
            ("/", [left, right]) => apply(left, right, div),
            _ => Err(QueryError::internal("arithmetic takes one operand or two").into()),
        };
        if args.return_field.data_type().is_floating() {
            return recompute_special_floats(result?, &args.args, self.symbol);
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

fn negative(value: &ColumnarValue) -> Result<ColumnarValue> {
    let array = value.to_array(1)?;
    let negative: ArrayRef = match array.data_type() {
        ArrowType::Float32 => Arc::new(
            array
                .as_primitive::<Float32Type>()
                .unary::<_, Float32Type>(|value| if value.is_nan() { f32::NAN } else { -value }),
        ),
        ArrowType::Float64 => Arc::new(
            array
                .as_primitive::<Float64Type>()
                .unary::<_, Float64Type>(|value| if value.is_nan() { f64::NAN } else { -value }),
        ),
        _ => neg(array.as_ref())?,
    };
    like_operand(value, negative)
}

/// Returns a single value if the operand is one, else a column.
fn like_operand(operand: &ColumnarValue, array: ArrayRef) -> Result<ColumnarValue> {
    Ok(match operand {
        ColumnarValue::Array(_) => ColumnarValue::Array(array),
        ColumnarValue::Scalar(_) => ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?),
    })
}

/// A function of `builtins` on two floats.
type FloatBody = fn(&[Datum]) -> std::result::Result<Datum, EvalError>;

fn float_body(symbol: &str) -> Option<FloatBody> {
    Some(match symbol {
        "+" => floats::plus,
        "-" => floats::minus,
        "*" => floats::times,
        "/" => floats::over,
        _ => return None,
    })
}

/// Computes results that are zero, infinite or NaN again by `builtins`, which reports errors and returns a NaN without
/// a sign.
fn recompute_special_floats(result: ColumnarValue, operands: &[ColumnarValue], symbol: &str) -> Result<ColumnarValue> {
    let ([left, right], Some(body)) = (operands, float_body(symbol)) else { return Ok(result) };
    let array = result.to_array(1)?;
    let (left, right) = (left.to_array(array.len())?, right.to_array(array.len())?);
    let sound: ArrayRef = match array.data_type() {
        ArrowType::Float32 => recompute_special_values::<Float32Type>(&array, [&left, &right], |[a, b]| {
            match body(&[Datum::Float4(a), Datum::Float4(b)])? {
                Datum::Float4(value) => Ok(value),
                _ => Ok(f32::NAN),
            }
        })?,
        ArrowType::Float64 => recompute_special_values::<Float64Type>(&array, [&left, &right], |[a, b]| {
            match body(&[Datum::Float8(a), Datum::Float8(b)])? {
                Datum::Float8(value) => Ok(value),
                _ => Ok(f64::NAN),
            }
        })?,
        _ => return Ok(result),
    };
    like_operand(&result, sound)
}

fn recompute_special_values<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    [left, right]: [&ArrayRef; 2],
    body: impl Fn([T::Native; 2]) -> QueryResult<T::Native>,
) -> QueryResult<ArrayRef>
where
    f64: From<T::Native>,
{
    let (results, left, right) = (array.as_primitive::<T>(), left.as_primitive::<T>(), right.as_primitive::<T>());
    let is_usual = |value: T::Native| f64::from(value).is_finite() && f64::from(value) != 0.0;
    if results.values().iter().all(|value| is_usual(*value)) {
        return Ok(Arc::clone(array));
    }
    let is_zero = |value: T::Native| f64::from(value) == 0.0;
    let value = |row: usize| {
        if results.is_null(row) {
            return Ok(None);
        }
        let (result, a, b) = (results.value(row), left.value(row), right.value(row));
        match is_usual(result) || is_zero(result) && (is_zero(a) || is_zero(b)) {
            true => Ok(Some(result)),
            false => body([a, b]).map(Some),
        }
    };
    let sound = (0..results.len()).map(value).collect::<QueryResult<PrimitiveArray<T>>>()?;
    Ok(Arc::new(sound))
}

fn out_of_range(ty: &ArrowType) -> datafusion::common::DataFusionError {
    let what = crate::convert::sql_type(ty).map_or("value".to_owned(), |ty| ty.sql_name());
    QueryError::OutOfRange { what }.into()
}
