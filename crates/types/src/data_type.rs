//! The SQL types of Bennu: one table that ties names, oids and parameters together.

use crate::{ArrayLimits, ElementType, IntervalFields, stored_clock};
use serde::{Deserialize, Serialize};

/// Maximum scale of a `numeric` without precision: its Arrow type is `Decimal256(76, 20)`, which leaves room for
/// products. More fraction digits are an error, never rounded away.
pub const NUMERIC_MAX_SCALE: u8 = 20;

/// Maximum digits of a second: microseconds.
pub const MAX_DIGITS: u8 = 6;

/// A SQL type with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DataType {
    /// `boolean`.
    Boolean,
    /// `smallint`, 2 bytes.
    SmallInt,
    /// `integer`, 4 bytes.
    Integer,
    /// `bigint`, 8 bytes.
    BigInt,
    /// `real`, IEEE single.
    Real,
    /// `double precision`, IEEE double.
    Double,
    /// `numeric(precision, scale)`; `None` is `numeric` without precision: up to 38 digits, at most
    /// [`NUMERIC_MAX_SCALE`] of them after the point. Precision is 1 to 38, scale 0 to precision.
    Numeric(Option<(u8, u8)>),
    /// `text`.
    Text,
    /// `varchar(n)` in characters; `None` is without a limit.
    Varchar(Option<u32>),
    /// `char(n)` in characters: stored without trailing blanks, padded when printed.
    Char(u32),
    /// `bytea`; Phoenix `VARBINARY`.
    Bytea,
    /// `varbinary(n)`: `bytea` of at most n bytes.
    Varbinary(u32),
    /// `binary(n)`: exactly n bytes, shorter values are padded with zero bytes on the right.
    Binary(u32),
    /// `date`: days since 1970-01-01.
    Date,
    /// `uuid`, 16 bytes.
    Uuid,
    /// `interval`.
    Interval,
    /// `interval day to second(3)`. Only columns have it: to expressions their values are intervals.
    LimitedInterval(IntervalFields),
    /// `oid`, the number of an object: an integer from 0 to 2^32 - 1. Only expressions have it, not columns.
    Oid,
    /// `json`, a text that is JSON. Only expressions have it, not columns.
    Json,
    /// An array; a column of this type has one dimension.
    Array(ElementType),
    /// `varchar(5)[]`, `integer[][]`. Only columns have it: to expressions it is [`DataType::Array`].
    LimitedArray(ArrayLimits),
    /// `time(digits)`: microseconds since midnight, rounded to so many digits of a second; `None` keeps all six.
    #[serde(untagged, with = "stored_clock::time")]
    Time(Option<u8>),
    /// `timestamp(digits)`: microseconds since 1970-01-01 00:00, rounded likewise.
    #[serde(untagged, with = "stored_clock::timestamp")]
    Timestamp(Option<u8>),
    /// `timestamptz(digits)`: microseconds since 1970-01-01 00:00 UTC, rounded likewise.
    #[serde(untagged, with = "stored_clock::timestamptz")]
    TimestampTz(Option<u8>),
}

impl DataType {
    /// Returns the name as PostgreSQL's `format_type` shows it, such as `character varying(10)`.
    pub fn sql_name(&self) -> String {
        match *self {
            Self::Numeric(Some((precision, scale))) => format!("numeric({precision},{scale})"),
            Self::Varchar(Some(limit)) => format!("character varying({limit})"),
            Self::Char(length) => format!("character({length})"),
            Self::Varbinary(limit) => format!("varbinary({limit})"),
            Self::Binary(length) => format!("binary({length})"),
            Self::LimitedInterval(fields) => {
                format!("interval{}{}", if fields.bounds.is_some() { " " } else { "" }, fields.words())
            }
            Self::LimitedArray(limits) => format!("{}[]", limits.item().sql_name()),
            plain => match plain.digits() {
                Some(digits) => plain.base_name().replacen(' ', &format!("({digits}) "), 1),
                None => plain.base_name().to_owned(),
            },
        }
    }

    /// Returns the digits of a second that the type declares.
    pub fn digits(&self) -> Option<u8> {
        match *self {
            Self::Time(digits) | Self::Timestamp(digits) | Self::TimestampTz(digits) => digits,
            _ => None,
        }
    }

    /// Returns the type without lengths, digits and scale, which would truncate or round a value: the type of a
    /// constant or parameter that is compared with such a value, or that is truncated later. A `char(n)` keeps its
    /// length.
    #[must_use]
    pub fn unlimited(self) -> Self {
        match self {
            Self::Numeric(_) => Self::Numeric(None),
            Self::Varchar(_) => Self::Varchar(None),
            Self::Varbinary(_) | Self::Binary(_) => Self::Bytea,
            other => other.without_digits().of_expressions(),
        }
    }

    /// Returns the type without its digits of a second.
    pub fn without_digits(self) -> Self {
        match self {
            Self::Time(_) => Self::Time(None),
            Self::Timestamp(_) => Self::Timestamp(None),
            Self::TimestampTz(_) => Self::TimestampTz(None),
            other => other,
        }
    }

