//! One SQL value.

use crate::{DataType, Decimal, Interval, compare, text};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// One SQL value. The variant is the representation of the value; the column has its SQL type (`text`, `varchar` and
/// `char` are all [`Datum::Text`]).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Datum {
    /// SQL NULL.
    Null,
    /// `boolean`.
    Bool(bool),
    /// `smallint`.
    Int2(i16),
    /// `integer`.
    Int4(i32),
    /// `bigint`.
    Int8(i64),
    /// `real`.
    Float4(f32),
    /// `double precision`.
    Float8(f64),
    /// `numeric`.
    Numeric(Decimal),
    /// `text`, `varchar`, and `char` without its trailing blanks.
    Text(String),
    /// `bytea`, `varbinary`, `binary`.
    Bytes(Vec<u8>),
    /// Days since 1970-01-01; `i32::MIN` and `i32::MAX` are `-infinity` and `infinity`.
    Date(i32),
    /// Microseconds since midnight, `0..=86_400_000_000`.
    Time(i64),
    /// Microseconds since 1970-01-01 00:00; `i64::MIN` and `i64::MAX` are `-infinity` and `infinity`.
    Timestamp(i64),
    /// As [`Datum::Timestamp`], in UTC.
    TimestampTz(i64),
    /// 16 bytes in text order.
    Uuid([u8; 16]),
    /// `interval`.
    Interval(Interval),
    /// An array: its elements, which are arrays themselves if there are several dimensions.
    Array(Vec<Datum>),
}

impl Datum {
    /// Returns whether the value is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns the value of a `smallint`, `integer` or `bigint`.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Int2(value) => Some(i64::from(value)),
            Self::Int4(value) => Some(i64::from(value)),
            Self::Int8(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the approximate memory of the value.
    pub fn memory_size(&self) -> usize {
        size_of::<Self>() + self.heap_size()
    }

    /// Returns the approximate heap memory of the value.
    pub fn heap_size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Array(items) => items.iter().map(Self::memory_size).sum(),
            _ => 0,
        }
    }

    /// Returns the approximate memory of a row.
    pub fn row_memory_size(row: &[Self]) -> usize {
        size_of::<Vec<Self>>() + row.iter().map(Self::memory_size).sum::<usize>()
    }

    /// Returns the SQL name of the kind of value, such as `timestamp with time zone`.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Null => "unknown",
            Self::Bool(_) => "boolean",
            Self::Int2(_) => "smallint",
            Self::Int4(_) => "integer",
            Self::Int8(_) => "bigint",
            Self::Float4(_) => "real",
            Self::Float8(_) => "double precision",
            Self::Numeric(_) => "numeric",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytea",
            Self::Date(_) => "date",
            Self::Time(_) => "time without time zone",
            Self::Timestamp(_) => "timestamp without time zone",
            Self::TimestampTz(_) => "timestamp with time zone",
            Self::Uuid(_) => "uuid",
            Self::Interval(_) => "interval",
            Self::Array(_) => "array",
        }
    }

    /// Formats the value as a SQL literal: numbers and booleans plain, others in quotes.
    pub fn to_literal(&self) -> String {
        match self {
            Self::Null | Self::Int2(_) | Self::Int4(_) | Self::Int8(_) | Self::Numeric(_) => self.to_string(),
            Self::Bool(value) => value.to_string(),
            Self::Float4(value) if value.is_finite() => self.to_string(),
            Self::Float8(value) if value.is_finite() => self.to_string(),
            _ => format!("'{}'", self.to_string().replace('\'', "''")),
        }
    }
}

/// PostgreSQL's text form, with `NULL` for NULL. Text is not padded: only a column has the length of a `char(n)`.
impl std::fmt::Display for Datum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Int2(value) => value.fmt(f),
            Self::Int4(value) => value.fmt(f),
            Self::Int8(value) => value.fmt(f),
            Self::Numeric(value) => value.fmt(f),
            Self::Text(value) => f.write_str(value),
            _ => {
                let mut out = String::new();
                // The type only matters for char(n).
                text::print(&DataType::Text, self, &mut out);
                f.write_str(&out)
            }
        }
    }
}

/// Equality as in GROUP BY and DISTINCT: SQL's, with NULL equal to NULL.
impl PartialEq for Datum {
    fn eq(&self, other: &Self) -> bool {
        compare::compare(self, other) == Ordering::Equal
    }
}

impl Eq for Datum {}

impl Hash for Datum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Null => 0_u8.hash(state),
            Self::Bool(value) => value.hash(state),
            Self::Int2(_) | Self::Int4(_) | Self::Int8(_) => self.as_i64().hash(state),
            Self::Float4(value) => hash_float(f64::from(*value), state),
            Self::Float8(value) => hash_float(*value, state),
            Self::Numeric(value) => value.hash(state),
            Self::Text(value) => value.hash(state),
            Self::Bytes(value) => value.hash(state),
            Self::Date(value) => value.hash(state),
            Self::Time(value) | Self::Timestamp(value) | Self::TimestampTz(value) => value.hash(state),
            Self::Uuid(value) => value.hash(state),
            Self::Interval(value) => value.hash(state),
            Self::Array(value) => value.hash(state),
        }
    }
}

/// Equal floats hash equally: both zeros, and every `NaN`.
fn hash_float<H: Hasher>(value: f64, state: &mut H) {
    let canonical = if value.is_nan() {
        f64::NAN
    } else if value == 0.0 {
        0.0
    } else {
        value
    };
    canonical.to_bits().hash(state);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_that_of_group_by() {
        assert_eq!(Datum::Null, Datum::Null);
        assert_eq!(Datum::Float8(-0.0), Datum::Float8(0.0));
        assert_eq!(Datum::Float4(f32::NAN), Datum::Float4(f32::NAN));
        assert_ne!(Datum::Text("a".into()), Datum::Text("a ".into()));
        assert_ne!(Datum::Timestamp(1), Datum::TimestampTz(1));
    }

    #[test]
    fn literals_are_quoted_where_sql_needs_it() {
        assert_eq!(Datum::Text("it's".into()).to_literal(), "'it''s'");
        assert_eq!(Datum::Int4(-3).to_literal(), "-3");
        assert_eq!(Datum::Float8(f64::INFINITY).to_literal(), "'Infinity'");
        assert_eq!(Datum::Date(0).to_literal(), "'1970-01-01'");
        assert_eq!(Datum::Null.to_literal(), "NULL");
    }
}
