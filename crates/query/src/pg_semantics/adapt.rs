//! Two sides of a comparison or of arithmetic: constants without a type take the other side's, and sides that
//! PostgreSQL does not compare are refused.

use crate::convert::{arrow_type, datum_to_scalar, field, scalar_to_datum, sql_type_of};
use crate::error::{QueryError, QueryResult};
use crate::functions::{Argument, offset_of, quoted_in_session, session_moment, without_zone};
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::functions::string::rtrim;
use datafusion::functions::unicode::rpad;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable};
use std::cell::Cell;
use std::sync::Arc;
use types::temporal::{self, ZoneRules};
use types::{DataType, Datum, ElementType, Style, TypeError, coerce, text};

/// What is known about the type of one side.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Side {
    /// A quoted constant: of whatever type is wanted.
    Quoted(String),
    /// NULL.
    Null,
    /// A parameter of no type yet.
    Parameter,
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
            Expr::Literal(ScalarValue::Int64(Some(value)), _) => {
                Self::Known(if i32::try_from(*value).is_ok() { DataType::Integer } else { DataType::BigInt })
            }
            Expr::Placeholder(Placeholder { field: None, .. }) => Self::Parameter,
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
            Self::Quoted(_) | Self::Null | Self::Parameter => Argument::Unknown,
            Self::Known(ty) => Argument::Known(*ty),
            Self::Other => Argument::Unknown,
        }
    }

    /// Its name in an error.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Quoted(_) | Self::Null | Self::Parameter => "unknown".to_owned(),
            Self::Known(ty) => ty.base_name().to_owned(),
            Self::Other => "record".to_owned(),
        }
    }
}

/// Types that compare with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Boolean,
    Number,
    Text,
    Bytes,
    Moment,
    Time,
    Uuid,
    Interval,
    Json,
    Array(ElementType),
}

pub(super) fn class(ty: &DataType) -> Class {
    match ty {
        DataType::Boolean => Class::Boolean,
        ty if ty.is_number() => Class::Number,
        ty if ty.is_text() => Class::Text,
        ty if ty.is_bytes() => Class::Bytes,
        DataType::Time(_) => Class::Time,
        DataType::Uuid => Class::Uuid,
        DataType::Interval => Class::Interval,
        DataType::Json => Class::Json,
        DataType::Array(ElementType::Varchar) => Class::Array(ElementType::Text),
        DataType::Array(ElementType::Oid) => Class::Array(ElementType::BigInt),
        DataType::Array(element) => Class::Array(*element),
        _ => Class::Moment,
    }
}

/// Makes the sides of `left operator right` comparable as PostgreSQL does.
///
/// # Errors
/// As [`compare_sides`].
pub(super) fn compare(left: &mut Expr, operator: &str, right: &mut Expr, schema: &DFSchema) -> QueryResult<()> {
    let (a, b) = (Side::of(left, schema), Side::of(right, schema));
    compare_sides((left, &a), operator, (right, &b))
}

