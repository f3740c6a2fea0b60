//! One SQL value.

use crate::Decimal;
use serde::{Deserialize, Serialize};

/// One SQL value. The variant says how it is kept; which SQL type it has is the column's matter
/// (`text`, `varchar` and `char` are all [`Datum::Text`]).
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
}
