//! Serializes a value as JSON without loss: JSON has no NaN, no infinities and, in some readers, not every digit of a
//! float or of a 128-bit integer.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use types::{Datum, Decimal, Interval};

#[derive(Serialize, Deserialize)]
enum Stored {
    Null,
    Bool(bool),
    Int2(i16),
    Int4(i32),
    Int8(i64),
    /// The bits of an IEEE single.
    Float4(u32),
    /// The bits of an IEEE double.
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
    Interval {
        months: i32,
        days: i32,
        micros: i64,
    },
    Array(Vec<Stored>),
}

impl From<&Datum> for Stored {
    fn from(datum: &Datum) -> Self {
        match datum {
            Datum::Null => Self::Null,
            Datum::Bool(value) => Self::Bool(*value),
            Datum::Int2(value) => Self::Int2(*value),
            Datum::Int4(value) => Self::Int4(*value),
            Datum::Int8(value) => Self::Int8(*value),
            Datum::Float4(value) => Self::Float4(value.to_bits()),
            Datum::Float8(value) => Self::Float8(value.to_bits()),
            Datum::Numeric(value) => Self::Numeric(value.unscaled.to_string(), value.scale),
            Datum::Text(value) => Self::Text(value.clone()),
            Datum::Bytes(value) => Self::Bytes(value.clone()),
            Datum::Date(value) => Self::Date(*value),
            Datum::Time(value) => Self::Time(*value),
            Datum::Timestamp(value) => Self::Timestamp(*value),
            Datum::TimestampTz(value) => Self::TimestampTz(*value),
            Datum::Uuid(value) => Self::Uuid(*value),
            Datum::Interval(value) => Self::Interval { months: value.months, days: value.days, micros: value.micros },
            Datum::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
        }
    }
}

impl Stored {
    fn datum<E: Error>(self) -> Result<Datum, E> {
        Ok(match self {
            Self::Null => Datum::Null,
            Self::Bool(value) => Datum::Bool(value),
            Self::Int2(value) => Datum::Int2(value),
            Self::Int4(value) => Datum::Int4(value),
            Self::Int8(value) => Datum::Int8(value),
            Self::Float4(bits) => Datum::Float4(f32::from_bits(bits)),
            Self::Float8(bits) => Datum::Float8(f64::from_bits(bits)),
            Self::Numeric(digits, scale) => {
                Datum::Numeric(Decimal { unscaled: digits.parse().map_err(E::custom)?, scale })
            }
            Self::Text(value) => Datum::Text(value),
            Self::Bytes(value) => Datum::Bytes(value),
            Self::Date(value) => Datum::Date(value),
            Self::Time(value) => Datum::Time(value),
            Self::Timestamp(value) => Datum::Timestamp(value),
            Self::TimestampTz(value) => Datum::TimestampTz(value),
            Self::Uuid(value) => Datum::Uuid(value),
            Self::Interval { months, days, micros } => Datum::Interval(Interval { months, days, micros }),
            Self::Array(items) => Datum::Array(items.into_iter().map(Self::datum).collect::<Result<_, E>>()?),
        })
    }
}

/// For `#[serde(with)]`.
pub(crate) fn serialize<S: Serializer>(datum: &Datum, serializer: S) -> Result<S::Ok, S::Error> {
    Stored::from(datum).serialize(serializer)
}

/// For `#[serde(with)]`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Datum, D::Error> {
    Stored::deserialize(deserializer)?.datum()
}
