//! Adapts the operands of a comparison whose types differ: `char(n)` beside other texts, dates beside timestamps,
//! constant texts.

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

/// The SQL type of an operand, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::lower) enum Side {
    /// A text literal of undetermined text type.
    Quoted(String),
    /// A NULL literal.
    Null,
    /// A known SQL type.
    Known(DataType),
    /// An Arrow type without an SQL type: structs.
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

    /// The type of a column.
    pub(in crate::lower) fn of_field(field: &Field) -> Self {
        if field.data_type().is_null() { Self::Other } else { sql_type_of(field).map_or(Self::Other, Self::Known) }
    }
}

impl Lowering<'_> {
    /// Adapts two operands, each over its own schema, so that DataFusion compares them like PostgreSQL's operator.
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
                self.cast_for_timestamp_comparison(left, &own, &other);
                self.cast_for_timestamp_comparison(right, &other, &own);
            }
            _ => {}
        }
    }

    /// Likewise for comparison by bits: intervals by their lengths, floats without the sign of zero.
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

    /// Casts a date beside a timestamp to its midnight, and a local time beside a `timestamptz` in the session's time
    /// zone. DataFusion would compare dates in nanoseconds, which end in the year 2262 and support neither key ranges
    /// nor byte predicates; its cast of local times fails for infinite ones.
    fn cast_for_timestamp_comparison(&self, value: &mut Expr, own: &DataType, other: &DataType) {
        use DataType as T;
        // The style does not affect conversions between timestamps.
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

/// A constant beside a `char(n)`, which is represented without trailing blanks.
pub(in crate::lower) fn trimmed(text: &str) -> Expr {
    Expr::Literal(ScalarValue::Utf8(Some(text.trim_end_matches(' ').to_owned())), None)
}

/// A `char(n)` is represented without trailing blanks. A text beside it keeps its own; a varchar does not, because
/// PostgreSQL compares it as `bpchar`.
fn trim_text(expr: &mut Expr, ty: &DataType) {
    if matches!(expr, Expr::Placeholder(_)) && ty.is_text() || matches!(ty, DataType::Varchar(_)) {
        *expr = rtrim().call(vec![expr.clone()]);
    }
}

/// Pads a `char(n)` with its blanks where they count: in patterns and in `any` parameters.
pub(in crate::lower) fn pad(expr: &mut Expr, schema: &DFSchema) {
    if let Side::Known(DataType::Char(length)) = Side::of(expr, schema) {
        let length = Expr::Literal(ScalarValue::Int64(Some(i64::from(length))), None);
        *expr = rpad().call(vec![std::mem::take(expr), length]);
    }
}

/// Replaces an interval by its length.
pub(in crate::lower) fn by_length(value: Expr, schema: &DFSchema) -> Expr {
    if Side::of(&value, schema) == Side::Known(DataType::Interval) { interval_span(value) } else { value }
}
