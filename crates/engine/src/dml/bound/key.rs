//! Do conditions name one full key? Then the statement needs no plan to find its row.

use crate::dml::key_match::{KeyMatch, KeyValue, fits_exactly, same_family};
use crate::dml::target::Target;
use bind::tree::{ColId, Kind, Scalar};
use builtins::{Comparison, comparison};
use types::DataType;

/// The key, and the conditions beside it; `None`: not a full key.
pub(super) fn key_of<'c>(
    target: &Target,
    cols: &[(usize, ColId)],
    conditions: &'c [Scalar],
) -> Option<(KeyMatch, Vec<&'c Scalar>)> {
    let key = target.codec.key_columns();
    let mut parts: Vec<Option<KeyValue>> = vec![None; key.len()];
    let mut beside = Vec::new();
    for condition in conditions {
        let found = equality(target, cols, condition);
        let slot = found.and_then(|(at, value)| {
            let part = key.iter().position(|column| *column == at)?;
            Some((parts.get_mut(part)?, value))
        });
        match slot {
            Some((slot @ None, value)) => *slot = Some(value),
            // Twice the same column: one is a condition like others.
            _ => beside.push(condition),
        }
    }
    let parts: Option<Vec<KeyValue>> = parts.into_iter().collect();
    Some((KeyMatch::of_parts(parts?), beside))
}

/// `column = constant` or the other way round, of one type.
fn equality(target: &Target, cols: &[(usize, ColId)], condition: &Scalar) -> Option<(usize, KeyValue)> {
    let Kind::Call { func, args } = &condition.kind else { return None };
    let [left, right] = args.as_slice() else { return None };
    if comparison(*func) != Some(Comparison::Equal) {
        return None;
    }
    let ordinal = |side: &Scalar| match &side.kind {
        Kind::Col(col) => cols.iter().find(|(_, id)| *id == col.id).map(|(at, _)| *at),
        _ => None,
    };
    let (at, value) = match (ordinal(left), ordinal(right)) {
        (Some(at), None) => (at, right),
        (None, Some(at)) => (at, left),
        _ => return None,
    };
    let (column, given) = (target.column(at)?, value.ty.data_type()?);
    // PostgreSQL compares a real with other floats in double precision.
    if !same_family(&given, &column.ty) || column.ty == DataType::Real {
        return None;
    }
    match &value.kind {
        Kind::Const(datum) => fits_exactly(&column.ty, datum.clone()).map(|datum| (at, KeyValue::Constant(datum))),
        Kind::Param(id) => Some((at, KeyValue::Param(usize::from(id.0)))),
        _ => None,
    }
}