    /// Returns the name without parameters, as PostgreSQL's error messages use it.
    pub fn base_name(&self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::SmallInt => "smallint",
            Self::Integer => "integer",
            Self::BigInt => "bigint",
            Self::Real => "real",
            Self::Double => "double precision",
            Self::Numeric(_) => "numeric",
            Self::Text => "text",
            Self::Varchar(_) => "character varying",
            Self::Char(_) => "character",
            Self::Bytea => "bytea",
            Self::Varbinary(_) => "varbinary",
            Self::Binary(_) => "binary",
            Self::Date => "date",
            Self::Time(_) => "time without time zone",
            Self::Timestamp(_) => "timestamp without time zone",
            Self::TimestampTz(_) => "timestamp with time zone",
            Self::Uuid => "uuid",
            Self::Interval | Self::LimitedInterval(_) => "interval",
            Self::Oid => "oid",
            Self::Json => "json",
            Self::Array(element) => element.array_name(),
            Self::LimitedArray(limits) => limits.element().array_name(),
        }
    }

    /// Returns the name in messages of PostgreSQL's input functions: `invalid input syntax for type ...`.
    pub(crate) fn input_name(&self) -> &'static str {
        match self {
            Self::Time(_) => "time",
            Self::Timestamp(_) => "timestamp",
            other => other.base_name(),
        }
    }

    /// Returns the type's oid in PostgreSQL's `pg_type`. `binary` and `varbinary` are `bytea` on the wire.
    pub fn oid(&self) -> u32 {
        match self {
            Self::Boolean => 16,
            Self::Bytea | Self::Varbinary(_) | Self::Binary(_) => 17,
            Self::BigInt => 20,
            Self::SmallInt => 21,
            Self::Integer => 23,
            Self::Text => 25,
            Self::Oid => 26,
            Self::Json => 114,
            Self::Real => 700,
            Self::Double => 701,
            Self::Char(_) => 1042,
            Self::Varchar(_) => 1043,
            Self::Date => 1082,
            Self::Time(_) => 1083,
            Self::Timestamp(_) => 1114,
            Self::TimestampTz(_) => 1184,
            Self::Numeric(_) => 1700,
            Self::Uuid => 2950,
            Self::Interval | Self::LimitedInterval(_) => 1186,
            Self::Array(element) => element.array_oid(),
            Self::LimitedArray(limits) => limits.element().array_oid(),
        }
    }

    /// Returns the type of a PostgreSQL oid and type modifier (-1: none). `None` for oids of unsupported types.
    /// `bpchar` without a length is `text`.
    pub fn from_oid(oid: u32, typmod: i32) -> Option<Self> {
        let length = u32::try_from(typmod.checked_sub(4)?).ok();
        let digits = u8::try_from(typmod).ok().filter(|digits| *digits <= MAX_DIGITS);
        Some(match oid {
            16 => Self::Boolean,
            17 => Self::Bytea,
            20 => Self::BigInt,
            21 => Self::SmallInt,
            23 => Self::Integer,
            25 => Self::Text,
            26 => Self::Oid,
            114 => Self::Json,
            700 => Self::Real,
            701 => Self::Double,
            1042 => length.map_or(Self::Text, Self::Char),
            1043 => Self::Varchar(length),
            1082 => Self::Date,
            1083 => Self::Time(digits),
            1114 => Self::Timestamp(digits),
            1184 => Self::TimestampTz(digits),
            1700 => Self::Numeric(length.and_then(|packed| {
                let precision = u8::try_from(packed >> 16).ok()?;
                let scale = u8::try_from(packed & 0x7FF).ok()?;
                ((1..=38).contains(&precision) && scale <= precision).then_some((precision, scale))
            })),
            2950 => Self::Uuid,
            1186 => IntervalFields::from_typmod(typmod).data_type(),
            _ => {
                let element = ElementType::ALL.into_iter().find(|element| element.array_oid() == oid)?;
                return Self::array_of(&Self::from_oid(element.data_type().oid(), typmod)?, 1);
            }
        })
    }

    /// Returns PostgreSQL's type modifier (`atttypmod`), -1 for none.
    pub fn typmod(&self) -> i32 {
        match *self {
            Self::Numeric(Some((precision, scale))) => ((i32::from(precision) << 16) | i32::from(scale)) + 4,
            Self::Varchar(Some(length)) | Self::Char(length) => i32::try_from(length).map_or(-1, |n| n + 4),
            Self::LimitedInterval(fields) => fields.typmod(),
            Self::LimitedArray(limits) => limits.item().typmod(),
            _ => self.digits().map_or(-1, i32::from),
        }
    }

    /// Returns PostgreSQL's `typlen`: bytes of the binary form, -1 if it varies.
    pub fn wire_len(&self) -> i16 {
        match self {
            Self::Boolean => 1,
            Self::SmallInt => 2,
            Self::Integer | Self::Real | Self::Date | Self::Oid => 4,
            Self::BigInt | Self::Double | Self::Time(_) | Self::Timestamp(_) | Self::TimestampTz(_) => 8,
            Self::Uuid | Self::Interval | Self::LimitedInterval(_) => 16,
            _ => -1,
        }
    }

    /// Returns the bytes of the order-preserving cell encoding; `None` if they vary.
    ///
    /// `numeric(p,s)` takes the smallest of 4, 8 and 16 bytes that holds `10^p - 1` as a signed integer.
    pub fn fixed_width(&self) -> Option<usize> {
        Some(match *self {
            Self::Boolean => 1,
            Self::SmallInt => 2,
            Self::Integer | Self::Real | Self::Date => 4,
            Self::BigInt | Self::Double | Self::Time(_) | Self::Timestamp(_) | Self::TimestampTz(_) => 8,
            Self::Uuid => 16,
            Self::Numeric(Some((precision, _))) => match precision {
                0..=9 => 4,
                10..=18 => 8,
                _ => 16,
            },
            Self::Binary(length) => length as usize,
            Self::Numeric(None)
            | Self::Text
            | Self::Varchar(_)
            | Self::Char(_)
            | Self::Bytea
            | Self::Varbinary(_)
            | Self::Interval
            | Self::LimitedInterval(_)
            | Self::Oid
            | Self::Json
            | Self::Array(_)
            | Self::LimitedArray(_) => return None,
        })
    }

    /// Returns whether it is `smallint`, `integer`, `bigint` or `oid`.
    pub fn is_integer(&self) -> bool {
        matches!(self, Self::SmallInt | Self::Integer | Self::BigInt | Self::Oid)
    }

    /// Returns whether it is `real` or `double precision`.
    pub fn is_float(&self) -> bool {
        matches!(self, Self::Real | Self::Double)
    }

    /// Returns whether it is a number.
    pub fn is_number(&self) -> bool {
        self.is_integer() || self.is_float() || matches!(self, Self::Numeric(_))
    }

    /// Returns whether it is `text`, `varchar` or `char`.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text | Self::Varchar(_) | Self::Char(_))
    }

    /// Returns whether it is `bytea`, `varbinary` or `binary`.
    pub fn is_bytes(&self) -> bool {
        matches!(self, Self::Bytea | Self::Varbinary(_) | Self::Binary(_))
    }

    /// Returns whether a column of a table can have it.
    pub fn is_storable(&self) -> bool {
        match self.item() {
            Some(item) => item.is_storable(),
            None => !matches!(self, Self::Oid | Self::Json),
        }
    }

    /// Returns whether a column of a primary key can have it. Intervals of equal length and arrays have no
    /// order-preserving encoding.
    pub fn is_key(&self) -> bool {
        self.is_storable() && self.item().is_none() && !matches!(self, Self::Interval | Self::LimitedInterval(_))
    }

    /// Returns whether it is a date, a time or a timestamp.
    pub fn is_temporal(&self) -> bool {
        matches!(self, Self::Date | Self::Time(_) | Self::Timestamp(_) | Self::TimestampTz(_))
    }
}

