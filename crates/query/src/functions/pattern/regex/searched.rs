//! `x ~ 'pattern'` of a plan that runs: DataFusion's operator, whose searches of long texts cannot be stopped, as a
//! function whose searches can.

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

/// The function in place of an operator that searches by a constant pattern; anything else stays as it is.
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
    /// In the library's spelling.
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
        // A dot is not a line end unless the spelling says so.
        let flags = Flags { spelled: true, dots: true, ignore_case: self.folds, ..Flags::default() };
        let pattern = compiled(&self.pattern, flags)?;
        let found = texts.map(|text| text.map(|text| Ok(pattern.is_match(text)? != self.negated)).transpose());
        Ok(found.collect::<std::result::Result<_, QueryError>>()?)
    }
}
