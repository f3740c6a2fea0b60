//! Types of the columns of operators that have some of their own: `char(n)`, `oid` and their like through aggregates,
//! windows, UNION; numbers of rows.
//!
//! Arrow has one type for all texts, and a `char(n)` is kept without its blanks: which text type a column is of says
//! its field, and the planner's operators drop that or keep one of two. The same goes for what is an `oid`. Their counts
//! of rows are unsigned, which SQL has no type for.

use super::adapt::Side;
use super::united_columns::unite;
use crate::convert::{arrow_type, sql_type_of};
use crate::functions::{labelled, postgres_cast};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::functions::string::rtrim;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Cast, Expr, LogicalPlan, LogicalPlanBuilder, Union};
use std::sync::Arc;
use types::{DataType, ElementType};

/// Aggregates and window functions whose value is one of their argument's.
const PICKS: [&str; 7] = ["min", "max", "first_value", "last_value", "nth_value", "lag", "lead"];

/// Says of the columns of an aggregate or window, and of a UNION for `char(n)`, which are of such a type, and makes
/// bigints of the numbers that `row_number` and its like give.
///
/// # Errors
/// None of a plan that the planner made.
pub(super) fn keep_types(node: LogicalPlan) -> Result<LogicalPlan> {
    let picked = match &node {
        LogicalPlan::Aggregate(aggregate) => {
            named_of(&aggregate.aggr_expr, &aggregate.schema, &merge_schema(&node.inputs()))
        }
        LogicalPlan::Window(window) => {
            let named = named_of(&window.window_expr, &window.schema, &merge_schema(&node.inputs()));
            named.into_iter().chain(counts(&window.schema)).collect()
        }
        LogicalPlan::Union(_) => return united(node),
        _ => return Ok(node),
    };
    if picked.is_empty() {
        return Ok(node);
    }
    let columns = node.schema().columns().into_iter().enumerate().map(|(at, column)| {
        match picked.iter().find(|(place, _)| *place == at) {
            Some((_, ty)) => relabelled(column, *ty),
            None => Expr::Column(column),
        }
    });
    let columns: Vec<Expr> = columns.collect();
    LogicalPlanBuilder::from(node).project(columns)?.build()
}

fn relabelled(column: Column, ty: DataType) -> Expr {
    let value = Expr::Column(column.clone());
    let value = match ty {
        DataType::BigInt => Expr::Cast(Cast::new(Box::new(value), arrow_type(&ty))),
        ty => labelled(value, ty),
    };
    value.alias_qualified(column.relation, column.name)
}

/// Places of unsigned numbers.
fn counts(schema: &DFSchema) -> impl Iterator<Item = (usize, DataType)> {
    let unsigned = schema.fields().iter().enumerate().filter(|(_, field)| field.data_type() == &ArrowType::UInt64);
    unsigned.map(|(at, _)| (at, DataType::BigInt))
}

/// Places among the node's columns, and types: the expressions' columns are the last.
fn named_of(exprs: &[Expr], own: &DFSchema, input: &DFSchema) -> Vec<(usize, DataType)> {
    let first = own.fields().len().saturating_sub(exprs.len());
    let ty = |expr: &Expr| match Side::of(picked(expr)?, input) {
        Side::Known(own) => Some(if is_array_agg(expr) { DataType::Array(ElementType::of(&own)?) } else { own }),
        _ => None,
    };
    let wanted = exprs.iter().map(|expr| ty(expr).filter(needs_name)).enumerate();
    wanted.filter_map(|(at, ty)| Some((first + at, ty?))).collect()
}

/// Is it a type that its Arrow type does not tell, and that the value of an expression may have?
pub(super) fn needs_name(ty: &DataType) -> bool {
    matches!(
        ty,
        DataType::Char(_) | DataType::Oid | DataType::Json | DataType::Array(ElementType::Oid | ElementType::Varchar)
    )
}

fn is_array_agg(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => is_array_agg(&alias.expr),
        Expr::AggregateFunction(call) => call.func.name() == "array_agg",
        _ => false,
    }
}

/// The argument whose value, or array of values, is the expression's.
fn picked(expr: &Expr) -> Option<&Expr> {
    let (name, args) = match expr {
        Expr::Alias(alias) => return picked(&alias.expr),
        Expr::AggregateFunction(call) => (call.func.name(), &call.params.args),
        Expr::WindowFunction(call) => (call.fun.name(), &call.params.args),
        _ => return None,
    };
    args.first().filter(|_| PICKS.contains(&name) || is_array_agg(expr))
}

/// The first side's type is the column's, as far as there is a `char(n)` in it.
fn united(node: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Union(union) = node else { return Ok(node) };
    let union = unite(union)?;
    let wanted: Vec<Option<DataType>> =
        (0..union.schema.fields().len()).map(|at| united_type(&types_at(&union, at))).collect();
    if wanted.iter().all(Option::is_none) {
        return LogicalPlan::Union(union).recompute_schema();
    }
    let inputs = union.inputs.into_iter().map(|input| fitted(input, &wanted)).collect::<Result<Vec<_>>>()?;
    LogicalPlan::Union(Union { inputs, schema: union.schema }).recompute_schema()
}

fn types_at(union: &Union, at: usize) -> Vec<Option<DataType>> {
    union.inputs.iter().map(|input| sql_type_of(input.schema().field(at))).collect()
}

/// `None` where there is nothing to do.
fn united_type(types: &[Option<DataType>]) -> Option<DataType> {
    let lengths = types.iter().filter_map(|ty| match ty {
        Some(DataType::Char(length)) => Some(*length),
        _ => None,
    });
    let longest = lengths.max()?;
    let one = types.iter().all(|ty| *ty == Some(DataType::Char(longest)));
    match types.first() {
        _ if one => None,
        Some(Some(DataType::Char(_))) => Some(DataType::Char(longest)),
        _ => Some(DataType::Text),
    }
}

fn fitted(input: Arc<LogicalPlan>, wanted: &[Option<DataType>]) -> Result<Arc<LogicalPlan>> {
    let schema = Arc::clone(input.schema());
    let columns =
        schema.columns().into_iter().zip(schema.fields()).zip(wanted).map(|((column, field), wanted)| {
            match (wanted, sql_type_of(field)) {
                (None, _) => Expr::Column(column),
                (Some(ty @ DataType::Char(_)), Some(DataType::Char(_))) => relabelled(column, *ty),
                (Some(ty @ DataType::Char(_)), _) => {
                    let trimmed = rtrim().call(vec![Expr::Column(column.clone())]);
                    labelled(trimmed, *ty).alias_qualified(column.relation, column.name)
                }
                (Some(ty), _) => {
                    let value = Expr::Column(column.clone());
                    let cast = postgres_cast(&value, field, ty).unwrap_or(value);
                    cast.alias_qualified(column.relation, column.name)
                }
            }
        });
    let columns: Vec<Expr> = columns.collect();
    Ok(Arc::new(LogicalPlanBuilder::from(input).project(columns)?.build()?))
}
