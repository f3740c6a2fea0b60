//! Does a WHERE name one full key? Then the statement needs no plan to find its row.

use super::literal::{Literal, literal, number_datum, read_text};
use super::params::ParamTypes;
use super::target::Target;
use crate::error::EngineResult;
use crate::settings::TimeZone;
use sql::ast::{BinaryOperator, Expr, Ident};
use store::Bytes;
use types::{DataType, Datum, coerce, compare};

/// One part of a full key.
#[derive(Clone, Debug)]
pub(crate) enum KeyValue {
    Constant(Datum),
    /// `$n`, counted from 0.
    Param(usize),
}

/// A full key in key order, and the conditions beside it.
#[derive(Clone, Debug)]
pub(crate) struct KeyMatch {
    parts: Vec<KeyValue>,
    pub(crate) residual: Vec<Expr>,
}

impl KeyMatch {
    /// A key whose parts are all known, in key order.
    pub(super) fn of_parts(parts: Vec<KeyValue>) -> Self {
        Self { parts, residual: Vec::new() }
    }

    /// Reads `a = 1 AND b = $2 AND …`. `None`: not a full key.
    pub(crate) fn find(
        target: &Target,
        alias: &str,
        selection: Option<&Expr>,
        params: &mut ParamTypes,
    ) -> EngineResult<Option<Self>> {
        let Some(selection) = selection else { return Ok(None) };
        let mut conditions = Vec::new();
        conjuncts(selection, &mut conditions);
        let key = target.codec.key_columns();
        let mut parts: Vec<Option<KeyValue>> = vec![None; key.len()];
        let mut residual = Vec::new();
        for condition in conditions {
            let found = equality(target, alias, condition, params)?;
            let place = found.and_then(|(at, value)| Some((key.iter().position(|column| *column == at)?, value)));
            match place {
                Some((part, value)) => match parts.get_mut(part) {
                    Some(slot @ None) => *slot = Some(value),
                    // Twice the same column: one is a condition like others.
                    _ => residual.push(condition.clone()),
                },
                None => residual.push(condition.clone()),
            }
        }
        let parts: Option<Vec<KeyValue>> = parts.into_iter().collect();
        let Some(parts) = parts else { return Ok(None) };
        for (value, at) in parts.iter().zip(key) {
            if let (KeyValue::Param(index), Some(column)) = (value, target.column(*at)) {
                params.note(*index, column.ty);
            }
        }
        Ok(Some(Self { parts, residual }))
    }

    /// The rowkey for these parameters; `None`: no row can have it.
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
        let mut key = Vec::with_capacity(32);
        target.codec.encode_key_values(&values, &mut key)?;
        Ok(Some(key.into()))
    }
}

/// The parts of a conjunction.
pub(crate) fn conjuncts<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    match expr {
        Expr::Nested(inner) => conjuncts(inner, out),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            conjuncts(left, out);
            conjuncts(right, out);
        }
        other => out.push(other),
    }
}

/// `column = constant` or the other way round, where both mean the same type.
fn equality(target: &Target, alias: &str, expr: &Expr, params: &ParamTypes) -> EngineResult<Option<(usize, KeyValue)>> {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = expr else { return Ok(None) };
    let sides = match (column_at(target, alias, left), column_at(target, alias, right)) {
        (Some(at), None) => Some((at, right)),
        (None, Some(at)) => Some((at, left)),
        _ => None,
    };
    let Some((at, value)) = sides else { return Ok(None) };
    let (Some(column), Some(value)) = (target.column(at), literal(value)) else { return Ok(None) };
    Ok(key_value(&column.ty, &value, params, target.zone)?.map(|value| (at, value)))
}

/// The column that an expression names.
pub(crate) fn column_at(target: &Target, alias: &str, expr: &Expr) -> Option<usize> {
    let name = match expr {
        Expr::Nested(inner) => return column_at(target, alias, inner),
        Expr::Identifier(name) => name,
        Expr::CompoundIdentifier(names) => match names.as_slice() {
            [table, name] if folded(table) == alias => name,
            _ => return None,
        },
        _ => return None,
    };
    let name = folded(name);
    target.table.columns.iter().position(|column| !column.hidden && column.name == name)
}

/// A name as the catalog has it.
pub(crate) fn folded(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { types::ident::fold(&name.value) }
}

/// A value that a key column is compared with, if the comparison is one of the column's own type.
fn key_value(
    ty: &DataType,
    value: &Literal<'_>,
    params: &ParamTypes,
    zone: TimeZone,
) -> EngineResult<Option<KeyValue>> {
    let constant = |value: Option<Datum>| Ok(value.map(KeyValue::Constant));
    match value {
        Literal::Null => Ok(None),
        Literal::Param(index) => {
            let declared = params.known().get(*index).copied().flatten();
            let same = declared.is_none_or(|declared| same_family(&declared, ty));
            Ok(same.then_some(KeyValue::Param(*index)))
        }
        Literal::Bool(value) => constant((*ty == DataType::Boolean).then_some(Datum::Bool(*value))),
        Literal::Text(value) if ty.is_text() => constant(fits_exactly(ty, Datum::Text((*value).to_string()))),
        Literal::Text(value) => constant(fits_exactly(ty, read_text(&ty.unlimited(), value, zone)?)),
        // PostgreSQL compares a real with a numeric constant in double precision.
        Literal::Number(_) if *ty == DataType::Real => Ok(None),
        Literal::Number(number) if ty.is_number() => constant(fits_exactly(ty, number_datum(number)?)),
        Literal::Number(_) => Ok(None),
    }
}

pub(super) fn same_family(a: &DataType, b: &DataType) -> bool {
    (a.is_integer() && b.is_integer())
        || (a.is_text() && b.is_text())
        || (a.is_bytes() && b.is_bytes())
        || a.base_name() == b.base_name()
}

/// The value as the column would keep it, if that is the same value: else no row has it.
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
                // Integer constants on numeric columns.
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
