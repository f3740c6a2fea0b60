//! A value as JSON that reads back bit for bit: JSON has no NaN, no infinities and, in some readers,
//! not every digit of a float or of a 128-bit integer.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use types::{Datum, Decimal};

#[derive(Serialize, Deserialize)]
enum Stored {
    Null,
    Bool(bool),
    Int2(i16),
    Int4(i32),
    Int8(i64),
    /// Bits of an IEEE single.
    Float4(u32),
    /// Bits of an IEEE double.
    Float8(u64),
    /// Digits and scale.
    Numeric(String, u8),
    Text(String),
    Bytes(Vec<u8>),
    Date(i32),
    Time(i64),
    Timestamp(i64),
    TimestampTz(i64),
    Uuid([u8; 16]),
}

/// For `#[serde(with)]`.
pub(crate) fn serialize<S: Serializer>(datum: &Datum, serializer: S) -> Result<S::Ok, S::Error> {
    let stored = match datum {
        Datum::Null => Stored::Null,
        Datum::Bool(value) => Stored::Bool(*value),
        Datum::Int2(value) => Stored::Int2(*value),
        Datum::Int4(value) => Stored::Int4(*value),
        Datum::Int8(value) => Stored::Int8(*value),
        Datum::Float4(value) => Stored::Float4(value.to_bits()),
        Datum::Float8(value) => Stored::Float8(value.to_bits()),
        Datum::Numeric(value) => Stored::Numeric(value.unscaled.to_string(), value.scale),
        Datum::Text(value) => Stored::Text(value.clone()),
        Datum::Bytes(value) => Stored::Bytes(value.clone()),
        Datum::Date(value) => Stored::Date(*value),
        Datum::Time(value) => Stored::Time(*value),
        Datum::Timestamp(value) => Stored::Timestamp(*value),
        Datum::TimestampTz(value) => Stored::TimestampTz(*value),
        Datum::Uuid(value) => Stored::Uuid(*value),
    };
    stored.serialize(serializer)
}

/// For `#[serde(with)]`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Datum, D::Error> {
    Ok(match Stored::deserialize(deserializer)? {
        Stored::Null => Datum::Null,
        Stored::Bool(value) => Datum::Bool(value),
        Stored::Int2(value) => Datum::Int2(value),
        Stored::Int4(value) => Datum::Int4(value),
        Stored::Int8(value) => Datum::Int8(value),
        Stored::Float4(bits) => Datum::Float4(f32::from_bits(bits)),
        Stored::Float8(bits) => Datum::Float8(f64::from_bits(bits)),
        Stored::Numeric(digits, scale) => {
            Datum::Numeric(Decimal { unscaled: digits.parse().map_err(D::Error::custom)?, scale })
        }
        Stored::Text(value) => Datum::Text(value),
        Stored::Bytes(value) => Datum::Bytes(value),
        Stored::Date(value) => Datum::Date(value),
        Stored::Time(value) => Datum::Time(value),
        Stored::Timestamp(value) => Datum::Timestamp(value),
        Stored::TimestampTz(value) => Datum::TimestampTz(value),
        Stored::Uuid(value) => Datum::Uuid(value),
    })
}
