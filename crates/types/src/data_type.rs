//! The SQL types of Bennu: one table that ties names, oids and parameters together.

use serde::{Deserialize, Serialize};

/// Most fraction digits that a `numeric` without precision keeps: its Arrow form is
/// `Decimal256(76, 20)`, which leaves room for products. More digits are an error, never rounded away.
pub const NUMERIC_MAX_SCALE: u8 = 20;

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
    /// `char(n)` in characters: kept without trailing blanks, padded when shown.
    Char(u32),
    /// `bytea`; Phoenix `VARBINARY`.
    Bytea,
    /// `varbinary(n)`: `bytea` of at most n bytes.
    Varbinary(u32),
    /// `binary(n)`: exactly n bytes, shorter values are padded with zero bytes on the right.
    Binary(u32),
    /// `date`: days since 1970-01-01.
    Date,
    /// `time`: microseconds since midnight.
    Time,
    /// `timestamp`: microseconds since 1970-01-01 00:00.
    Timestamp,
    /// `timestamptz`: microseconds since 1970-01-01 00:00 UTC.
    TimestampTz,
    /// `uuid`, 16 bytes.
    Uuid,
}
