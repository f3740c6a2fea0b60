//! WHERE as conditions on key columns.

use super::operand::Operand;
use crate::dml::{ParamTypes, Target, column_at, conjuncts};
use crate::error::EngineResult;
use rowkey::range::{CompareOp, Condition};
use sql::ast::{BinaryOperator, Expr};
use std::cmp::Ordering;
use types::{DataType, Datum, compare};

/// One condition on one part of the key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeyCondition {
    pub(super) part: usize,
    ty: DataType,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    Compare(CompareOp, Operand),
    In(Vec<Operand>),
}

impl KeyCondition {
    /// Reads a conjunction. `None`: there is more in it than conditions on key columns.
    pub(super) fn all(
        target: &Target,
        alias: &str,
        selection: Option<&Expr>,
        params: &mut ParamTypes,
    ) -> EngineResult<Option<Vec<Self>>> {
        let mut list = Vec::new();
        let mut parts = Vec::new();
        if let Some(selection) = selection {
            conjuncts(selection, &mut parts);
        }
        for expr in parts {
            let read = match expr {
                Expr::BinaryOp { left, op, right } => {
                    Self::comparison(target, alias, (left, op, right), params)?.map(|one| vec![one])
                }
                Expr::InList { expr, list, negated: false } => {
                    Self::in_list(target, alias, expr, list, params)?.map(|one| vec![one])
                }
                Expr::Between { expr, negated: false, low, high } => {
                    let low = Self::comparison(target, alias, (expr, &BinaryOperator::GtEq, low), params)?;
                    let high = Self::comparison(target, alias, (expr, &BinaryOperator::LtEq, high), params)?;
                    low.zip(high).map(|(low, high)| vec![low, high])
                }
                _ => None,
            };
            match read {
                Some(conditions) => list.extend(conditions),
                None => return Ok(None),
            }
        }
        Ok(Some(list))
    }

    fn comparison(
        target: &Target,
        alias: &str,
        (left, op, right): (&Expr, &BinaryOperator, &Expr),
        params: &mut ParamTypes,
    ) -> EngineResult<Option<Self>> {
        let Some(op) = operator(op) else { return Ok(None) };
        let (at, op, value) = match (column_at(target, alias, left), column_at(target, alias, right)) {
            (Some(at), None) => (at, op, right),
            (None, Some(at)) => (at, mirrored(op), left),
            _ => return Ok(None),
        };
        let Some((part, ty)) = key_part(target, at) else { return Ok(None) };
        let operand = Operand::compile(target, at, value, params)?;
        Ok(operand.map(|operand| Self { part, ty, test: Test::Compare(op, operand) }))
    }

    fn in_list(
        target: &Target,
        alias: &str,
        expr: &Expr,
        list: &[Expr],
        params: &mut ParamTypes,
    ) -> EngineResult<Option<Self>> {
        let Some(at) = column_at(target, alias, expr) else { return Ok(None) };
        let Some((part, ty)) = key_part(target, at) else { return Ok(None) };
        let mut values = Vec::with_capacity(list.len());
        for value in list {
            match Operand::compile(target, at, value, params)? {
                Some(operand) => values.push(operand),
                None => return Ok(None),
            }
        }
        Ok(Some(Self { part, ty, test: Test::In(values) }))
    }

    /// Does it leave the part but a few values?
    pub(super) fn is_narrow(&self) -> bool {
        matches!(self.test, Test::In(_) | Test::Compare(CompareOp::Eq, _))
    }

    /// Does it leave the part one value?
    pub(super) fn is_equality(&self) -> bool {
        matches!(self.test, Test::Compare(CompareOp::Eq, _))
    }

    /// The condition with its values now.
    pub(super) fn bind(&self, params: &[Datum]) -> EngineResult<Condition> {
        match &self.test {
            Test::Compare(op, operand) => Ok(match operand.value(&self.ty, params)? {
                None => Condition::False,
                Some(value) => Condition::Compare { part: self.part, op: *op, value },
            }),
            Test::In(operands) => {
                let mut values = Vec::with_capacity(operands.len());
                for operand in operands {
                    // NULL in a list makes nothing true.
                    values.extend(operand.value(&self.ty, params)?);
                }
                Ok(Condition::In { part: self.part, values })
            }
        }
    }
}

/// Does a value of the part satisfy the condition? For conditions that the ranges do not cover exactly.
pub(super) fn holds(condition: &Condition, part_value: &Datum) -> bool {
    if part_value.is_null() {
        return false;
    }
    match condition {
        Condition::Compare { op, value, .. } => {
            let order = compare::compare(part_value, value);
            match op {
                CompareOp::Eq => order == Ordering::Equal,
                CompareOp::Ne => order != Ordering::Equal,
                CompareOp::Lt => order == Ordering::Less,
                CompareOp::Le => order != Ordering::Greater,
                CompareOp::Gt => order == Ordering::Greater,
                CompareOp::Ge => order != Ordering::Less,
            }
        }
        Condition::In { values, .. } => values.iter().any(|value| compare::compare(part_value, value).is_eq()),
        _ => false,
    }
}

/// Which part of the key a column is, and its type.
fn key_part(target: &Target, at: usize) -> Option<(usize, DataType)> {
    let part = target.codec.key_columns().iter().position(|column| *column == at)?;
    Some((part, target.column(at)?.ty))
}

fn operator(op: &BinaryOperator) -> Option<CompareOp> {
    Some(match op {
        BinaryOperator::Eq => CompareOp::Eq,
        BinaryOperator::Lt => CompareOp::Lt,
        BinaryOperator::LtEq => CompareOp::Le,
        BinaryOperator::Gt => CompareOp::Gt,
        BinaryOperator::GtEq => CompareOp::Ge,
        _ => return None,
    })
}

/// The operator with its sides changed.
fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        same @ (CompareOp::Eq | CompareOp::Ne) => same,
    }
}
