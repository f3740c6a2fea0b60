//! DataFusion's dynamic filters, built while a statement runs: join keys, bounds of a TopK.
//!
//! A hash join passes the keys of its build side down as `key IN (...)` or as bounds. On key columns they are
//! intersected with the key ranges, so that the probe side reads only the rows it needs. On other columns they drop
//! rows before these are decoded, see `row_checks`.

use crate::convert::expr_to_condition::compare_op;
use crate::convert::scalar::scalar_to_datum;
use crate::error::QueryResult;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, Column, DynamicFilterPhysicalExpr, InListExpr, Literal,
};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use rowkey::range::Condition;
use std::sync::Arc;
use types::{CompareOp, Datum};

/// The current conditions of the filters on key parts; `part_of` maps an output column to its key part.
pub(crate) fn conditions(
    filters: &[Arc<dyn PhysicalExpr>],
    part_of: &dyn Fn(usize) -> Option<usize>,
) -> Vec<Condition> {
    filters.iter().map(|filter| condition(filter, part_of)).filter(|found| *found != Condition::Unknown).collect()
}

/// A predicate over some columns.
pub(crate) struct Predicate {
    /// The output columns, in ascending order; column i of `expr` is the i-th of them.
    pub(crate) columns: Vec<usize>,
    pub(crate) expr: Arc<dyn PhysicalExpr>,
}

/// All filters as one predicate over the output columns they reference.
///
/// # Errors
/// Filters that cannot be rewritten.
pub(crate) fn predicate(filters: &[Arc<dyn PhysicalExpr>]) -> QueryResult<Option<Predicate>> {
    let Some(all) = filters.iter().cloned().reduce(|left, right| Arc::new(BinaryExpr::new(left, Operator::And, right)))
    else {
        return Ok(None);
    };
    let mut columns: Vec<usize> = collect_columns(&all).iter().map(Column::index).collect();
    columns.sort_unstable();
    let over_columns = all.transform_up(|expr| {
        let Some(column) = expr.downcast_ref::<Column>() else { return Ok(Transformed::no(expr)) };
        let place = columns.binary_search(&column.index()).unwrap_or_default();
        Ok(Transformed::yes(Arc::new(Column::new(column.name(), place)) as Arc<dyn PhysicalExpr>))
    })?;
    Ok(Some(Predicate { columns, expr: over_columns.data }))
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
    if let Some(case) = expr.downcast_ref::<CaseExpr>() {
        return from_case(case, part_of);
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
        op => compare_op(*op),
    };
    let Some(op) = op.filter(|op| *op != CompareOp::Ne) else { return Condition::Unknown };
    match (part(binary.left(), part_of), value(binary.right())) {
        (Some(part), Some(value)) => Condition::Compare { part, op, value },
        _ => Condition::Unknown,
    }
}

fn from_list(list: &InListExpr, part_of: &dyn Fn(usize) -> Option<usize>) -> Option<Condition> {
    if list.negated() {
        return None;
    }
    if let Some(rows) = from_rows(list, part_of) {
        return Some(rows);
    }
    let values: Option<Vec<Datum>> = list.list().iter().map(value).collect();
    let values = values?;
    Some(Condition::In { part: part(list.expr(), part_of)?, values })
}

/// The filter of a partitioned hash join: the row's hash selects one of several lists, so the union of all lists is
/// needed.
fn from_case(case: &CaseExpr, part_of: &dyn Fn(usize) -> Option<usize>) -> Condition {
    let branches = case.when_then_expr().iter().map(|(_, then)| then).chain(case.else_expr());
    Condition::Or(branches.map(|then| condition(then, part_of)).collect())
}

/// `struct(a, b) IN (...)`, the keys of a join on several columns. Columns outside the key are left out: the remaining
/// condition is weaker but still narrows the ranges.
fn from_rows(list: &InListExpr, part_of: &dyn Fn(usize) -> Option<usize>) -> Option<Condition> {
    let call = list.expr().downcast_ref::<ScalarFunctionExpr>().filter(|call| call.name() == "struct")?;
    let parts: Vec<Option<usize>> = call.args().iter().map(|arg| part(arg, part_of)).collect();
    let mut rows = Vec::with_capacity(list.list().len());
    for item in list.list() {
        let ScalarValue::Struct(row) = item.downcast_ref::<Literal>()?.value() else { return None };
        let wanted = row.columns().iter().zip(&parts).filter(|(_, part)| part.is_some());
        let values: Option<Vec<Datum>> = wanted
            .map(|(column, _)| {
                ScalarValue::try_from_array(column, 0).ok().and_then(|value| scalar_to_datum(&value).ok())
            })
            .collect();
        rows.push(values?);
    }
    let parts: Vec<usize> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then_some(Condition::RowIn { parts, rows })
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
