//! Compiles bound queries to key programs: columns of one table, conditions on its key, the key's order, a limit. All
//! other queries have no key program.

use super::conditions::{KeyCondition, Test};
use super::operand::{Limit, Operand};
use super::order::Order;
use super::{Compiled, KeyProgram, PointSelect, RangeSelect};
use crate::ColumnDesc;
use crate::dml::{Target, column_of, key_of};
use crate::error::EngineResult;
use bind::tree::{Body, Bound, ColId, Key, Kind, Output, Rel, Scalar};
use builtins::{TimeZone, comparison};
use catalog::{Catalog, Table};
use std::sync::Arc;
use types::{CompareOp, DataType, Datum};

/// The parts of a query that may become a key program.
struct Shape<'b> {
    table: &'b Arc<Table>,
    cols: &'b [(usize, ColId)],
    conditions: Vec<&'b Scalar>,
    order: &'b [Key],
    limit: Option<&'b Scalar>,
}

/// Compiles the query to a key program; `None`: the query is not of this shape, or may have many rows.
///
/// # Errors
/// An invalid table definition.
pub(crate) fn compile(catalog: &Catalog, bound: &Bound, zone: TimeZone) -> EngineResult<Option<Compiled>> {
    let Body::Query(query) = &bound.body else { return Ok(None) };
    let Some(shape) = Shape::of(&query.rel).filter(|_| query.ctes.is_empty()) else { return Ok(None) };
    // A plan reports that the materialized view is not populated.
    if shape.table.is_unpopulated() {
        return Ok(None);
    }
    let Some(wanted) = query.outputs.iter().map(|output| shape.column(output.col)).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let target = Target::new(catalog, shape.table, zone)?;
    let columns = columns(&target, &wanted, &query.outputs);
    if shape.order.is_empty()
        && shape.limit.is_none()
        && let Some((key, beside)) = key_of(&target, shape.cols, shape.conditions.iter().copied())
        && beside.is_empty()
    {
        let program = KeyProgram::Point(Box::new(PointSelect::new(target, key, wanted)));
        return Ok(Some(Compiled { program, columns }));
    }
    let Some(conditions) = shape.key_conditions(&target) else { return Ok(None) };
    let keys = shape.order.iter().map(|key| Some((shape.column(key.col)?, key))).collect::<Option<Vec<_>>>();
    let Some(order) = keys.and_then(|keys| Order::of_keys(&target, &keys, &conditions)) else { return Ok(None) };
    let Some(limit) = shape.limit() else { return Ok(None) };
    let program = RangeSelect::new(target, conditions, order, limit, &wanted)?;
    Ok(program.is_short().then(|| Compiled { program: KeyProgram::Range(Arc::new(program)), columns }))
}

fn columns(target: &Target, wanted: &[usize], outputs: &[Output]) -> Vec<ColumnDesc> {
    let described = wanted.iter().map(|at| target.describe(*at));
    described.zip(outputs).map(|(column, output)| ColumnDesc { name: output.name.clone(), ..column }).collect()
}

impl<'b> Shape<'b> {
    fn of(rel: &'b Rel) -> Option<Self> {
        match rel {
            Rel::Limit { input, offset: None, count, ties } if ties.is_empty() => {
                let shape = Self::of(input).filter(|shape| shape.limit.is_none())?;
                Some(Self { limit: count.as_ref(), ..shape })
            }
            Rel::Sort { input, keys } => {
                let shape = Self::of(input).filter(|shape| shape.order.is_empty() && shape.limit.is_none())?;
                Some(Self { order: keys, ..shape })
            }
            Rel::Filter { input, all } => {
                let mut shape = Self::of(input).filter(|shape| shape.order.is_empty() && shape.limit.is_none())?;
                shape.conditions.extend(all);
                Some(shape)
            }
            Rel::Scan { table, cols, .. } => {
                Some(Self { table, cols, conditions: Vec::new(), order: &[], limit: None })
            }
            _ => None,
        }
    }

    /// Position of a column in the table.
    fn column(&self, col: ColId) -> Option<usize> {
        self.cols.iter().find(|(_, id)| *id == col).map(|(at, _)| *at)
    }

    /// The conditions; `None` if one of them is not on a part of the key.
    fn key_conditions(&self, target: &Target) -> Option<Vec<KeyCondition>> {
        let mut all = Vec::with_capacity(self.conditions.len());
        for condition in &self.conditions {
            self.add_condition(target, condition, &mut all)?;
        }
        Some(all)
    }

    fn add_condition(&self, target: &Target, condition: &Scalar, all: &mut Vec<KeyCondition>) -> Option<()> {
        match &condition.kind {
            Kind::And(parts) => parts.iter().try_for_each(|part| self.add_condition(target, part, all)),
            Kind::Call { func, args } => {
                let [left, right] = args.as_slice() else { return None };
                let op = comparison(*func).filter(|op| *op != CompareOp::Ne)?;
                let (at, op, value) = match (column_of(target, self.cols, left), column_of(target, self.cols, right)) {
                    (Some(at), None) => (at, op, right),
                    (None, Some(at)) => (at, op.swapped(), left),
                    _ => return None,
                };
                let (part, ty) = key_part(target, at)?;
                let operand = Operand::of(&ty, value)?;
                all.push(KeyCondition { part, ty, test: Test::Compare(op, operand) });
                Some(())
            }
            Kind::InList { eq, arg, list, negated: false } if comparison(*eq) == Some(CompareOp::Eq) => {
                let (part, ty) = key_part(target, column_of(target, self.cols, arg)?)?;
                let values = list.iter().map(|value| Operand::of(&ty, value)).collect::<Option<Vec<_>>>()?;
                all.push(KeyCondition { part, ty, test: Test::In(values) });
                Some(())
            }
            _ => None,
        }
    }

    fn limit(&self) -> Option<Limit> {
        match self.limit.map(|limit| &widened(limit).kind) {
            None | Some(Kind::Const(Datum::Null)) => Some(Limit::None),
            Some(Kind::Const(Datum::Int4(rows))) => u64::try_from(*rows).ok().map(Limit::Rows),
            Some(Kind::Const(Datum::Int8(rows))) => u64::try_from(*rows).ok().map(Limit::Rows),
            Some(Kind::Param(id)) => Some(Limit::Param(usize::from(id.0))),
            Some(_) => None,
        }
    }
}

/// The integer constant below a cast to bigint; any other count as it is.
fn widened(count: &Scalar) -> &Scalar {
    match &count.kind {
        Kind::Cast { arg, .. } if matches!(arg.kind, Kind::Const(Datum::Int4(_))) => arg,
        _ => count,
    }
}

/// The position of a column in the key, and its type. `None` for floats, of which equal values have several
/// encodings.
fn key_part(target: &Target, at: usize) -> Option<(usize, DataType)> {
    let part = target.codec.key_columns().iter().position(|column| *column == at)?;
    let ty = target.column(at)?.ty;
    (!matches!(ty, DataType::Real | DataType::Double)).then_some((part, ty))
}
