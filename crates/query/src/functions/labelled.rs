//! Functions that return their argument and give DataFusion what it does not infer: a `char(n)` type, or nullability.

use crate::convert::expression_field;
use crate::error::QueryError;
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};
use std::sync::Arc;
use types::DataType;

/// Marks a text as a value of type `ty`: DataFusion's functions lose the SQL type of their arguments.
pub(crate) fn labelled(value: Expr, ty: DataType) -> Expr {
    call(Label::Type(ty), value)
}

/// Returns the type of a [`labelled`] call; `None` for other calls.
pub(crate) fn label_of(call: &ScalarFunction) -> Option<DataType> {
    match call.func.inner().downcast_ref::<Labelled>()?.label {
        Label::Type(ty) => Some(ty),
        _ => None,
    }
}

/// Marks a value as nullable: DataFusion infers the nullability of a scalar subquery from its column, although the
/// subquery may return no row.
pub(crate) fn nullable(value: Expr) -> Expr {
    call(Label::Nullable, value)
}

/// Returns whether `expr` is a [`nullable`] call, which is volatile in name only.
pub(crate) fn is_nullable(expr: &Expr) -> bool {
    let Expr::ScalarFunction(call) = expr else { return false };
    call.func.inner().downcast_ref::<Labelled>().is_some_and(|labelled| labelled.label == Label::Nullable)
}

/// Hides an equality from DataFusion if one side contains the other, such as `abs(x) = x`: 55.2 takes orders by `x` for
/// orders by `abs(x)`, and then fails to plan windows by `x`.
pub(crate) fn unequated(condition: Expr) -> Expr {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = &condition else { return condition };
    let has = |whole: &Expr, part: &Expr| whole != part && whole.exists(|inner| Ok(inner == part)).unwrap_or(false);
    let is_computed = has(left, right) || has(right, left);
    if is_computed { labelled(condition, DataType::Boolean) } else { condition }
}

/// Does the function return its argument?
pub(super) fn is_label(function: &ScalarUDF) -> bool {
    function.inner().is::<Labelled>()
}

fn call(label: Label, value: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function(label)), vec![value]))
}

fn function(label: Label) -> ScalarUDF {
    // DataFusion would fold a call of a constant to a constant, which is not nullable.
    let volatility = if label == Label::Nullable { Volatility::Volatile } else { Volatility::Immutable };
    ScalarUDF::new_from_impl(Labelled { label, signature: Signature::any(1, volatility) })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Label {
    Type(DataType),
    Nullable,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Labelled {
    label: Label,
    signature: Signature,
}

impl ScalarUDFImpl for Labelled {
    fn name(&self) -> &str {
        match &self.label {
            Label::Type(ty) => ty.base_name(),
            Label::Nullable => "nullable",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        args.first().cloned().ok_or_else(|| QueryError::internal("a label without a value").into())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let value = args.arg_fields.first().ok_or_else(|| QueryError::internal("a label without a value"))?;
        Ok(Arc::new(match &self.label {
            Label::Type(ty) => expression_field(ty).with_data_type(value.data_type().clone()),
            Label::Nullable => value.as_ref().clone().with_nullable(true),
        }))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        args.args.into_iter().next().ok_or_else(|| QueryError::internal("a label without a value").into())
    }
}
