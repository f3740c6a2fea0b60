//! Encodes values of Arrow columns for the wire.

use super::{Printer, put_bytes, put_field};
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, FixedSizeBinaryArray, ListArray, PrimitiveArray, StringArray,
};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, IntervalMonthDayNanoType, IntervalUnit, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use bytes::BufMut;
use types::{DataType, Datum, Decimal, Interval};

/// A column of a batch, downcast once.
pub(crate) enum ColumnReader<'a> {
    Null,
    Bool(&'a BooleanArray),
    Int2(&'a PrimitiveArray<Int16Type>),
    Int4(&'a PrimitiveArray<Int32Type>),
    Int8(&'a PrimitiveArray<Int64Type>),
    Float4(&'a PrimitiveArray<Float32Type>),
    Float8(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a PrimitiveArray<Decimal128Type>, u8),
    Wide(&'a PrimitiveArray<Decimal256Type>, u8),
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
    Date(&'a PrimitiveArray<Date32Type>),
    Time(&'a PrimitiveArray<Time64MicrosecondType>),
    Timestamp(&'a PrimitiveArray<TimestampMicrosecondType>),
    TimestampTz(&'a PrimitiveArray<TimestampMicrosecondType>),
    Uuid(&'a FixedSizeBinaryArray),
    Interval(&'a PrimitiveArray<IntervalMonthDayNanoType>),
    List(&'a ListArray),
}

impl<'a> ColumnReader<'a> {
    /// `None` for an Arrow type without a SQL type; DataFusion's results have none.
    pub(crate) fn new(array: &'a ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            ArrowType::Null => Self::Null,
            ArrowType::Boolean => Self::Bool(array.as_boolean_opt()?),
            ArrowType::Int16 => Self::Int2(array.as_primitive_opt()?),
            ArrowType::Int32 => Self::Int4(array.as_primitive_opt()?),
            ArrowType::Int64 => Self::Int8(array.as_primitive_opt()?),
            ArrowType::Float32 => Self::Float4(array.as_primitive_opt()?),
            ArrowType::Float64 => Self::Float8(array.as_primitive_opt()?),
            ArrowType::Decimal128(_, scale) => Self::Decimal(array.as_primitive_opt()?, u8::try_from(*scale).ok()?),
            ArrowType::Decimal256(_, scale) => Self::Wide(array.as_primitive_opt()?, u8::try_from(*scale).ok()?),
            ArrowType::Utf8 => Self::Text(array.as_string_opt()?),
            ArrowType::Binary => Self::Bytes(array.as_binary_opt()?),
            ArrowType::Date32 => Self::Date(array.as_primitive_opt()?),
            ArrowType::Time64(TimeUnit::Microsecond) => Self::Time(array.as_primitive_opt()?),
            ArrowType::Timestamp(TimeUnit::Microsecond, None) => Self::Timestamp(array.as_primitive_opt()?),
            ArrowType::Timestamp(TimeUnit::Microsecond, Some(_)) => Self::TimestampTz(array.as_primitive_opt()?),
            ArrowType::FixedSizeBinary(16) => Self::Uuid(array.as_fixed_size_binary_opt()?),
            ArrowType::Interval(IntervalUnit::MonthDayNano) => Self::Interval(array.as_primitive_opt()?),
            ArrowType::List(_) => Self::List(array.as_list_opt()?),
            _ => return None,
        })
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(a) => a.is_null(row),
            Self::Int2(a) => a.is_null(row),
            Self::Int4(a) => a.is_null(row),
            Self::Int8(a) => a.is_null(row),
            Self::Float4(a) => a.is_null(row),
            Self::Float8(a) => a.is_null(row),
            Self::Decimal(a, _) => a.is_null(row),
            Self::Wide(a, _) => a.is_null(row),
            Self::Text(a) => a.is_null(row),
            Self::Bytes(a) => a.is_null(row),
            Self::Date(a) => a.is_null(row),
            Self::Time(a) => a.is_null(row),
            Self::Timestamp(a) | Self::TimestampTz(a) => a.is_null(row),
            Self::Uuid(a) => a.is_null(row),
            Self::Interval(a) => a.is_null(row),
            Self::List(a) => a.is_null(row),
        }
    }

    /// Appends the field of `row`. False if a number exceeds the range of `numeric`.
    #[must_use]
    pub(crate) fn put(
        &self,
        row: usize,
        ty: &DataType,
        binary: bool,
        printer: &mut Printer,
        out: &mut Vec<u8>,
    ) -> bool {
        if self.is_null(row) {
            out.put_i32(-1);
            return true;
        }
        match self {
            Self::Text(a) if matches!(ty, DataType::Text | DataType::Varchar(_)) => {
                put_bytes(a.value(row).as_bytes(), out);
                return true;
            }
            Self::Bytes(a) if binary => {
                put_bytes(a.value(row), out);
                return true;
            }
            _ => {}
        }
        let Some(value) = self.value(row) else { return false };
        put_field(ty, &value, binary, printer, out);
        true
    }

    /// The value of `row`, which is not NULL. `None` if a number exceeds the range of `numeric`.
    fn value(&self, row: usize) -> Option<Datum> {
        Some(match self {
            Self::Null => Datum::Null,
            Self::Bool(a) => Datum::Bool(a.value(row)),
            Self::Int2(a) => Datum::Int2(a.value(row)),
            Self::Int4(a) => Datum::Int4(a.value(row)),
            Self::Int8(a) => Datum::Int8(a.value(row)),
            Self::Float4(a) => Datum::Float4(a.value(row)),
            Self::Float8(a) => Datum::Float8(a.value(row)),
            Self::Decimal(a, scale) => Datum::Numeric(Decimal { unscaled: a.value(row), scale: *scale }),
            Self::Wide(a, scale) => Datum::Numeric(narrow(a.value(row), *scale)?),
            Self::Text(a) => Datum::Text(a.value(row).into()),
            Self::Bytes(a) => Datum::Bytes(a.value(row).into()),
            Self::Date(a) => Datum::Date(a.value(row)),
            Self::Time(a) => Datum::Time(a.value(row)),
            Self::Timestamp(a) => Datum::Timestamp(a.value(row)),
            Self::TimestampTz(a) => Datum::TimestampTz(a.value(row)),
            Self::Uuid(a) => Datum::Uuid(a.value(row).try_into().unwrap_or_default()),
            Self::Interval(a) => {
                let v = a.value(row);
                Datum::Interval(Interval { months: v.months, days: v.days, micros: v.nanoseconds / 1_000 })
            }
            Self::List(a) => {
                let items = a.value(row);
                let reader = ColumnReader::new(&items)?;
                let item = |at| if reader.is_null(at) { Some(Datum::Null) } else { reader.value(at) };
                Datum::Array((0..items.len()).map(item).collect::<Option<_>>()?)
            }
        })
    }
}

/// Converts a 256-bit decimal after dropping trailing zeros of the fraction. `None` beyond 38 digits.
fn narrow(value: arrow::datatypes::i256, scale: u8) -> Option<Decimal> {
    let ten = arrow::datatypes::i256::from_i128(10);
    let (mut value, mut scale) = (value, scale);
    while scale > 0 && value.checked_rem(ten)? == arrow::datatypes::i256::ZERO {
        value = value.checked_div(ten)?;
        scale -= 1;
    }
    let unscaled = value.to_i128().filter(|v| v.unsigned_abs() < 10u128.pow(38))?;
    Some(Decimal { unscaled, scale })
}
