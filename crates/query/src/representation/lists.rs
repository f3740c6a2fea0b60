//! Comparisons with several values: IN, `= ANY` of a constant array.

use super::adapt::{self, Side};
use super::growth::copy;
use super::rows::join;
use super::signless_zero::{compared, zero};
use crate::convert::{datum_to_scalar, scalar_to_datum};
use crate::error::QueryResult;
use crate::functions;
use arrow::array::Array;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, Operator};
use types::{DataType, coerce};

/// `x = ANY (constant array)` as `x IN (...)`, of which key ranges are made, and `x <> ALL (...)` likewise.
///
/// # Errors
/// What taking the array apart gives.
pub(crate) fn in_list(call: &ScalarFunction) -> QueryResult<Option<Expr>> {
    let negated = match call.func.name() {
        "= any" => false,
        "<> all" => true,
        _ => return Ok(None),
    };
    let [value, Expr::Literal(ScalarValue::List(lists), _)] = call.args.as_slice() else { return Ok(None) };
    let items = lists.value(0);
    if items.is_empty() || matches!(items.data_type(), ArrowType::List(_)) || lists.is_null(0) {
        return Ok(None);
    }
    let item = |at| Ok(zero(Expr::Literal(ScalarValue::try_from_array(&items, at)?, None)));
    let list = (0..items.len()).map(item).collect::<Result<Vec<_>>>()?;
    Ok(Some(Expr::InList(InList::new(Box::new(value.clone()), list, negated))))
}

/// `IN` of several items.
///
/// # Errors
/// What is wrong with a constant; 54001 when the statement's budget is spent.
pub(super) fn represent_list(list: InList, schema: &DFSchema) -> QueryResult<Expr> {
    let InList { mut expr, list, negated } = list;
    let each = functions::compared_with_each(&expr).cloned();
    let with_each = each.is_some();
    if let Some(value) = each {
        *expr = value;
    }
    let op = if negated { Operator::NotEq } else { Operator::Eq };
    let mut pairs = Vec::with_capacity(list.len());
    let list = if with_each { reals(None, list, schema)? } else { reals(Some(&expr), list, schema)? };
    for mut item in list {
        let mut left = copy(&expr)?;
        adapt::compare(&mut left, &mut item, schema)?;
        pairs.push((left, item));
    }
    if Side::of(&expr, schema) == Side::Known(DataType::Interval) {
        let span = functions::interval_span;
        pairs = pairs.into_iter().map(|(left, item)| (span(left), span(item))).collect();
    }
    // Lists are looked up by bits.
    let pairs = pairs.into_iter().map(|(left, item)| (compared(left, schema), zero(compared(item, schema)))).collect();
    join(if negated { Operator::And } else { Operator::Or }, listed(pairs, op, negated))
}

/// Several items that no row changes are an array for PostgreSQL: of numbers beside a real one of reals. The value counts
/// among them; without one the items are an array as they stand.
fn reals(value: Option<&Expr>, mut list: Vec<Expr>, schema: &DFSchema) -> QueryResult<Vec<Expr>> {
    let known = |expr: &Expr| match Side::of(expr, schema) {
        Side::Known(ty) => Some(ty),
        _ => None,
    };
    let is_one = |item: &Expr| value.is_none() || !item.any_column_refs();
    let types: Vec<DataType> = list.iter().filter(|item| is_one(item)).chain(value).filter_map(known).collect();
    let real = |ty: &DataType| *ty == DataType::Real;
    let reals = types.iter().any(real) && types.iter().all(|ty| ty.is_number() && *ty != DataType::Double);
    if !reals || list.iter().filter(|item| is_one(item)).count() < 2 {
        return Ok(list);
    }
    for item in list.iter_mut().filter(|item| is_one(item)) {
        *item = match &*item {
            Expr::Literal(constant, _) if known(item).is_some() => {
                let single = coerce::cast(&DataType::Real, scalar_to_datum(constant)?)?;
                Expr::Literal(datum_to_scalar(&DataType::Real, &single)?, None)
            }
            item if known(item).is_some_and(|ty| !real(&ty)) => {
                Expr::Cast(Cast::new(Box::new(item.clone()), ArrowType::Float32))
            }
            item => item.clone(),
        };
    }
    Ok(list)
}

/// Items that each want the value in the same type stay a list; of those that are computed the planner would take
/// some for constants, so each is compared by itself.
fn listed(pairs: Vec<(Expr, Expr)>, op: Operator, negated: bool) -> Vec<Expr> {
    let mut lists: Vec<(Expr, Vec<Expr>)> = Vec::new();
    let mut compared = Vec::new();
    for (left, item) in pairs {
        if !is_plain(&item) {
            compared.push(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(item))));
            continue;
        }
        match lists.iter_mut().find(|(known, _)| *known == left) {
            Some((_, items)) => items.push(item),
            None => lists.push((left, vec![item])),
        }
    }
    let lists = lists.into_iter().map(|(left, items)| Expr::InList(InList::new(Box::new(left), items, negated)));
    lists.chain(compared).collect()
}

/// A column or what no row changes. Not a subquery: of a list that has nothing else the planner makes `IN (SELECT …)`,
/// for which no row is not NULL.
fn is_plain(item: &Expr) -> bool {
    match item {
        Expr::Column(_) | Expr::Literal(..) | Expr::Placeholder(_) => true,
        Expr::OuterReferenceColumn(..) => true,
        other => {
            !other.any_column_refs()
                && !other
                    .exists(|part| {
                        Ok(matches!(part, Expr::OuterReferenceColumn(..) | Expr::ScalarSubquery(_) | Expr::Case(_)))
                    })
                    .unwrap_or(true)
        }
    }
}
