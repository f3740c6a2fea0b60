//! Types of array elements.

use crate::DataType;
use serde::{Deserialize, Serialize};

/// The element type of an array, without type modifiers. `varchar(3)[]` is `varchar[]`, and `char(n)` becomes text,
/// because only the length determines how many blanks a value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the type of its name")]
pub enum ElementType {
    Boolean,
    SmallInt,
    Integer,
    BigInt,
    Real,
    Double,
    Numeric,
    Text,
    Varchar,
    Bytea,
    Date,
    Time,
    Timestamp,
    TimestampTz,
    Uuid,
    Interval,
    Oid,
}

impl ElementType {
    /// All element types.
    pub const ALL: [Self; 17] = [
        Self::Boolean,
        Self::SmallInt,
        Self::Integer,
        Self::BigInt,
        Self::Real,
        Self::Double,
        Self::Numeric,
        Self::Text,
        Self::Varchar,
        Self::Bytea,
        Self::Date,
        Self::Time,
        Self::Timestamp,
        Self::TimestampTz,
        Self::Uuid,
        Self::Interval,
        Self::Oid,
    ];

    /// Returns the element type for values of `ty`; `None` for JSON and arrays.
    pub fn of(ty: &DataType) -> Option<Self> {
        Some(match ty {
            DataType::Boolean => Self::Boolean,
            DataType::SmallInt => Self::SmallInt,
            DataType::Integer => Self::Integer,
            DataType::BigInt => Self::BigInt,
            DataType::Real => Self::Real,
            DataType::Double => Self::Double,
            DataType::Numeric(_) => Self::Numeric,
            DataType::Text | DataType::Char(_) => Self::Text,
            DataType::Varchar(_) => Self::Varchar,
            DataType::Bytea | DataType::Varbinary(_) | DataType::Binary(_) => Self::Bytea,
            DataType::Date => Self::Date,
            DataType::Time(_) => Self::Time,
            DataType::Timestamp(_) => Self::Timestamp,
            DataType::TimestampTz(_) => Self::TimestampTz,
            DataType::Uuid => Self::Uuid,
            DataType::Interval | DataType::LimitedInterval(_) => Self::Interval,
            DataType::Oid => Self::Oid,
            DataType::Json | DataType::Array(_) | DataType::LimitedArray(_) => return None,
        })
    }

    /// Returns the type of an element.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::SmallInt => DataType::SmallInt,
            Self::Integer => DataType::Integer,
            Self::BigInt => DataType::BigInt,
            Self::Real => DataType::Real,
            Self::Double => DataType::Double,
            Self::Numeric => DataType::Numeric(None),
            Self::Text => DataType::Text,
            Self::Varchar => DataType::Varchar(None),
            Self::Bytea => DataType::Bytea,
            Self::Date => DataType::Date,
            Self::Time => DataType::Time(None),
            Self::Timestamp => DataType::Timestamp(None),
            Self::TimestampTz => DataType::TimestampTz(None),
            Self::Uuid => DataType::Uuid,
            Self::Interval => DataType::Interval,
            Self::Oid => DataType::Oid,
        }
    }

    /// Returns the oid of the array type.
    pub(crate) fn array_oid(self) -> u32 {
        match self {
            Self::Boolean => 1000,
            Self::Bytea => 1001,
            Self::SmallInt => 1005,
            Self::Integer => 1007,
            Self::Text => 1009,
            Self::Varchar => 1015,
            Self::BigInt => 1016,
            Self::Real => 1021,
            Self::Oid => 1028,
            Self::Double => 1022,
            Self::Timestamp => 1115,
            Self::Date => 1182,
            Self::Time => 1183,
            Self::TimestampTz => 1185,
            Self::Interval => 1187,
            Self::Numeric => 1231,
            Self::Uuid => 2951,
        }
    }

    /// Returns the name of the array type.
    pub(crate) fn array_name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean[]",
            Self::SmallInt => "smallint[]",
            Self::Integer => "integer[]",
            Self::BigInt => "bigint[]",
            Self::Real => "real[]",
            Self::Double => "double precision[]",
            Self::Numeric => "numeric[]",
            Self::Text => "text[]",
            Self::Varchar => "character varying[]",
            Self::Bytea => "bytea[]",
            Self::Date => "date[]",
            Self::Time => "time without time zone[]",
            Self::Timestamp => "timestamp without time zone[]",
            Self::TimestampTz => "timestamp with time zone[]",
            Self::Uuid => "uuid[]",
            Self::Interval => "interval[]",
            Self::Oid => "oid[]",
        }
    }
}
