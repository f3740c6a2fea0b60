//! Converts the cells of one column to one Arrow array cell by cell, from any layout: the slower, general way.

use crate::convert::array_column::{ArraySink, IntervalSink};
use crate::convert::arrow_type::arrow_type;
use crate::convert::column_builder::{BuildError, FixedCell, primitive, variable_array};
use crate::convert::scalar::numeric_to_i256;
use arrow::array::{ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeBinaryArray, PrimitiveArray};
use arrow::buffer::{Buffer, NullBuffer};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType,
};
use rowkey::{KeyError, cell_value};
use std::sync::Arc;
use types::{DataType, Datum};

/// Collects the cells of a column.
pub(crate) trait CellSink {
    /// Appends the next row's cell; `None` is NULL.
    fn push(&mut self, cell: Option<&[u8]>) -> Result<(), BuildError>;
    /// Returns the column.
    fn finish(self: Box<Self>) -> Result<ArrayRef, BuildError>;
}

/// Returns a sink for cells of type `ty`.
pub(crate) fn sink(ty: &DataType, rows: usize) -> Box<dyn CellSink> {
    match (ty, ty.fixed_width()) {
        (DataType::Boolean, _) => Box::new(BooleanSink { values: Vec::with_capacity(rows) }),
        (DataType::SmallInt, _) => PrimitiveSink::<Int16Type, 2>::boxed(ty, rows),
        (DataType::Integer, _) => PrimitiveSink::<Int32Type, 4>::boxed(ty, rows),
        (DataType::BigInt, _) => PrimitiveSink::<Int64Type, 8>::boxed(ty, rows),
        (DataType::Date, _) => PrimitiveSink::<Date32Type, 4>::boxed(ty, rows),
        (DataType::Time(_), _) => PrimitiveSink::<Time64MicrosecondType, 8>::boxed(ty, rows),
        (DataType::Timestamp(_) | DataType::TimestampTz(_), _) => {
            PrimitiveSink::<TimestampMicrosecondType, 8>::boxed(ty, rows)
        }
        (DataType::Real, _) => PrimitiveSink::<Float32Type, 4>::boxed(ty, rows),
        (DataType::Double, _) => PrimitiveSink::<Float64Type, 8>::boxed(ty, rows),
        (DataType::Numeric(Some(_)), Some(4)) => PrimitiveSink::<Decimal128Type, 4>::boxed(ty, rows),
        (DataType::Numeric(Some(_)), Some(8)) => PrimitiveSink::<Decimal128Type, 8>::boxed(ty, rows),
        (DataType::Numeric(Some(_)), _) => PrimitiveSink::<Decimal128Type, 16>::boxed(ty, rows),
        (DataType::Numeric(None), _) => Box::new(NumericSink { values: Vec::with_capacity(rows) }),
        (DataType::Interval | DataType::LimitedInterval(_), _) => IntervalSink::boxed(rows),
        (DataType::Array(_) | DataType::LimitedArray(_), _) => ArraySink::boxed(ty, rows),
        (DataType::Uuid, _) => Box::new(UuidSink { bytes: Vec::with_capacity(rows * 16), nulls: Vec::new() }),
        _ => {
            let mut ends = Vec::with_capacity(rows + 1);
            ends.push(0);
            Box::new(VariableSink { ty: *ty, bytes: Vec::new(), ends, nulls: Vec::with_capacity(rows) })
        }
    }
}

struct PrimitiveSink<T: ArrowPrimitiveType, const N: usize> {
    ty: DataType,
    values: Vec<T::Native>,
    valid: Vec<bool>,
}

impl<T: FixedCell<N>, const N: usize> PrimitiveSink<T, N> {
    fn boxed(ty: &DataType, rows: usize) -> Box<dyn CellSink> {
        Box::new(Self { ty: *ty, values: Vec::with_capacity(rows), valid: Vec::with_capacity(rows) })
    }
}

