//! Expressions that are constants or parameters: they get their column's type here, and need no plan.

use crate::error::{EngineResult, Fault, fail};
use crate::settings::TimeZone;
use sql::ast::{Expr, UnaryOperator, Value};
use types::{DataType, Datum, coerce, text};

/// A constant as written, still without a type of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal<'a> {
    Null,
    Bool(bool),
    /// With its sign.
    Number(String),
    Text(&'a str),
    /// `$n`, counted from 0.
    Param(usize),
}

/// Reads a constant or parameter. `None`: an expression that must be evaluated.
pub(crate) fn literal(expr: &Expr) -> Option<Literal<'_>> {
    match expr {
        Expr::Nested(inner) => literal(inner),
        Expr::Value(value) => value_literal(&value.value),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match literal(expr)? {
            Literal::Number(number) if !number.starts_with('-') => Some(Literal::Number(format!("-{number}"))),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => {
            literal(expr).filter(|inner| matches!(inner, Literal::Number(_)))
        }
        _ => None,
    }
}

fn value_literal(value: &Value) -> Option<Literal<'_>> {
    match value {
        Value::Null => Some(Literal::Null),
        Value::Boolean(value) => Some(Literal::Bool(*value)),
        Value::Number(number, _) => Some(Literal::Number(number.clone())),
        Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(Literal::Text(text)),
        Value::DollarQuotedString(text) => Some(Literal::Text(&text.value)),
        Value::Placeholder(name) => {
            let number: usize = name.strip_prefix('$')?.parse().ok()?;
            number.checked_sub(1).map(Literal::Param)
        }
        _ => None,
    }
}

impl Literal<'_> {
    /// The constant in a type of its own: text has none.
    pub(crate) fn datum(&self) -> EngineResult<Option<Datum>> {
        Ok(match self {
            Self::Null => Some(Datum::Null),
            Self::Bool(value) => Some(Datum::Bool(*value)),
            Self::Number(number) => Some(number_datum(number)?),
            Self::Text(_) | Self::Param(_) => None,
        })
    }

    /// The constant as an assignment to a column of that type makes it. Parameters have no value yet.
    pub(crate) fn assign(&self, ty: &DataType, zone: TimeZone) -> EngineResult<Datum> {
        match self {
            Self::Null => Ok(Datum::Null),
            Self::Bool(value) => Ok(coerce::assign(ty, Datum::Bool(*value))?),
            Self::Number(number) => Ok(coerce::assign(ty, number_datum(number)?)?),
            // Text literals have no type of their own: they are read as what is wanted.
            Self::Text(value) => read_text(ty, value, zone),
            Self::Param(index) => fail(Fault::NoSuchParameter { number: index + 1 }),
        }
    }
}

/// Text as a value of that type, as the session reads it; times without a zone are in the session's.
pub(crate) fn read_text(ty: &DataType, value: &str, zone: TimeZone) -> EngineResult<Datum> {
    Ok(text::parse_in(ty, value, &zone)?)
}

/// PostgreSQL's type of a numeric constant: the smallest integer type that holds it, else numeric; a double where
/// numeric has no room.
pub(crate) fn number_datum(number: &str) -> EngineResult<Datum> {
    if let Ok(value) = number.parse::<i32>() {
        return Ok(Datum::Int4(value));
    }
    match number.parse::<i64>() {
        Ok(value) => Ok(Datum::Int8(value)),
        Err(_) => match text::parse(&DataType::Numeric(None), number) {
            // In scientific notation and beyond numeric's range: a double, as in queries.
            Err(_) if number.contains(['e', 'E']) => Ok(text::parse(&DataType::Double, number)?),
            parsed => Ok(parsed?),
        },
    }
}
