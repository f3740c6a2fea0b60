//! Aggregates in the types that PostgreSQL computes them in.

use super::interval_keys::{by_length, sorted_by_length};
use super::signless_zero::signless;
use crate::convert::NUMERIC_PRECISION;
use crate::functions;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{AggregateUDF, Cast, Expr, ExprSchemable};
use std::sync::Arc;

/// An aggregate of groups.
pub(super) fn represent_aggregate(mut call: AggregateFunction, schema: &DFSchema) -> Transformed<Expr> {
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
    represent_function(&mut call.func, &mut params.args, params.distinct, schema);
    let changed = call != before;
    Transformed::new_transformed(Expr::AggregateFunction(call), changed)
}

/// An aggregate of groups or of windows.
pub(super) fn represent_function(
    function: &mut Arc<AggregateUDF>,
    args: &mut [Expr],
    distinct: bool,
    schema: &DFSchema,
) {
    if function.name() == "sum" {
        widen_sum(function, args, distinct, schema);
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
