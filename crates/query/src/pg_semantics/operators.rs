//! Operators and aggregates with PostgreSQL's meaning, chosen while names become a plan.

use super::adapt::{self, Side, compare, give_type, is_decimal};
use super::common_type::unify;
use super::fields;
use super::patterns;
use super::rows::{compare_rows, parts_of};
use super::window_calls::{over_window, plan_window_function};
use crate::convert::arrow_type;
use crate::error::{QueryError, QueryResult, Refusal};
use crate::functions::{self, Spread, average_of, numeric_quotient, square, summand};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::functions_aggregate::array_agg::array_agg_udaf;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::planner::{
    ExprPlanner, PlannerResult, RawAggregateExpr, RawBinaryExpr, RawFieldAccessExpr, RawWindowExpr,
};
use datafusion::logical_expr::{
    AggregateUDF, BinaryExpr, Cast, Expr, ExprSchemable, GetFieldAccess, Operator, WindowFunctionDefinition, lit,
};
use sql::ast::BinaryOperator;
use std::sync::Arc;
use types::DataType;

/// What `IS DISTINCT FROM` is written as, so that it comes here: no query writes such operators.
pub(crate) const DISTINCT: &str = "IS DISTINCT FROM";
/// The same of `IS NOT DISTINCT FROM`.
pub(crate) const NOT_DISTINCT: &str = "IS NOT DISTINCT FROM";

/// The hook: it comes before the planner's own.
#[derive(Debug)]
pub(crate) struct PostgresOperators;

impl ExprPlanner for PostgresOperators {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        Ok(plan(expr, schema)?)
    }

    fn plan_array_literal(&self, mut exprs: Vec<Expr>, schema: &DFSchema) -> Result<PlannerResult<Vec<Expr>>> {
        let nested = |expr: &Expr| matches!(Side::of(expr, schema), Side::Known(DataType::Array(_)));
        if !exprs.iter().any(nested) {
            unify(&mut exprs.iter_mut().collect::<Vec<_>>(), "ARRAY", schema)?;
        }
        Ok(PlannerResult::Original(exprs))
    }

    fn plan_field_access(
        &self,
        mut raw: RawFieldAccessExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawFieldAccessExpr>> {
        if let GetFieldAccess::NamedStructField { name } = &mut raw.field_access
            && let Some(asked) = name.try_as_str().flatten()
        {
            let field = fields::find(asked, &raw.expr, schema)?;
            *name = ScalarValue::from(field);
        }
        Ok(PlannerResult::Original(raw))
    }

    fn plan_aggregate(&self, raw: RawAggregateExpr) -> Result<PlannerResult<RawAggregateExpr>> {
        // The sum of nothing but NULL is of no type.
        if let ("sum", [Expr::Literal(ScalarValue::Null, _)]) = (raw.func.name(), raw.args.as_slice()) {
            return Err(Refusal::AmbiguousOperator.because("function sum(unknown) is not unique").into());
        }
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
        Ok(match of_sums(&raw.func, &raw.args, raw.distinct, &part) {
            Some(planned) => PlannerResult::Planned(planned),
            None => PlannerResult::Original(raw),
        })
    }

    fn plan_window(&self, raw: RawWindowExpr) -> Result<PlannerResult<RawWindowExpr>> {
        let WindowFunctionDefinition::AggregateUDF(udaf) = &raw.func_def else {
            return plan_window_function(raw);
        };
        let udaf = Arc::clone(udaf);
        let raw = RawWindowExpr { args: raw.args.into_iter().map(named_cast).collect(), ..raw };
        let part = |function, args| over_window(&raw, WindowFunctionDefinition::AggregateUDF(function), args);
        Ok(match of_sums(&udaf, &raw.args, raw.distinct, &part) {
            Some(planned) => PlannerResult::Planned(planned),
            None => PlannerResult::Original(raw),
        })
    }
}

/// `left op right` of operands whose types were resolved; `None` for an operator without a form here.
///
/// # Errors
/// Types that the operator is not computed of.
pub(crate) fn planned_operator(
    op: BinaryOperator,
    left: Expr,
    right: Expr,
    schema: &DFSchema,
) -> QueryResult<Option<Expr>> {
    let raw = match plan(RawBinaryExpr { op, left, right }, schema)? {
        PlannerResult::Planned(expr) => return Ok(Some(expr)),
        PlannerResult::Original(raw) => raw,
    };
    let op = match raw.op {
        BinaryOperator::Plus => Operator::Plus,
        BinaryOperator::Minus => Operator::Minus,
        BinaryOperator::Multiply => Operator::Multiply,
        BinaryOperator::Divide => Operator::Divide,
        BinaryOperator::Modulo => Operator::Modulo,
        BinaryOperator::PGRegexMatch => Operator::RegexMatch,
        BinaryOperator::PGRegexIMatch => Operator::RegexIMatch,
        BinaryOperator::PGRegexNotMatch => Operator::RegexNotMatch,
        BinaryOperator::PGRegexNotIMatch => Operator::RegexNotIMatch,
        _ => return Ok(None),
    };
    Ok(Some(binary(raw.left, op, raw.right)))
}

