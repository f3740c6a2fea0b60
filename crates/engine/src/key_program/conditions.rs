//! Conditions on key columns.

use super::operand::Operand;
use crate::error::EngineResult;
use rowkey::range::Condition;
use types::{CompareOp, DataType, Datum, compare};

/// One condition on one part of the key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeyCondition {
    pub(super) part: usize,
    pub(super) ty: DataType,
    pub(super) test: Test,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    Compare(CompareOp, Operand),
    In(Vec<Operand>),
}

impl KeyCondition {
    /// Whether the condition limits the part to few values.
    pub(super) fn is_narrow(&self) -> bool {
        matches!(self.test, Test::In(_) | Test::Compare(CompareOp::Eq, _))
    }

    /// Whether the condition limits the part to one value.
    pub(super) fn is_equality(&self) -> bool {
        matches!(self.test, Test::Compare(CompareOp::Eq, _))
    }

    /// The condition with its values for these parameters.
    pub(super) fn bind(&self, params: &[Datum]) -> EngineResult<Condition> {
        match &self.test {
            Test::Compare(op, operand) => Ok(match operand.value(&self.ty, params)? {
                None => Condition::False,
                Some(value) => Condition::Compare { part: self.part, op: *op, value },
            }),
            Test::In(operands) => {
                let mut values = Vec::with_capacity(operands.len());
                for operand in operands {
                    // NULL in an IN list matches no row.
                    values.extend(operand.value(&self.ty, params)?);
                }
                Ok(Condition::In { part: self.part, values })
            }
        }
    }
}

/// Whether a value of the part satisfies the condition. For conditions that the key ranges do not cover exactly.
pub(super) fn holds(condition: &Condition, part_value: &Datum) -> bool {
    if part_value.is_null() {
        return false;
    }
    match condition {
        Condition::Compare { op, value, .. } => op.matches(compare::compare(part_value, value)),
        Condition::In { values, .. } => values.iter().any(|value| compare::compare(part_value, value).is_eq()),
        _ => false,
    }
}
