//! Filters that other operators make while a statement runs: join keys, bounds of a TopK.
//!
//! A hash join offers the keys of its build side as `key IN (...)` or as bounds. On key columns they are more ranges
//! to intersect with, so that a join reads the rows that it needs and no others.

use crate::convert::scalar::scalar_to_datum;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CastExpr, Column, DynamicFilterPhysicalExpr, InListExpr, Literal,
};
use rowkey::range::{CompareOp, Condition};
use std::sync::Arc;
use types::Datum;

/// What the filters say by now about key parts; `part_of` tells which part an output column is.
pub(crate) fn conditions(
    filters: &[Arc<dyn PhysicalExpr>],
    part_of: &dyn Fn(usize) -> Option<usize>,
) -> Vec<Condition> {
    filters.iter().map(|filter| condition(filter, part_of)).filter(|found| *found != Condition::Unknown).collect()
}

fn condition(expr: &Arc<dyn PhysicalExpr>, part_of: &dyn Fn(usize) -> Option<usize>) -> Condition {
    if let Some(dynamic) = expr.downcast_ref::<DynamicFilterPhysicalExpr>() {
        return dynamic.current().map_or(Condition::Unknown, |current| condition(&current, part_of));
    }
    if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
        return from_binary(binary, part_of);
    }
    if let Some(list) = expr.downcast_ref::<InListExpr>() {
        return from_list(list, part_of).unwrap_or(Condition::Unknown);
    }
    if let Some(literal) = expr.downcast_ref::<Literal>()
        && *literal.value() == ScalarValue::Boolean(Some(false))
    {
        return Condition::False;
    }
    Condition::Unknown
}

fn from_binary(binary: &BinaryExpr, part_of: &dyn Fn(usize) -> Option<usize>) -> Condition {
    let op = match binary.op() {
        Operator::And => {
            return Condition::And(vec![condition(binary.left(), part_of), condition(binary.right(), part_of)]);
        }
        Operator::Or => {
            return Condition::Or(vec![condition(binary.left(), part_of), condition(binary.right(), part_of)]);
        }
        Operator::Eq => CompareOp::Eq,
        Operator::Lt => CompareOp::Lt,
        Operator::LtEq => CompareOp::Le,
        Operator::Gt => CompareOp::Gt,
        Operator::GtEq => CompareOp::Ge,
        _ => return Condition::Unknown,
    };
    match (part(binary.left(), part_of), value(binary.right())) {
        (Some(part), Some(value)) => Condition::Compare { part, op, value },
        _ => Condition::Unknown,
    }
}

fn from_list(list: &InListExpr, part_of: &dyn Fn(usize) -> Option<usize>) -> Option<Condition> {
    if list.negated() {
        return None;
    }
    let values: Option<Vec<Datum>> = list.list().iter().map(value).collect();
    let values = values?;
    if let Some(part) = part(list.expr(), part_of) {
        return Some(Condition::In { part, values });
    }
    None
}

fn part(expr: &Arc<dyn PhysicalExpr>, part_of: &dyn Fn(usize) -> Option<usize>) -> Option<usize> {
    part_of(expr.downcast_ref::<Column>()?.index())
}

fn value(expr: &Arc<dyn PhysicalExpr>) -> Option<Datum> {
    if let Some(cast) = expr.downcast_ref::<CastExpr>() {
        let inner = cast.expr().downcast_ref::<Literal>()?.value().cast_to(cast.cast_type()).ok()?;
        return scalar_to_datum(&inner).ok();
    }
    scalar_to_datum(expr.downcast_ref::<Literal>()?.value()).ok()
}