/// An aggregate as what it is of those that there are.
///
/// # Errors
/// Types that it is not computed of.
pub(crate) fn planned_aggregate(raw: RawAggregateExpr) -> Result<Expr> {
    Ok(match PostgresOperators.plan_aggregate(raw)? {
        PlannerResult::Planned(expr) => expr,
        PlannerResult::Original(RawAggregateExpr { func, args, distinct, filter, order_by, null_treatment }) => {
            Expr::AggregateFunction(AggregateFunction::new_udf(func, args, distinct, filter, order_by, null_treatment))
        }
    })
}

/// A window function, or an aggregate over a window, as what it is of those that there are.
///
/// # Errors
/// Types that it is not computed of.
pub(crate) fn planned_window(raw: RawWindowExpr) -> Result<Expr> {
    Ok(match PostgresOperators.plan_window(raw)? {
        PlannerResult::Planned(expr) => expr,
        PlannerResult::Original(raw) => over_window(&raw, raw.func_def.clone(), raw.args.clone()),
    })
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

fn plan(raw: RawBinaryExpr, schema: &DFSchema) -> QueryResult<PlannerResult<RawBinaryExpr>> {
    let RawBinaryExpr { op, mut left, mut right } = raw;
    if let Some(comparison) = comparison(&op) {
        return Ok(PlannerResult::Planned(compared(left, comparison, right, schema)?));
    }
    match op {
        BinaryOperator::Plus
        | BinaryOperator::Minus
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo => arithmetic(op, left, right, schema),
        BinaryOperator::And | BinaryOperator::Or => {
            for side in [&mut left, &mut right] {
                let known = Side::of(side, schema);
                if let Side::Known(ty) = &known
                    && *ty != DataType::Boolean
                {
                    let message = format!("argument of {op} must be type boolean, not type {}", ty.base_name());
                    return Err(QueryError::TypeMismatch { message });
                }
                give_type(side, &known, &DataType::Boolean)?;
            }
            Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }))
        }
        BinaryOperator::PGRegexMatch
        | BinaryOperator::PGRegexIMatch
        | BinaryOperator::PGRegexNotMatch
        | BinaryOperator::PGRegexNotIMatch => {
            for side in [&mut left, &mut right] {
                if Side::of(side, schema) == Side::Parameter {
                    give_type(side, &Side::Parameter, &DataType::Text)?;
                }
            }
            let (a, b) = (Side::of(&left, schema), Side::of(&right, schema));
            if [&a, &b].iter().any(|side| matches!(side, Side::Known(ty) if !ty.is_text())) {
                return Err(QueryError::NoSuchOperator { left: a.name(), operator: op.to_string(), right: b.name() });
            }
            adapt::pad(&mut left, &a);
            let spelled = match &right {
                Expr::Literal(ScalarValue::Utf8(Some(pattern)), _) => functions::regex_pattern(pattern)?,
                _ => None,
            };
            if let Some(spelled) = spelled {
                let right = Expr::Literal(ScalarValue::Utf8(Some(spelled)), None);
                return Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }));
            }
            if b == Side::Null {
                return Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }));
            }
            let folds = matches!(op, BinaryOperator::PGRegexIMatch | BinaryOperator::PGRegexNotIMatch);
            let negated = matches!(op, BinaryOperator::PGRegexNotMatch | BinaryOperator::PGRegexNotIMatch);
            Ok(PlannerResult::Planned(patterns::matches(left, right, folds, negated)?))
        }
        op => match functions::operator(&op.to_string()) {
            Some(definition) => Ok(PlannerResult::Planned(functions::call_of(definition, vec![left, right]))),
            None => Ok(PlannerResult::Original(RawBinaryExpr { op, left, right })),
        },
    }
}

fn comparison(op: &BinaryOperator) -> Option<Operator> {
    Some(match op {
        BinaryOperator::Eq => Operator::Eq,
        BinaryOperator::NotEq => Operator::NotEq,
        BinaryOperator::Lt => Operator::Lt,
        BinaryOperator::LtEq => Operator::LtEq,
        BinaryOperator::Gt => Operator::Gt,
        BinaryOperator::GtEq => Operator::GtEq,
        BinaryOperator::Custom(name) if name == DISTINCT => Operator::IsDistinctFrom,
        BinaryOperator::Custom(name) if name == NOT_DISTINCT => Operator::IsNotDistinctFrom,
        _ => return None,
    })
}