impl<T: FixedCell<N>, const N: usize> CellSink for PrimitiveSink<T, N> {
    fn push(&mut self, cell: Option<&[u8]>) -> Result<(), BuildError> {
        let value = match cell {
            None => T::Native::default(),
            Some(bytes) => T::native(bytes.try_into().map_err(|_| bad_width(&self.ty, bytes))?),
        };
        self.values.push(value);
        self.valid.push(cell.is_some());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ArrayRef, BuildError> {
        Ok(primitive::<T>(self.values, valid_buffer(self.valid), &self.ty))
    }
}

struct BooleanSink {
    values: Vec<Option<bool>>,
}

impl CellSink for BooleanSink {
    fn push(&mut self, cell: Option<&[u8]>) -> Result<(), BuildError> {
        self.values.push(match cell {
            None => None,
            Some([byte]) => Some(*byte != 0),
            Some(bytes) => return Err(bad_width(&DataType::Boolean, bytes)),
        });
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ArrayRef, BuildError> {
        Ok(Arc::new(BooleanArray::from(self.values)))
    }
}

struct NumericSink {
    values: Vec<Option<arrow::datatypes::i256>>,
}

impl CellSink for NumericSink {
    fn push(&mut self, cell: Option<&[u8]>) -> Result<(), BuildError> {
        let Some(bytes) = cell else {
            self.values.push(None);
            return Ok(());
        };
        let ty = DataType::Numeric(None);
        let wide = match cell_value::decode_variable(&ty, bytes)? {
            Datum::Numeric(value) => numeric_to_i256(&value),
            _ => None,
        };
        let wide = wide.ok_or(KeyError::BadValue { offset: 0, ty: ty.sql_name() })?;
        self.values.push(Some(wide));
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ArrayRef, BuildError> {
        let array: PrimitiveArray<Decimal256Type> = self.values.into_iter().collect();
        Ok(Arc::new(array.with_data_type(arrow_type(&DataType::Numeric(None)))))
    }
}

struct UuidSink {
    bytes: Vec<u8>,
    nulls: Vec<bool>,
}

impl CellSink for UuidSink {
    fn push(&mut self, cell: Option<&[u8]>) -> Result<(), BuildError> {
        match cell {
            None => self.bytes.extend([0; 16]),
            Some(bytes) if bytes.len() == 16 => self.bytes.extend_from_slice(bytes),
            Some(bytes) => return Err(bad_width(&DataType::Uuid, bytes)),
        }
        self.nulls.push(cell.is_some());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ArrayRef, BuildError> {
        let nulls = valid_buffer(self.nulls);
        Ok(Arc::new(FixedSizeBinaryArray::try_new(16, Buffer::from_vec(self.bytes), nulls)?))
    }
}

struct VariableSink {
    ty: DataType,
    bytes: Vec<u8>,
    ends: Vec<i32>,
    nulls: Vec<bool>,
}

impl CellSink for VariableSink {
    fn push(&mut self, cell: Option<&[u8]>) -> Result<(), BuildError> {
        self.bytes.extend_from_slice(cell.unwrap_or_default());
        self.ends.push(i32::try_from(self.bytes.len()).map_err(|_| BuildError::TooMuchText)?);
        self.nulls.push(cell.is_some());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ArrayRef, BuildError> {
        variable_array(&self.ty, self.bytes, self.ends, valid_buffer(self.nulls))
    }
}

/// Returns `None` if all rows are valid.
fn valid_buffer(valid: Vec<bool>) -> Option<NullBuffer> {
    if valid.iter().all(|valid| *valid) { None } else { Some(NullBuffer::from(valid)) }
}

#[cold]
fn bad_width(ty: &DataType, bytes: &[u8]) -> BuildError {
    KeyError::BadWidth { ty: ty.sql_name(), expected: ty.fixed_width().unwrap_or(0), found: bytes.len() }.into()
}
