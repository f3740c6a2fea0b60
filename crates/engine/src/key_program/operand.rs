//! Values of a key program: constants, parameters, and parameters with a constant added.

use crate::dml::{Literal, ParamTypes, Target, fits_exactly, literal, number_datum, read_text};
use crate::error::{EngineResult, Fault, fail};
use sql::ast::{BinaryOperator, Expr};
use types::{DataType, Datum, TypeError};

/// What a key column is compared with.
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
    /// Reads an expression that is compared with column `at`. `None`: it is none of these, or the comparison is
    /// not one of the column's own type.
    pub(super) fn compile(
        target: &Target,
        at: usize,
        expr: &Expr,
        params: &mut ParamTypes,
    ) -> EngineResult<Option<Self>> {
        let Some(column) = target.column(at) else { return Ok(None) };
        let ty = column.ty;
        match literal(expr) {
            None if ty.is_integer() => shifted(expr, params),
            None | Some(Literal::Null) => Ok(None),
            Some(Literal::Param(index)) => Ok(param(&ty, index, params)),
            Some(Literal::Text(text)) if ty.is_text() => {
                Ok(Some(Self::Constant(as_kept(&ty, Datum::Text(text.to_string())))))
            }
            // Not rounded to the column's digits: it need not be a value of the column.
            Some(Literal::Text(text)) => Ok(Some(Self::Constant(read_text(&ty.unlimited(), text, target.zone)?))),
            Some(Literal::Bool(value)) if ty == DataType::Boolean => Ok(Some(Self::Constant(Datum::Bool(value)))),
            Some(Literal::Number(number)) if ty.is_integer() || matches!(ty, DataType::Numeric(_)) => {
                Ok(fits_exactly(&ty, number_datum(&number)?).map(Self::Constant))
            }
            Some(Literal::Number(_) | Literal::Bool(_)) => Ok(None),
        }
    }

    /// The value now; `None` is NULL.
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

/// A parameter in the place of a value that is compared with a column of type `ty`.
fn param(ty: &DataType, index: usize, params: &mut ParamTypes) -> Option<Operand> {
    let same = match params.known().get(index).copied().flatten() {
        None => !matches!(ty, DataType::Real | DataType::Double),
        Some(declared) => {
            (declared.is_integer() && ty.is_integer())
                || (declared.is_text() && ty.is_text())
                || (declared.is_bytes() && ty.is_bytes())
                || (declared.base_name() == ty.base_name() && !matches!(ty, DataType::Real | DataType::Double))
        }
    };
    if !same {
        return None;
    }
    params.note(index, *ty);
    Some(Operand::Param(index))
}

/// `$n + 100`, `100 + $n`, `$n - 100`. As in PostgreSQL a parameter without a type has that of the constant.
fn shifted(expr: &Expr, params: &mut ParamTypes) -> EngineResult<Option<Operand>> {
    let (left, op, right) = match expr {
        Expr::Nested(inner) => return shifted(inner, params),
        Expr::BinaryOp { left, op, right } => (literal(left), op, literal(right)),
        _ => return Ok(None),
    };
    let (param, number, negate) = match (left, op, right) {
        (Some(Literal::Param(param)), BinaryOperator::Plus, Some(Literal::Number(number)))
        | (Some(Literal::Number(number)), BinaryOperator::Plus, Some(Literal::Param(param))) => (param, number, false),
        (Some(Literal::Param(param)), BinaryOperator::Minus, Some(Literal::Number(number))) => (param, number, true),
        _ => return Ok(None),
    };
    let (by, own) = match number_datum(&number)? {
        Datum::Int4(value) => (i64::from(value), DataType::Integer),
        Datum::Int8(value) => (value, DataType::BigInt),
        _ => return Ok(None),
    };
    let declared = params.known().get(param).copied().flatten();
    if !declared.is_none_or(|declared| declared.is_integer()) {
        return Ok(None);
    }
    let wide = own == DataType::BigInt || declared == Some(DataType::BigInt);
    params.note(param, own);
    let by = if negate { by.checked_neg() } else { Some(by) };
    let ty = if wide { DataType::BigInt } else { DataType::Integer };
    Ok(by.map(|by| Operand::Shifted { param, by, ty }))
}

fn shift(value: &Datum, by: i64, ty: &DataType) -> EngineResult<Datum> {
    let sum = value.as_i64().and_then(|value| value.checked_add(by));
    let sum = match ty {
        DataType::Integer => sum.and_then(|sum| i32::try_from(sum).ok()).map(Datum::Int4),
        _ => sum.map(Datum::Int8),
    };
    sum.ok_or_else(|| TypeError::OutOfRange { what: ty.sql_name() }.into())
}

/// The value as keys hold it: char(n) has no blanks at its end.
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
    /// Reads what stands behind LIMIT. `None`: something else than a number or a parameter.
    pub(super) fn compile(expr: Option<&Expr>, params: &mut ParamTypes) -> Option<Self> {
        let Some(expr) = expr else { return Some(Self::None) };
        match literal(expr)? {
            Literal::Null => Some(Self::None),
            Literal::Number(number) => number.parse().ok().map(Self::Rows),
            Literal::Param(index) => {
                let declared = params.known().get(index).copied().flatten();
                params.note(index, DataType::BigInt);
                declared.is_none_or(|declared| declared.is_integer()).then_some(Self::Param(index))
            }
            Literal::Bool(_) | Literal::Text(_) => None,
        }
    }

    /// How many rows now; all without one.
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