impl std::fmt::Display for DataType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sql_name())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One of each type, some with several parameters.
    pub(crate) fn samples() -> Vec<DataType> {
        use DataType::*;
        let mut all = vec![Boolean, SmallInt, Integer, BigInt, Real, Double, Numeric(None), Text, Varchar(None), Bytea];
        all.extend([
            Date,
            Time(None),
            Timestamp(None),
            TimestampTz(None),
            Uuid,
            Varchar(Some(10)),
            Char(1),
            Char(5),
            Varbinary(4),
        ]);
        all.extend([Interval, Oid, Json, Array(ElementType::Integer), Array(ElementType::Varchar)]);
        all.extend(DataType::array_of(&Numeric(Some((10, 2))), 1));
        all.extend(IntervalFields::from_words("day to second", Some(3)).map(IntervalFields::data_type));
        all.extend([Time(Some(0)), Timestamp(Some(3)), TimestampTz(Some(6))]);
        all.extend([Binary(3), Numeric(Some((9, 9))), Numeric(Some((10, 2))), Numeric(Some((38, 10)))]);
        all
    }

    #[test]
    fn numeric_takes_the_smallest_integer_that_holds_it() {
        let width = |p| DataType::Numeric(Some((p, 0))).fixed_width();
        assert_eq!([1, 9, 10, 18, 19, 38].map(width), [4, 4, 8, 8, 16, 16].map(Some));
        assert!(999_999_999_i64 <= i64::from(i32::MAX) && 9_999_999_999_i64 > i64::from(i32::MAX));
    }

    #[test]
    fn type_modifiers_are_those_of_postgresql() {
        assert_eq!(DataType::Numeric(Some((10, 2))).typmod(), 655_366);
        assert_eq!(DataType::Varchar(Some(10)).typmod(), 14);
        assert_eq!(DataType::Text.typmod(), -1);
        assert_eq!([None, Some(0), Some(6)].map(|digits| DataType::Timestamp(digits).typmod()), [-1, 0, 6]);
    }
}