/// `left op right` of values or rows.
fn compared(mut left: Expr, op: Operator, mut right: Expr, schema: &DFSchema) -> QueryResult<Expr> {
    if let (Some(a), Some(b)) = (parts_of(&left), parts_of(&right)) {
        let part = |a, op, b| compared(a, op, b, schema);
        return compare_rows(a, op, b, &part);
    }
    if matches!(op, Operator::IsDistinctFrom | Operator::IsNotDistinctFrom) {
        // Even of types without `=`.
        let null = |side: &Expr| Side::of(side, schema) == Side::Null;
        if let Some(other) = [(&left, &right), (&right, &left)].into_iter().find(|(side, _)| null(side)) {
            let other = other.1.clone();
            // A row of NULLs is a row all the same.
            if parts_of(&other).is_some() {
                return Ok(lit(op == Operator::IsDistinctFrom));
            }
            return Ok(if op == Operator::IsDistinctFrom { other.is_not_null() } else { other.is_null() });
        }
        compare(&mut left, "=", &mut right, schema)?;
        return Ok(binary(left, op, right));
    }
    compare(&mut left, &op.to_string(), &mut right, schema)?;
    Ok(binary(left, op, right))
}

fn binary(left: Expr, op: Operator, right: Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
}

fn arithmetic(
    op: BinaryOperator,
    mut left: Expr,
    mut right: Expr,
    schema: &DFSchema,
) -> QueryResult<PlannerResult<RawBinaryExpr>> {
    let (a, b) = (Side::of(&left, schema), Side::of(&right, schema));
    match (&a, &b) {
        (Side::Known(ty), Side::Quoted(_) | Side::Parameter) if ty.is_number() => give_type(&mut right, &b, ty)?,
        (Side::Quoted(_) | Side::Parameter, Side::Known(ty)) if ty.is_number() => give_type(&mut left, &a, ty)?,
        (Side::Quoted(_), Side::Quoted(_)) => {
            let message = format!("operator is not unique: unknown {op} unknown");
            return Err(Refusal::AmbiguousOperator.because(message));
        }
        (Side::Known(x), Side::Known(y)) if refuses(x, y) => {
            return Err(QueryError::NoSuchOperator { left: a.name(), operator: op.to_string(), right: b.name() });
        }
        _ => {}
    }
    if [&a, &b].iter().any(|side| matches!(side, Side::Known(ty) if ty.is_temporal() || *ty == DataType::Interval)) {
        return match functions::operator(&op.to_string()) {
            Some(definition) => Ok(PlannerResult::Planned(functions::call_of(definition, vec![left, right]))),
            None => Err(QueryError::NoSuchOperator { left: a.name(), operator: op.to_string(), right: b.name() }),
        };
    }
    // A real beside any other number is a double.
    for (side, other) in [(&mut left, &b), (&mut right, &a)] {
        let real = side.get_type(schema).is_ok_and(|ty| ty == ArrowType::Float32);
        if real && matches!(other, Side::Known(ty) if ty.is_number() && *ty != DataType::Real) {
            *side = cast(std::mem::take(side), ArrowType::Float64);
        }
    }
    let floats = [&left, &right].iter().any(|side| side.get_type(schema).is_ok_and(|ty| ty.is_floating()));
    if !floats && (is_decimal(&left, schema) || is_decimal(&right, schema)) {
        return numeric(op, left, right, schema);
    }
    Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }))
}

/// Arithmetic of types that PostgreSQL has none for.
fn refuses(left: &DataType, right: &DataType) -> bool {
    let odd = |ty: &DataType| {
        ty.is_text() || ty.is_bytes() || matches!(ty, DataType::Boolean | DataType::Uuid | DataType::Array(_))
    };
    odd(left) || odd(right)
}

fn cast(expr: Expr, to: ArrowType) -> Expr {
    Expr::Cast(Cast::new(Box::new(expr), to))
}

/// Division keeps the digits that numeric has room for, and products stay within them.
fn numeric(
    op: BinaryOperator,
    left: Expr,
    right: Expr,
    schema: &DFSchema,
) -> QueryResult<PlannerResult<RawBinaryExpr>> {
    let free = arrow_type(&DataType::Numeric(None));
    if op == BinaryOperator::Divide {
        return Ok(PlannerResult::Planned(numeric_quotient(left, right)));
    }
    if op == BinaryOperator::Multiply {
        let product = binary(left, Operator::Multiply, right);
        let wide = product.get_type(schema).is_ok_and(|ty| matches!(ty, ArrowType::Decimal256(..)));
        return Ok(PlannerResult::Planned(if wide { cast(product, free) } else { product }));
    }
    Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }))
}
