//! Values made of the row that is changed: a column of it, or an integer column and something added.
//!
//! `SET n = excluded.n`, `SET n = n + $1`: what counters and upserts are made of. Whatever is more than this
//! is an expression of a plan.

use super::key_match::{column_at, folded};
use super::literal::{Literal, literal, number_datum};
use super::params::ParamTypes;
use super::sequence_values::NextValues;
use super::target::Target;
use crate::error::{EngineResult, Fault, fail};
use sql::ast::{BinaryOperator, Expr};
use types::{DataType, Datum, TypeError};

/// The rows that a right side may name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    /// None: VALUES, or there are other tables beside it.
    None,
    /// The row as it is, by this name.
    Own { alias: &'a str },
    /// The row as it is, and `excluded`. A name without either is ambiguous.
    OwnAndExcluded { alias: &'a str },
}

/// The rows when a statement runs. Empty where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given<'a> {
    pub(crate) params: &'a [Datum],
    /// Values of computed expressions.
    pub(crate) computed: &'a [Datum],
    pub(crate) own: &'a [Datum],
    pub(crate) excluded: &'a [Datum],
    /// Values of sequences.
    pub(crate) next: Option<&'a NextValues>,
}

/// A value made of the row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RowValue {
    Term(Term),
    /// Of integers; its result has that type.
    Sum {
        left: Term,
        right: Term,
        minus: bool,
        ty: DataType,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    Own(usize),
    Excluded(usize),
    Constant(Datum),
    /// `$n`, counted from 0.
    Param(usize),
}

impl RowValue {
    /// Reads the right side for column `at`. `None`: it is more than this.
    pub(super) fn compile(
        target: &Target,
        at: usize,
        expr: &Expr,
        rows: Rows<'_>,
        params: &mut ParamTypes,
    ) -> EngineResult<Option<Self>> {
        if let Expr::Nested(inner) = expr {
            return Self::compile(target, at, inner, rows, params);
        }
        let type_of = |at: usize| target.column(at).map(|column| column.ty);
        if let Some(term) = column(target, expr, rows) {
            let same = term.column().and_then(type_of) == type_of(at);
            return Ok(same.then_some(Self::Term(term)));
        }
        let Expr::BinaryOp { left, op: op @ (BinaryOperator::Plus | BinaryOperator::Minus), right } = expr else {
            return Ok(None);
        };
        let is_integer = |ty: Option<DataType>| ty.is_some_and(|ty| ty.is_integer());
        if !is_integer(type_of(at)) {
            return Ok(None);
        }
        let (Some(left), Some(right)) = (term(target, left, rows)?, term(target, right, rows)?) else {
            return Ok(None);
        };
        if left.column().is_none() && right.column().is_none() {
            return Ok(None);
        }
        let types = (left.ty(target, params), right.ty(target, params));
        let (left_ty, right_ty) = match types {
            (Some(left), Some(right)) => (left, right),
            // A parameter without a type has that of the other side.
            (Some(one), None) | (None, Some(one)) => (one, one),
            (None, None) => return Ok(None),
        };
        if !left_ty.is_integer() || !right_ty.is_integer() {
            return Ok(None);
        }
        left.note(left_ty, params);
        right.note(right_ty, params);
        let ty = if width(&left_ty) >= width(&right_ty) { left_ty } else { right_ty };
        Ok(Some(Self::Sum { left, right, minus: *op == BinaryOperator::Minus, ty }))
    }

    /// The value now, not yet assigned to its column.
    pub(super) fn get(&self, given: &Given<'_>) -> EngineResult<Datum> {
        match self {
            Self::Term(term) => term.get(given).cloned(),
            Self::Sum { left, right, minus, ty } => match (left.get(given)?, right.get(given)?) {
                (Datum::Null, _) | (_, Datum::Null) => Ok(Datum::Null),
                (left, right) => sum(left, right, *minus, ty),
            },
        }
    }
}

impl Term {
    fn column(&self) -> Option<usize> {
        match self {
            Self::Own(at) | Self::Excluded(at) => Some(*at),
            Self::Constant(_) | Self::Param(_) => None,
        }
    }

    fn ty(&self, target: &Target, params: &ParamTypes) -> Option<DataType> {
        match self {
            Self::Own(at) | Self::Excluded(at) => target.column(*at).map(|column| column.ty),
            Self::Constant(Datum::Int4(_)) => Some(DataType::Integer),
            Self::Constant(_) => Some(DataType::BigInt),
            Self::Param(index) => params.known().get(*index).copied().flatten(),
        }
    }

    fn note(&self, ty: DataType, params: &mut ParamTypes) {
        if let Self::Param(index) = self {
            params.note(*index, ty);
        }
    }

    fn get<'a>(&'a self, given: &Given<'a>) -> EngineResult<&'a Datum> {
        let found = match self {
            Self::Own(at) => given.own.get(*at),
            Self::Excluded(at) => given.excluded.get(*at),
            Self::Constant(value) => Some(value),
            Self::Param(index) => match given.params.get(*index) {
                Some(value) => Some(value),
                None => return fail(Fault::NoSuchParameter { number: index + 1 }),
            },
        };
        found.ok_or_else(|| Fault::Internal { detail: "a row without a value".to_string() }.into())
    }
}

fn term(target: &Target, expr: &Expr, rows: Rows<'_>) -> EngineResult<Option<Term>> {
    match literal(expr) {
        Some(Literal::Param(index)) => Ok(Some(Term::Param(index))),
        Some(Literal::Number(number)) => {
            let value = number_datum(&number)?;
            Ok(value.as_i64().is_some().then_some(Term::Constant(value)))
        }
        Some(_) => Ok(None),
        None => Ok(column(target, expr, rows)),
    }
}

/// The column that an expression names.
fn column(target: &Target, expr: &Expr, rows: Rows<'_>) -> Option<Term> {
    match rows {
        Rows::None => None,
        Rows::Own { alias } => column_at(target, alias, expr).map(Term::Own),
        Rows::OwnAndExcluded { alias } => match expr {
            Expr::CompoundIdentifier(names) if names.first().is_some_and(|name| folded(name) == "excluded") => {
                column_at(target, "excluded", expr).map(Term::Excluded)
            }
            Expr::CompoundIdentifier(_) => column_at(target, alias, expr).map(Term::Own),
            _ => None,
        },
    }
}

fn width(ty: &DataType) -> usize {
    ty.fixed_width().unwrap_or(0)
}

fn sum(left: &Datum, right: &Datum, minus: bool, ty: &DataType) -> EngineResult<Datum> {
    let sum = left.as_i64().zip(right.as_i64()).and_then(|(left, right)| match minus {
        true => left.checked_sub(right),
        false => left.checked_add(right),
    });
    let sum = match ty {
        DataType::SmallInt => sum.and_then(|sum| i16::try_from(sum).ok()).map(Datum::Int2),
        DataType::Integer => sum.and_then(|sum| i32::try_from(sum).ok()).map(Datum::Int4),
        _ => sum.map(Datum::Int8),
    };
    sum.ok_or_else(|| TypeError::OutOfRange { what: ty.sql_name() }.into())
}
