//! Executes `x ~ 'pattern'`: replaces DataFusion's operator, whose search of a long text cannot be cancelled, by a
//! function whose search can.

use super::flags::Flags;
use super::pattern::compiled;
use crate::error::QueryError;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Replaces an operator with a constant pattern by a function; returns whether it did.
pub(crate) fn searched(expr: Expr) -> (bool, Expr) {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else { return (false, expr) };
    let (folds, negated) = match op {
        Operator::RegexMatch => (false, false),
        Operator::RegexIMatch => (true, false),
        Operator::RegexNotMatch => (false, true),
        Operator::RegexNotIMatch => (true, true),
        _ => return (false, Expr::BinaryExpr(BinaryExpr { left, op, right })),
    };
    let pattern = match right.as_ref() {
        Expr::Literal(value, _) => value.try_as_str().flatten().map(str::to_owned),
        _ => None,
    };
    let Some(pattern) = pattern else { return (false, Expr::BinaryExpr(BinaryExpr { left, op, right })) };
    let function = Searched { pattern, folds, negated, signature: Signature::any(1, Volatility::Immutable) };
    let function = Arc::new(ScalarUDF::new_from_impl(function));
    (true, Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![*left])))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Searched {
    /// In the syntax of the `regex` crate.
    pattern: String,
    folds: bool,
    negated: bool,
    signature: Signature,
}

impl ScalarUDFImpl for Searched {
    fn name(&self) -> &str {
        "regex search"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [ColumnarValue::Array(texts)] => Ok(ColumnarValue::Array(Arc::new(self.search(texts)?))),
            [ColumnarValue::Scalar(text)] => {
                let found = self.search(&text.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&found, 0)?))
            }
            _ => Err(QueryError::internal("a search has one text").into()),
        }
    }
}

impl Searched {
    fn search(&self, texts: &ArrayRef) -> Result<BooleanArray> {
        match texts.data_type() {
            ArrowType::Utf8 => self.each(texts.as_string::<i32>().iter()),
            ArrowType::LargeUtf8 => self.each(texts.as_string::<i64>().iter()),
            ArrowType::Utf8View => self.each(texts.as_string_view().iter()),
            _ => self.each(cast(texts, &ArrowType::Utf8)?.as_string::<i32>().iter()),
        }
    }

    fn each<'t>(&self, texts: impl Iterator<Item = Option<&'t str>>) -> Result<BooleanArray> {
        // In the syntax of the `regex` crate, a dot does not match line ends unless the pattern has a flag.
        let flags = Flags { spelled: true, dots: true, ignore_case: self.folds, ..Flags::default() };
        let pattern = compiled(&self.pattern, flags)?;
        let found = texts.map(|text| text.map(|text| Ok(pattern.is_match(text)? != self.negated)).transpose());
        Ok(found.collect::<std::result::Result<_, QueryError>>()?)
    }
}