/// The same of two sides of which it is known what they are.
///
/// # Errors
/// [`QueryError::NoSuchOperator`] for types that do not compare; [`QueryError::Type`] for a quoted constant that is
/// not of the other side's type.
pub(super) fn compare_sides(left: (&mut Expr, &Side), operator: &str, right: (&mut Expr, &Side)) -> QueryResult<()> {
    let ((left, a), (right, b)) = (left, right);
    refuse_unlike(a, operator, b)?;
    match (a, b) {
        (Side::Known(ty), Side::Quoted(_) | Side::Parameter) => give_type(right, b, ty),
        (Side::Quoted(_) | Side::Parameter, Side::Known(ty)) => give_type(left, a, ty),
        (Side::Known(x), Side::Known(y)) if is_float(x) != is_float(y) && x.is_number() && y.is_number() => {
            if is_float(x) { beside_float((left, x), right) } else { beside_float((right, y), left) }
        }
        (Side::Known(DataType::Char(_)), Side::Known(other)) if !matches!(other, DataType::Char(_)) => {
            trim_text(right, other)
        }
        (Side::Known(other), Side::Known(DataType::Char(_))) if !matches!(other, DataType::Char(_)) => {
            trim_text(left, other)
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

/// Types that PostgreSQL does not compare.
///
/// # Errors
/// [`QueryError::NoSuchOperator`] for these.
pub(super) fn refuse_unlike(a: &Side, operator: &str, b: &Side) -> QueryResult<()> {
    match (a, b) {
        // JSON is not even equal to itself.
        (Side::Known(DataType::Json), _) | (_, Side::Known(DataType::Json)) => {
            Err(QueryError::NoSuchOperator { left: a.name(), operator: operator.to_owned(), right: b.name() })
        }
        (Side::Known(x), Side::Known(y)) if class(x) != class(y) && !catalog_lists(x, y) => {
            Err(QueryError::NoSuchOperator { left: a.name(), operator: operator.to_owned(), right: b.name() })
        }
        _ => Ok(()),
    }
}

fn is_float(ty: &DataType) -> bool {
    matches!(ty, DataType::Real | DataType::Double)
}

/// A float and any other number are compared as doubles. A constant that a real holds exactly stays a real, so that
/// key ranges can be made of it.
fn beside_float((float, ty): (&mut Expr, &DataType), other: &mut Expr) -> QueryResult<()> {
    let real = *ty == DataType::Real;
    match &*other {
        Expr::Literal(value, _) if !value.is_null() => {
            let exact = coerce::cast(&DataType::Double, scalar_to_datum(value)?)?;
            let single = coerce::cast(&DataType::Real, exact.clone()).ok();
            let kept = single.filter(|single| {
                real && coerce::cast(&DataType::Double, single.clone()).is_ok_and(|double| double == exact)
            });
            let constant = match &kept {
                Some(single) => datum_to_scalar(&DataType::Real, single)?,
                None => datum_to_scalar(&DataType::Double, &exact)?,
            };
            *other = Expr::Literal(constant, None);
            if !real || kept.is_some() {
                return Ok(());
            }
        }
        _ => *other = as_double(std::mem::take(other)),
    }
    if real {
        *float = as_double(std::mem::take(float));
    }
    Ok(())
}

fn as_double(expr: Expr) -> Expr {
    Expr::Cast(Cast::new(Box::new(expr), ArrowType::Float64))
}

/// A date beside a timestamp is its midnight. The planner's own choice, nanoseconds, would end in the year 2262, and no
/// range of a key or check on bytes is made of them.
fn midnight(date: Expr, ty: &DataType) -> Expr {
    Expr::Cast(Cast::new(Box::new(date), arrow_type(ty)))
}

/// Arrays of `pg_catalog` are of numbers of several widths.
pub(super) fn catalog_lists(x: &DataType, y: &DataType) -> bool {
    matches!((x, y), (DataType::Array(x), DataType::Array(y)) if x.data_type().is_integer() && y.data_type().is_integer())
}

/// A `char(n)` is kept without its blanks; a text beside it keeps its own, a varchar does not: PostgreSQL compares it
/// as a char.
fn trim_text(expr: &mut Expr, ty: &DataType) -> QueryResult<()> {
    if matches!(expr, Expr::Placeholder(_)) && ty.is_text() || matches!(ty, DataType::Varchar(_)) {
        *expr = rtrim().call(vec![expr.clone()]);
    }
    Ok(())
}

/// Gives a constant or parameter the type of what it meets.
///
/// # Errors
/// [`QueryError::Type`] for a constant that is no value of that type.
pub(super) fn give_type(expr: &mut Expr, side: &Side, ty: &DataType) -> QueryResult<()> {
    if let Side::Quoted(text) = side
        && let Some(moment) = session_moment(text, ty)
    {
        *expr = moment;
        return Ok(());
    }
    match side {
        Side::Quoted(text) if matches!(ty, DataType::TimestampTz(_)) => *expr = quoted_moment(text)?,
        Side::Quoted(text) => *expr = quoted_as(text, ty)?,
        Side::Null => *expr = Expr::Literal(datum_to_scalar(ty, &Datum::Null)?, None),
        Side::Parameter => {
            if let Expr::Placeholder(parameter) = expr {
                // Of a char(n) the length is the column's own.
                let taken = if ty.is_text() { DataType::Text } else { ty.unlimited() };
                parameter.field = Some(Arc::new(field("", &taken, true)));
            }
            if matches!(ty, DataType::Char(_)) {
                *expr = rtrim().call(vec![expr.clone()]);
            }
        }
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

/// A quoted constant as a value of `ty`.
fn quoted_as(quoted: &str, ty: &DataType) -> QueryResult<Expr> {
    let value = match ty {
        DataType::Char(_) => ScalarValue::Utf8(Some(quoted.trim_end_matches(' ').to_owned())),
        ty if ty.is_text() => ScalarValue::Utf8(Some(quoted.to_owned())),
        ty => {
            // Digits beyond the column's must not be rounded away before they are compared.
            let free = ty.unlimited();
            match read_constant(quoted, &free)? {
                Some(value) => datum_to_scalar(&free, &value)?,
                None => return Ok(quoted_in_session(quoted, free)),
            }
        }
    };
    Ok(Expr::Literal(value, None))
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
