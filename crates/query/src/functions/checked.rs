//! `+`, `-` and `*` of integers that fail on overflow (22003), where the planner's own would wrap.

use crate::error::QueryError;
use arrow::compute::kernels::numeric::{add, mul, sub};
use arrow::datatypes::DataType as ArrowType;
use arrow::error::ArrowError;
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;
use std::sync::{Arc, LazyLock};

/// The checked form of an operator over two integers of one type.
pub(crate) fn checked_arithmetic(op: Operator, left: Expr, right: Expr) -> Option<Expr> {
    let function = match op {
        Operator::Plus => &ADD,
        Operator::Minus => &SUB,
        Operator::Multiply => &MUL,
        _ => return None,
    };
    Some(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(function), vec![left, right])))
}

pub(super) fn all() -> Vec<ScalarUDF> {
    [&ADD, &SUB, &MUL].into_iter().map(|function| function.as_ref().clone()).collect()
}

static ADD: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_add", "+"));
static SUB: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_sub", "-"));
static MUL: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| function("checked_mul", "*"));

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
            _ => apply(left, right, mul),
        };
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

fn out_of_range(ty: &ArrowType) -> datafusion::common::DataFusionError {
    let what = crate::convert::sql_type(ty).map_or("value".to_owned(), |ty| ty.sql_name());
    QueryError::OutOfRange { what }.into()
}
