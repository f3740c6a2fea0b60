//! Window functions that the planner has for constants only, or of another type.

use super::adapt::Side;
use super::common_type::unify;
use crate::Refusal;
use crate::convert::arrow_type;
use crate::error::QueryResult;
use crate::functions::ByRow;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::planner::RawWindowExpr;
use datafusion::logical_expr::type_coercion::binary::type_union_coercion;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, LogicalPlan, WindowFunctionDefinition, lit, when};
use types::DataType;

/// `lag(x, n, d)` with a default that varies is `lag(x, n)` where there is such a row and `d` elsewhere; an `n` that
/// varies is a function's of our own. `ntile` is an integer.
///
/// # Errors
/// None.
pub(super) fn plan_window_function(raw: RawWindowExpr) -> Result<Expr> {
    Ok(match (raw.func_def.name(), raw.args.as_slice()) {
        ("ntile", args) => {
            check_buckets(args)?;
            let buckets = call(&raw, raw.args.clone());
            Expr::Cast(Cast::new(Box::new(buckets), ArrowType::Int32))
        }
        ("lag" | "lead", [_, offset, Expr::Literal(..)]) if is_constant(offset) => call(&raw, raw.args.clone()),
        ("lag" | "lead", [value, offset, default]) => {
            let is_there = shifted(&raw, lit(true), offset).is_not_null();
            let taken = shifted(&raw, value.clone(), offset);
            let unknown = Expr::Literal(ScalarValue::Null, None);
            when(is_there, taken).when(offset.clone().is_null(), unknown).otherwise(default.clone())?
        }
        ("lag" | "lead" | "nth_value", [value, offset]) if !is_constant(offset) => shifted(&raw, value.clone(), offset),
        _ => call(&raw, raw.args.clone()),
    })
}

/// Can the planner's own functions take it? They have no distance that is NULL.
fn is_constant(offset: &Expr) -> bool {
    match offset {
        Expr::Literal(constant, _) => !constant.is_null(),
        Expr::Negative(inner) => is_constant(inner),
        _ => false,
    }
}

/// The function's value at that distance.
fn shifted(raw: &RawWindowExpr, value: Expr, offset: &Expr) -> Expr {
    if is_constant(offset) {
        return call(raw, vec![value, offset.clone()]);
    }
    let kind = match raw.func_def.name() {
        "lag" => ByRow::Lag,
        "lead" => ByRow::Lead,
        _ => ByRow::NthValue,
    };
    let distance = Expr::Cast(Cast::new(Box::new(offset.clone()), ArrowType::Int64));
    over_window(raw, WindowFunctionDefinition::WindowUDF(kind.function()), vec![value, distance])
}

/// The value that a window function takes of another row, in one type with the default; and which row that is.
///
/// # Errors
/// 22016 for a place before the first, 42804 for types that do not go together.
pub(super) fn represent_neighbour(name: &str, args: &mut [Expr], schema: &DFSchema) -> QueryResult<()> {
    if let ("nth_value", [_, Expr::Literal(ScalarValue::Int64(Some(..=0)), _) | Expr::Negative(_)]) = (name, &*args) {
        return Err(Refusal::NthValue.because("argument of nth_value must be greater than zero"));
    }
    let [value, _, default] = args else { return Ok(()) };
    let Some(ty) = unify(&mut [value, default], schema)? else { return Ok(()) };
    // Numerics have room for the digits of both.
    let types =
        value.get_type(schema).ok().zip(default.get_type(schema).ok()).filter(|_| matches!(ty, DataType::Numeric(_)));
    let wanted = types.and_then(|(value, default)| type_union_coercion(&value, &default));
    let wanted = wanted.unwrap_or_else(|| arrow_type(&ty));
    for side in [value, default] {
        let known = matches!(Side::of(side, schema), Side::Known(_));
        if known && side.get_type(schema).is_ok_and(|own| own != wanted && own.is_numeric()) {
            *side = cast_constant(std::mem::take(side), &wanted);
        }
    }
    Ok(())
}

/// Defaults must stay constants.
fn cast_constant(value: Expr, wanted: &ArrowType) -> Expr {
    match &value {
        Expr::Literal(constant, _) => match constant.cast_to(wanted) {
            Ok(cast) => Expr::Literal(cast, None),
            Err(_) => value,
        },
        _ => Expr::Cast(Cast::new(Box::new(value), wanted.clone())),
    }
}

/// The same function with other arguments.
fn call(raw: &RawWindowExpr, args: Vec<Expr>) -> Expr {
    over_window(raw, raw.func_def.clone(), args)
}

/// A function over the window of another.
pub(super) fn over_window(raw: &RawWindowExpr, fun: WindowFunctionDefinition, args: Vec<Expr>) -> Expr {
    let params = WindowFunctionParams {
        args,
        partition_by: raw.partition_by.clone(),
        order_by: raw.order_by.clone(),
        window_frame: raw.window_frame.clone(),
        filter: raw.filter.clone(),
        null_treatment: raw.null_treatment,
        distinct: raw.distinct,
    };
    Expr::WindowFunction(Box::new(WindowFunction { fun, params }))
}

/// Refuses windows of no buckets, as far as their number is known.
///
/// # Errors
/// 22014.
pub(crate) fn check_windows(node: &LogicalPlan) -> QueryResult<()> {
    let LogicalPlan::Window(window) = node else { return Ok(()) };
    let mut refused = Ok(());
    for expr in &window.window_expr {
        // The visitor returns no error of its own.
        let _ = expr.apply(|part| {
            if let Expr::WindowFunction(call) = part
                && call.fun.name() == "ntile"
                && refused.is_ok()
            {
                refused = check_buckets(&call.params.args);
            }
            Ok(TreeNodeRecursion::Continue)
        });
    }
    refused
}

fn check_buckets(args: &[Expr]) -> QueryResult<()> {
    let number = |value: &ScalarValue| match value {
        ScalarValue::Int32(number) => number.map(i64::from),
        ScalarValue::Int64(number) => *number,
        _ => None,
    };
    let buckets = match args.first() {
        Some(Expr::Literal(value, _)) => number(value),
        Some(Expr::Negative(inner)) => match inner.as_ref() {
            Expr::Literal(value, _) => number(value).map(i64::wrapping_neg),
            _ => None,
        },
        _ => None,
    };
    match buckets {
        Some(buckets) if buckets < 1 => Err(Refusal::Ntile.because("argument of ntile must be greater than zero")),
        _ => Ok(()),
    }
}
