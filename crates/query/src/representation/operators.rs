//! Operators and aggregates with PostgreSQL's meaning.

use super::adapt::{self, Side, compare, is_decimal};
use super::patterns;
use super::window_calls::{over_window, plan_window_function};
use crate::convert::arrow_type;
use crate::error::{QueryError, QueryResult};
use crate::functions::{self, Spread, average_of, numeric_quotient, square, summand};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::functions_aggregate::array_agg::array_agg_udaf;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::planner::{RawAggregateExpr, RawWindowExpr};
use datafusion::logical_expr::{
    AggregateUDF, BinaryExpr, Cast, Expr, ExprSchemable, Operator, WindowFunctionDefinition,
};
use std::sync::Arc;
use types::DataType;

/// `left op right` of operands whose types were resolved.
///
/// # Errors
/// A pattern that is none.
pub(crate) fn planned_operator(op: Operator, mut left: Expr, mut right: Expr, schema: &DFSchema) -> QueryResult<Expr> {
    match op {
        Operator::Plus | Operator::Minus | Operator::Multiply | Operator::Divide | Operator::Modulo => {
            arithmetic(op, left, right, schema)
        }
        Operator::RegexMatch | Operator::RegexIMatch | Operator::RegexNotMatch | Operator::RegexNotIMatch => {
            regex(op, left, right, schema)
        }
        _ => {
            compare(&mut left, &mut right, schema)?;
            Ok(binary(left, op, right))
        }
    }
}

/// DataFusion's operator takes constant patterns in its own spelling; all others are our function's.
fn regex(op: Operator, mut text: Expr, pattern: Expr, schema: &DFSchema) -> QueryResult<Expr> {
    let side = Side::of(&text, schema);
    adapt::pad(&mut text, &side);
    if let Expr::Literal(ScalarValue::Utf8(Some(given)), _) = &pattern
        && let Some(spelled) = functions::regex_pattern(given)?
    {
        return Ok(binary(text, op, Expr::Literal(ScalarValue::Utf8(Some(spelled)), None)));
    }
    if Side::of(&pattern, schema) == Side::Null {
        return Ok(binary(text, op, pattern));
    }
    let folds = matches!(op, Operator::RegexIMatch | Operator::RegexNotIMatch);
    let negated = matches!(op, Operator::RegexNotMatch | Operator::RegexNotIMatch);
    patterns::matches(text, pattern, folds, negated)
}

/// An aggregate as what it is of those that there are.
///
/// # Errors
/// Types that it is not computed of.
pub(crate) fn planned_aggregate(raw: RawAggregateExpr) -> Result<Expr> {
    let raw = RawAggregateExpr { args: raw.args.into_iter().map(named_cast).collect(), ..raw };
    let part = |function: Arc<AggregateUDF>, args: Vec<Expr>| {
        Expr::AggregateFunction(AggregateFunction::new_udf(
            function,
            args,
            raw.distinct,
            raw.filter.clone(),
            raw.order_by.clone(),
            raw.null_treatment,
        ))
    };
    let of_sums = of_sums(&raw.func, &raw.args, raw.distinct, &part);
    Ok(of_sums.unwrap_or_else(|| part(Arc::clone(&raw.func), raw.args.clone())))
}

/// A window function, or an aggregate over a window, as what it is of those that there are.
///
/// # Errors
/// Types that it is not computed of.
pub(crate) fn planned_window(raw: RawWindowExpr) -> Result<Expr> {
    let WindowFunctionDefinition::AggregateUDF(udaf) = &raw.func_def else {
        return plan_window_function(raw);
    };
    let udaf = Arc::clone(udaf);
    let raw = RawWindowExpr { args: raw.args.into_iter().map(named_cast).collect(), ..raw };
    let part = |function, args| over_window(&raw, WindowFunctionDefinition::AggregateUDF(function), args);
    let of_sums = of_sums(&udaf, &raw.args, raw.distinct, &part);
    Ok(of_sums.unwrap_or_else(|| over_window(&raw, raw.func_def.clone(), raw.args.clone())))
}

/// Averages and variances as what they are of sums; `part` makes an aggregate like the one asked for.
fn of_sums(
    function: &Arc<AggregateUDF>,
    args: &[Expr],
    distinct: bool,
    part: &dyn Fn(Arc<AggregateUDF>, Vec<Expr>) -> Expr,
) -> Option<Expr> {
    let [arg] = args else { return None };
    let (sum, count) = (|| part(sum_udaf(), vec![summand(arg.clone())]), || part(count_udaf(), args.to_vec()));
    if function.name() == "avg" {
        return Some(average_of(sum(), count()));
    }
    let spread = Spread::named(function.name())?;
    if distinct {
        // Of two values that differ the squares may not: the values themselves are collected.
        return Some(spread.of_values(part(array_agg_udaf(), args.to_vec())));
    }
    let squares = part(sum_udaf(), vec![square(arg.clone())]);
    Some(spread.of(sum(), squares, count(), part(Arc::clone(function), args.to_vec())))
}

/// A cast is not part of an expression's name for the planner, so that `sum(x::int)` and `sum(x::bigint)` had one name.
fn named_cast(arg: Expr) -> Expr {
    match arg {
        Expr::Cast(cast) if !matches!(cast.expr.as_ref(), Expr::Literal(..)) => {
            let name = format!("{}::{}", cast.expr.schema_name(), cast.field.data_type());
            Expr::Cast(cast).alias(name)
        }
        other => other,
    }
}

fn binary(left: Expr, op: Operator, right: Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
}

fn arithmetic(op: Operator, left: Expr, right: Expr, schema: &DFSchema) -> QueryResult<Expr> {
    let (a, b) = (Side::of(&left, schema), Side::of(&right, schema));
    if [&a, &b].iter().any(|side| matches!(side, Side::Known(ty) if ty.is_temporal() || *ty == DataType::Interval)) {
        let missing = || QueryError::internal(format!("no operator {op} of times"));
        let definition = functions::operator(&op.to_string()).ok_or_else(missing)?;
        return Ok(functions::call_of(definition, vec![left, right]));
    }
    let floats = [&left, &right].iter().any(|side| side.get_type(schema).is_ok_and(|ty| ty.is_floating()));
    if !floats && (is_decimal(&left, schema) || is_decimal(&right, schema)) {
        return Ok(numeric(op, left, right, schema));
    }
    Ok(binary(left, op, right))
}

/// Division keeps the digits that numeric has room for, and products stay within them.
fn numeric(op: Operator, left: Expr, right: Expr, schema: &DFSchema) -> Expr {
    match op {
        Operator::Divide => numeric_quotient(left, right),
        Operator::Multiply => {
            let product = binary(left, op, right);
            let wide = product.get_type(schema).is_ok_and(|ty| matches!(ty, ArrowType::Decimal256(..)));
            let free = arrow_type(&DataType::Numeric(None));
            if wide { Expr::Cast(Cast::new(Box::new(product), free)) } else { product }
        }
        _ => binary(left, op, right),
    }
}
