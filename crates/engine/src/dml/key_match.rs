//! Recognizes conditions that name one full key, so that the statement finds its row without a plan.

use super::target::Target;
use crate::error::EngineResult;
use bind::tree::{CastVia, ColId, Kind, Scalar};
use builtins::comparison;
use store::Bytes;
use types::{CompareOp, DataType, Datum, coerce, compare};

/// The value of one key part.
#[derive(Clone, Debug)]
enum KeyValue {
    Constant(Datum),
    /// `$n`, counted from 0.
    Param(usize),
}

/// A full key: the values of its parts, in key order.
#[derive(Clone, Debug)]
pub(crate) struct KeyMatch {
    parts: Vec<KeyValue>,
}

impl KeyMatch {
    /// The rowkey for these parameters; `None` if no row can have it.
    pub(crate) fn key(&self, target: &Target, params: &[Datum]) -> EngineResult<Option<Bytes>> {
        let mut values = Vec::with_capacity(self.parts.len());
        for (value, at) in self.parts.iter().zip(target.codec.key_columns()) {
            let value = match value {
                KeyValue::Constant(value) => Some(value.clone()),
                KeyValue::Param(index) => {
                    target.column(*at).and_then(|column| fits_exactly(&column.ty, params.get(*index)?.clone()))
                }
            };
            match value {
                Some(value) => values.push(value),
                None => return Ok(None),
            }
        }
        Ok(target.codec.key_to_look_up(&values)?.map(Bytes::from))
    }
}

/// Splits conditions into the full key that they name and the remaining conditions; `None` if they name no full key.
/// `cols` are the columns of the target's row.
pub(crate) fn key_of<'c>(
    target: &Target,
    cols: &[(usize, ColId)],
    conditions: impl Iterator<Item = &'c Scalar>,
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
            // A second condition on the same column is a filter.
            _ => beside.push(condition),
        }
    }
    let parts: Option<Vec<KeyValue>> = parts.into_iter().collect();
    Some((KeyMatch { parts: parts? }, beside))
}

/// Matches `column = constant` and `column = $n`, in either order, if the types are of one family.
fn equality(target: &Target, cols: &[(usize, ColId)], condition: &Scalar) -> Option<(usize, KeyValue)> {
    let Kind::Call { func, args } = &condition.kind else { return None };
    let [left, right] = args.as_slice() else { return None };
    if comparison(*func) != Some(CompareOp::Eq) {
        return None;
    }
    let (at, value) = match (column_of(target, cols, left), column_of(target, cols, right)) {
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

/// The column that a side of a comparison references, also below a relabeling cast of text, which keeps the stored
/// value.
pub(crate) fn column_of(target: &Target, cols: &[(usize, ColId)], side: &Scalar) -> Option<usize> {
    match &side.kind {
        Kind::Col(col) => cols.iter().find(|(_, id)| *id == col.id).map(|(at, _)| *at),
        Kind::Cast { via: CastVia::Relabel, arg, .. } => {
            let at = column_of(target, cols, arg)?;
            target.column(at)?.ty.is_text().then_some(at)
        }
        _ => None,
    }
}

/// Whether values of the two types compare by their stored representation.
pub(crate) fn same_family(a: &DataType, b: &DataType) -> bool {
    (a.is_integer() && b.is_integer())
        || (a.is_text() && b.is_text())
        || (a.is_bytes() && b.is_bytes())
        || a.base_name() == b.base_name()
}

/// The value as the column stores it; `None` if storing it changes the value, so that no row has it.
pub(crate) fn fits_exactly(ty: &DataType, value: Datum) -> Option<Datum> {
    match value {
        Datum::Null => None,
        Datum::Text(value) if matches!(ty, DataType::Char(_)) => {
            Some(Datum::Text(value.trim_end_matches(' ').to_string()))
        }
        Datum::Text(_) if ty.is_text() => Some(value),
        Datum::Bytes(_) if matches!(ty, DataType::Bytea | DataType::Varbinary(_)) => Some(value),
        value => {
            let kept = coerce::assign(ty, value.clone()).ok()?;
            let same = match (&value, &kept) {
                // Numeric columns accept integer constants.
                (Datum::Numeric(_), _) | (_, Datum::Numeric(_)) => as_numeric(&value)? == as_numeric(&kept)?,
                (Datum::Int4(_) | Datum::Int8(_), Datum::Float8(_)) => true,
                _ => compare::compare(&value, &kept).is_eq(),
            };
            same.then_some(kept)
        }
    }
}

fn as_numeric(value: &Datum) -> Option<types::Decimal> {
    match coerce::assign(&DataType::Numeric(None), value.clone()).ok()? {
        Datum::Numeric(number) => Some(number),
        _ => None,
    }
}
