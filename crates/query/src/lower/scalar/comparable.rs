//! Two sides of a comparison, which have types that PostgreSQL compares: `char(n)` beside other texts, dates beside
//! timestamps, constant texts.

use crate::convert::{arrow_type, sql_type_of};
use crate::functions::{cast_in_zone, interval_span};
use crate::lower::Lowering;
use crate::lower::scalar::cast::cast_from;
use crate::lower::scalar::zero::without_sign;
use arrow::datatypes::Field;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::functions::string::rtrim;
use datafusion::functions::unicode::rpad;
use datafusion::logical_expr::{Expr, ExprSchemable};
use types::DataType;

/// What is known about the type of one side.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::lower) enum Side {
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
    pub(in crate::lower) fn of(expr: &Expr, schema: &DFSchema) -> Self {
        match expr {
            Expr::Literal(ScalarValue::Utf8(Some(text)), _) => Self::Quoted(text.clone()),
            Expr::Literal(value, _) if value.is_null() => Self::Null,
            Expr::Alias(alias) => Self::of(&alias.expr, schema),
            _ => expr.to_field(schema).map_or(Self::Other, |(_, field)| Self::of_field(&field)),
        }
    }

    /// Of a column.
    pub(in crate::lower) fn of_field(field: &Field) -> Self {
        if field.data_type().is_null() { Self::Other } else { sql_type_of(field).map_or(Self::Other, Self::Known) }
    }
}

impl Lowering<'_> {
    /// Makes of two values, each over rows of its own schema, those that DataFusion compares as PostgreSQL's operator does.
    pub(in crate::lower) fn comparable(&self, left: (&mut Expr, &DFSchema), right: (&mut Expr, &DFSchema)) {
        let ((left, left_schema), (right, right_schema)) = (left, right);
        match (Side::of(left, left_schema), Side::of(right, right_schema)) {
            (Side::Known(DataType::Char(_)), Side::Quoted(text)) => *right = trimmed(&text),
            (Side::Quoted(text), Side::Known(DataType::Char(_))) => *left = trimmed(&text),
            (Side::Known(DataType::Char(_)), Side::Known(other)) if !matches!(other, DataType::Char(_)) => {
                trim_text(right, &other);
            }
            (Side::Known(other), Side::Known(DataType::Char(_))) if !matches!(other, DataType::Char(_)) => {
                trim_text(left, &other);
            }
            (Side::Known(own), Side::Known(other)) => {
                self.among_moments(left, &own, &other);
                self.among_moments(right, &other, &own);
            }
            _ => {}
        }
    }

    /// The same, of values that are compared by their bits: intervals by their lengths, zeros without their sign.
    pub(in crate::lower) fn comparable_bits(&self, left: (&mut Expr, &DFSchema), right: (&mut Expr, &DFSchema)) {
        let ((left, left_schema), (right, right_schema)) = (left, right);
        let interval = [(&*left, left_schema), (&*right, right_schema)]
            .into_iter()
            .any(|(value, schema)| Side::of(value, schema) == Side::Known(DataType::Interval));
        self.comparable((&mut *left, left_schema), (&mut *right, right_schema));
        for (value, schema) in [(left, left_schema), (right, right_schema)] {
            let bare = std::mem::take(value);
            *value = if interval { interval_span(bare) } else { without_sign(bare, schema) };
        }
    }

    /// A date beside a timestamp is its midnight, and a local time beside a `timestamptz` is one of the session's zone.
    /// DataFusion's own choice for dates, nanoseconds, would end in the year 2262, and no range of a key or check on bytes is
    /// made of them; its cast of local times fails for those that are infinite.
    fn among_moments(&self, value: &mut Expr, own: &DataType, other: &DataType) {
        use DataType as T;
        // The style changes nothing between moments.
        let zone = self.zone.as_ref().filter(|zone| !zone.rules().is_utc());
        let cast = match (own, other, zone) {
            (T::Date | T::Timestamp(_), T::TimestampTz(_), Some(zone)) => {
                cast_in_zone(std::mem::take(value), T::TimestampTz(None), zone)
            }
            (T::Date | T::Timestamp(_), T::TimestampTz(_), None) | (T::Date, T::Timestamp(_), _) => {
                cast_from(std::mem::take(value), &Field::new("", arrow_type(own), true), &other.unlimited())
            }
            _ => return,
        };
        *value = cast;
    }
}

/// A constant beside a `char(n)`, which is kept without its blanks.
pub(in crate::lower) fn trimmed(text: &str) -> Expr {
    Expr::Literal(ScalarValue::Utf8(Some(text.trim_end_matches(' ').to_owned())), None)
}

/// A `char(n)` is kept without its blanks; a text beside it keeps its own, a varchar does not: PostgreSQL compares it
/// as a char.
fn trim_text(expr: &mut Expr, ty: &DataType) {
    if matches!(expr, Expr::Placeholder(_)) && ty.is_text() || matches!(ty, DataType::Varchar(_)) {
        *expr = rtrim().call(vec![expr.clone()]);
    }
}

/// A `char(n)` with its blanks, where they count: in patterns and where any type is taken.
pub(in crate::lower) fn pad(expr: &mut Expr, schema: &DFSchema) {
    if let Side::Known(DataType::Char(length)) = Side::of(expr, schema) {
        let length = Expr::Literal(ScalarValue::Int64(Some(i64::from(length))), None);
        *expr = rpad().call(vec![std::mem::take(expr), length]);
    }
}

/// An interval's length instead of the interval; any other value as it is.
pub(in crate::lower) fn by_length(value: Expr, schema: &DFSchema) -> Expr {
    if Side::of(&value, schema) == Side::Known(DataType::Interval) { interval_span(value) } else { value }
}
