//! Operands of key conditions: constants, parameters, and a parameter plus a constant.

use crate::dml::{fits_exactly, same_family};
use crate::error::{EngineResult, Fault, fail};
use bind::tree::{Kind, Scalar};
use builtins::{FuncId, Ty};
use types::{DataType, Datum, TypeError};

/// The operand that a key column is compared with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Constant(Datum),
    /// `$n`, counted from 0.
    Param(usize),
    /// `$n + by`, a value of that integer type.
    Shifted {
        param: usize,
        by: i64,
        ty: DataType,
    },
}

impl Operand {
    /// The operand for a key column of type `ty`; `None`: the expression is not one of these.
    pub(super) fn of(ty: &DataType, value: &Scalar) -> Option<Self> {
        match &value.kind {
            Kind::Const(Datum::Null) => None,
            Kind::Const(datum) if ty.is_text() => Some(Self::Constant(datum.clone())),
            Kind::Const(datum) if ty.is_integer() || matches!(ty, DataType::Numeric(_)) => {
                fits_exactly(ty, datum.clone()).map(Self::Constant)
            }
            // Not rounded to the column's digits: a comparison may use a value that the column cannot hold.
            Kind::Const(datum) => Some(Self::Constant(datum.clone())),
            Kind::Param(id) => {
                let given = value.ty.data_type()?;
                same_family(&given, ty).then_some(Self::Param(usize::from(id.0)))
            }
            Kind::Call { func, args } if ty.is_integer() => shifted(*func, args, value.ty),
            _ => None,
        }
    }

    /// The value for these parameters; `None` is NULL.
    pub(super) fn value(&self, ty: &DataType, params: &[Datum]) -> EngineResult<Option<Datum>> {
        let param = |index: &usize| params.get(*index).ok_or(Fault::NoSuchParameter { number: index + 1 });
        match self {
            Self::Constant(value) => Ok(Some(value.clone())),
            Self::Param(index) => {
                let value = param(index)?;
                Ok((!value.is_null()).then(|| as_kept(ty, value.clone())))
            }
            Self::Shifted { param: index, by, ty } => match param(index)? {
                Datum::Null => Ok(None),
                value => shift(value, *by, ty).map(Some),
            },
        }
    }
}

/// `$n + 100`, `100 + $n`, `$n - 100`.
fn shifted(func: FuncId, args: &[Scalar], ty: Ty) -> Option<Operand> {
    let [left, right] = args else { return None };
    let negate = match builtins::function(func)?.name {
        "int4pl" | "int8pl" | "int48pl" | "int84pl" => false,
        "int4mi" | "int8mi" | "int84mi" => true,
        _ => return None,
    };
    let (param, by) = match (&left.kind, &right.kind) {
        (Kind::Param(param), Kind::Const(by)) => (param, by.as_i64()?),
        (Kind::Const(by), Kind::Param(param)) if !negate => (param, by.as_i64()?),
        _ => return None,
    };
    let by = if negate { by.checked_neg()? } else { by };
    Some(Operand::Shifted { param: usize::from(param.0), by, ty: ty.data_type()? })
}

fn shift(value: &Datum, by: i64, ty: &DataType) -> EngineResult<Datum> {
    let sum = value.as_i64().and_then(|value| value.checked_add(by));
    let sum = match ty {
        DataType::Integer => sum.and_then(|sum| i32::try_from(sum).ok()).map(Datum::Int4),
        _ => sum.map(Datum::Int8),
    };
    sum.ok_or_else(|| TypeError::OutOfRange { what: ty.sql_name() }.into())
}

/// The value as keys store it: char(n) without trailing blanks.
fn as_kept(ty: &DataType, value: Datum) -> Datum {
    match (ty, value) {
        (DataType::Char(_), Datum::Text(text)) => Datum::Text(text.trim_end_matches(' ').to_string()),
        (_, value) => value,
    }
}

/// LIMIT.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Limit {
    None,
    Rows(u64),
    /// `$n`, counted from 0.
    Param(usize),
}

impl Limit {
    /// The number of rows for these parameters; `u64::MAX` without a limit.
    pub(super) fn rows(&self, params: &[Datum]) -> EngineResult<u64> {
        let index = match self {
            Self::None => return Ok(u64::MAX),
            Self::Rows(rows) => return Ok(*rows),
            Self::Param(index) => *index,
        };
        match params.get(index) {
            None => fail(Fault::NoSuchParameter { number: index + 1 }),
            Some(Datum::Null) => Ok(u64::MAX),
            Some(value) => match value.as_i64().map(u64::try_from) {
                Some(Ok(rows)) => Ok(rows),
                _ => fail(Fault::NegativeLimit),
            },
        }
    }
}
