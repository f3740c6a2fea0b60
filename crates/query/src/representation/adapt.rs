//! Two sides of a comparison, which have types that PostgreSQL compares: `char(n)` beside other texts, dates beside
//! timestamps, constant texts.

use crate::convert::{arrow_type, datum_to_scalar, sql_type_of};
use crate::error::QueryResult;
use crate::functions::{Argument, offset_of, quoted_in_session, without_zone};
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::functions::string::rtrim;
use datafusion::functions::unicode::rpad;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable};
use std::cell::Cell;
use types::temporal::{self, ZoneRules};
use types::{DataType, Datum, Style, TypeError, text};

/// What is known about the type of one side.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Side {
    /// A constant text, of whichever text type is wanted.
    Quoted(String),
    /// NULL.
    Null,
    /// Of this SQL type.
    Known(DataType),
    /// Of a type that SQL has no name for here: structs.
    Other,
}

impl Side {
    pub(super) fn of(expr: &Expr, schema: &DFSchema) -> Self {
        match expr {
            Expr::Literal(ScalarValue::Utf8(Some(text)), _) => Self::Quoted(text.clone()),
            Expr::Literal(value, _) if value.is_null() => Self::Null,
            Expr::Alias(alias) => Self::of(&alias.expr, schema),
            _ => expr.to_field(schema).map_or(Self::Other, |(_, field)| Self::of_field(&field)),
        }
    }

    /// Of a column.
    pub(super) fn of_field(field: &Field) -> Self {
        if field.data_type().is_null() { Self::Other } else { sql_type_of(field).map_or(Self::Other, Self::Known) }
    }

    /// As overloads are chosen by.
    pub(super) fn argument(&self) -> Argument {
        match self {
            Self::Known(ty) => Argument::Known(*ty),
            Self::Quoted(_) | Self::Null | Self::Other => Argument::Unknown,
        }
    }
}

/// Makes the sides of a comparison values that compare by their bits.
///
/// # Errors
/// What is wrong with a constant.
pub(super) fn compare(left: &mut Expr, right: &mut Expr, schema: &DFSchema) -> QueryResult<()> {
    let (a, b) = (Side::of(left, schema), Side::of(right, schema));
    compare_sides((left, &a), (right, &b))
}

/// The same of two sides of which it is known what they are.
///
/// # Errors
/// As [`compare`].
pub(super) fn compare_sides(left: (&mut Expr, &Side), right: (&mut Expr, &Side)) -> QueryResult<()> {
    let ((left, a), (right, b)) = (left, right);
    match (a, b) {
        (Side::Known(ty), Side::Quoted(_)) => give_type(right, b, ty),
        (Side::Quoted(_), Side::Known(ty)) => give_type(left, a, ty),
        (Side::Known(DataType::Char(_)), Side::Known(other)) if !matches!(other, DataType::Char(_)) => {
            trim_text(right, other);
            Ok(())
        }
        (Side::Known(other), Side::Known(DataType::Char(_))) if !matches!(other, DataType::Char(_)) => {
            trim_text(left, other);
            Ok(())
        }
        (Side::Known(DataType::Date), Side::Known(ty @ (DataType::Timestamp(_) | DataType::TimestampTz(_)))) => {
            *left = midnight(std::mem::take(left), ty);
            Ok(())
        }
        (Side::Known(ty @ (DataType::Timestamp(_) | DataType::TimestampTz(_))), Side::Known(DataType::Date)) => {
            *right = midnight(std::mem::take(right), ty);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A date beside a timestamp is its midnight. DataFusion's own choice, nanoseconds, would end in the year 2262, and no
/// range of a key or check on bytes is made of them.
fn midnight(date: Expr, ty: &DataType) -> Expr {
    Expr::Cast(Cast::new(Box::new(date), arrow_type(ty)))
}

/// A `char(n)` is kept without its blanks; a text beside it keeps its own, a varchar does not: PostgreSQL compares it
/// as a char.
fn trim_text(expr: &mut Expr, ty: &DataType) {
    if matches!(expr, Expr::Placeholder(_)) && ty.is_text() || matches!(ty, DataType::Varchar(_)) {
        *expr = rtrim().call(vec![expr.clone()]);
    }
}

/// Gives a constant text or NULL the type of what it meets.
///
/// # Errors
/// None of a type that constants have.
pub(super) fn give_type(expr: &mut Expr, side: &Side, ty: &DataType) -> QueryResult<()> {
    match side {
        Side::Quoted(text) if matches!(ty, DataType::Char(_)) => {
            *expr = Expr::Literal(ScalarValue::Utf8(Some(text.trim_end_matches(' ').to_owned())), None);
        }
        Side::Null => *expr = Expr::Literal(datum_to_scalar(ty, &Datum::Null)?, None),
        _ => {}
    }
    Ok(())
}

/// A quoted constant as a `timestamptz`. One that names no zone is a cast of a local time: the session's zone is known
/// later, and maybe matters.
///
/// # Errors
/// [`QueryError::Type`] for a constant that is no moment.
pub(super) fn quoted_moment(quoted: &str) -> QueryResult<Expr> {
    const MOMENT: DataType = DataType::TimestampTz(None);
    let rules = WithoutSession::default();
    let micros = temporal::parse_timestamptz_in(quoted, &rules);
    if rules.styled.get() {
        return Ok(quoted_in_session(quoted, MOMENT));
    }
    if !rules.zoned.get() {
        return Ok(Expr::Literal(datum_to_scalar(&MOMENT, &Datum::TimestampTz(micros?))?, None));
    }
    let local = Expr::Literal(datum_to_scalar(&DataType::Timestamp(None), &Datum::Timestamp(micros?))?, None);
    Ok(Expr::Cast(Cast::new(Box::new(local), arrow_type(&MOMENT))))
}

/// Rules that remember what of the session was asked for.
#[derive(Default)]
struct WithoutSession {
    zoned: Cell<bool>,
    styled: Cell<bool>,
}

impl ZoneRules for WithoutSession {
    fn offset_at_local(&self, name: Option<&str>, local_micros: i64) -> Option<i32> {
        match name {
            Some(name) => offset_of(name, local_micros),
            None => {
                self.zoned.set(true);
                Some(0)
            }
        }
    }

    fn style(&self) -> Style {
        self.styled.set(true);
        Style::POSTGRES
    }
}

/// The value of a quoted constant; `None` where the session's style says which it is.
///
/// # Errors
/// [`TypeError`] for a constant that is no value of `ty` in any session.
pub(super) fn read_constant(quoted: &str, ty: &DataType) -> Result<Option<Datum>, TypeError> {
    let rules = WithoutSession::default();
    let value = text::parse_in(ty, without_zone(quoted, ty), &rules);
    if rules.styled.get() { Ok(None) } else { value.map(Some) }
}

/// A `char(n)` with its blanks, where they count: in patterns and where any type is taken.
pub(super) fn pad(expr: &mut Expr, side: &Side) {
    if let Side::Known(DataType::Char(length)) = side {
        let length = Expr::Literal(ScalarValue::Int64(Some(i64::from(*length))), None);
        *expr = rpad().call(vec![std::mem::take(expr), length]);
    }
}

/// Is it a decimal in Arrow?
pub(super) fn is_decimal(expr: &Expr, schema: &DFSchema) -> bool {
    expr.get_type(schema).is_ok_and(|ty| matches!(ty, ArrowType::Decimal128(..) | ArrowType::Decimal256(..)))
}
