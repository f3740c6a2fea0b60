//! Aggregates in the types that PostgreSQL computes them in.

use super::adapt::Side;
use super::interval_keys::{by_length, sorted_by_length};
use super::settle::must_be_boolean;
use super::signless_zero::signless;
use crate::convert::NUMERIC_PRECISION;
use crate::error::{QueryError, QueryResult};
use crate::functions;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{AggregateUDF, Cast, Expr, ExprSchemable};
use std::sync::Arc;
use types::DataType;

/// An aggregate of groups.
///
/// # Errors
/// [`QueryError::NoSuchFunction`] as [`settle_function`].
pub(super) fn settle_aggregate(mut call: AggregateFunction, schema: &DFSchema) -> QueryResult<Transformed<Expr>> {
    let before = call.clone();
    let params = &mut call.params;
    // What is sorted by its own values without repetitions is both in one: the planner compares it.
    if !params.distinct {
        sorted_by_length(&mut params.order_by, schema);
    }
    if params.distinct && call.func.name() == "count" {
        let args = std::mem::take(&mut params.args);
        params.args = args.into_iter().map(|arg| by_length(signless(arg, schema), schema)).collect();
    }
    if let Some(condition) = &params.filter {
        must_be_boolean(condition, "FILTER", schema)?;
    }
    settle_function(&mut call.func, &mut params.args, params.distinct, schema)?;
    let changed = call != before;
    Ok(Transformed::new_transformed(Expr::AggregateFunction(call), changed))
}

/// An aggregate of groups or of windows.
///
/// # Errors
/// [`QueryError::NoSuchFunction`] for types that PostgreSQL has no such aggregate of.
pub(super) fn settle_function(
    function: &mut Arc<AggregateUDF>,
    args: &mut [Expr],
    distinct: bool,
    schema: &DFSchema,
) -> QueryResult<()> {
    match function.name() {
        "sum" => widen_sum(function, args, distinct, schema),
        "count" if args.len() > 1 => return Err(no_such_function("count", args, schema)),
        "string_agg" => refuse_listing(args, schema)?,
        name @ ("min" | "max") => refuse_unordered(name, args, schema)?,
        _ => {}
    }
    Ok(())
}

fn no_such_function(name: &str, args: &[Expr], schema: &DFSchema) -> QueryError {
    let names: Vec<String> = args.iter().map(|arg| Side::of(arg, schema).name()).collect();
    QueryError::NoSuchFunction { signature: format!("{name}({})", names.join(", ")) }
}

/// Only texts and bytes are strung together.
fn refuse_listing(args: &[Expr], schema: &DFSchema) -> QueryResult<()> {
    let other = |arg: &Expr| matches!(Side::of(arg, schema), Side::Known(ty) if !ty.is_text() && !ty.is_bytes());
    if args.iter().any(other) { Err(no_such_function("string_agg", args, schema)) } else { Ok(()) }
}

/// Types that have an order, and yet no largest value.
fn refuse_unordered(name: &str, args: &[Expr], schema: &DFSchema) -> QueryResult<()> {
    let [arg] = args else { return Ok(()) };
    match Side::of(arg, schema) {
        Side::Known(ty) if ty.is_bytes() || matches!(ty, DataType::Boolean | DataType::Uuid | DataType::Json) => {
            Err(QueryError::NoSuchFunction { signature: format!("{name}({})", ty.base_name()) })
        }
        _ => Ok(()),
    }
}

/// The sum of bigints is numeric: it may be larger than a bigint. Those of floats and of long numerics are our own.
fn widen_sum(function: &mut Arc<AggregateUDF>, args: &mut [Expr], distinct: bool, schema: &DFSchema) {
    let [arg] = args else { return };
    let Ok(ty) = arg.get_type(schema) else { return };
    match (&ty, functions::own_sum(&ty)) {
        (ArrowType::Int64, _) => *arg = cast(arg, ArrowType::Decimal128(19, 0)),
        (ArrowType::Decimal128(_, scale), Some(_)) if distinct => {
            *arg = cast(arg, ArrowType::Decimal256(NUMERIC_PRECISION, *scale));
        }
        (_, Some(sum)) => *function = sum,
        _ => {}
    }
}

fn cast(arg: &mut Expr, to: ArrowType) -> Expr {
    Expr::Cast(Cast::new(Box::new(std::mem::take(arg)), to))
}
