//! Converts the cells of one column to one Arrow array: a tight loop for each type.

use crate::convert::arrow_type::arrow_type;
use crate::convert::cell_sink::sink;
use arrow::array::{ArrayRef, ArrowPrimitiveType, BinaryArray, PrimitiveArray, StringArray};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use arrow::error::ArrowError;
use fragment::{FixedColumn, FragmentError, Layout, VariableColumn};
use rowkey::integer::Ordered;
use rowkey::{KeyError, float};
use std::sync::Arc;
use store::RowBatch;
use types::DataType;

/// An error in the cells of a column.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    /// A cell that is not of the column's type.
    #[error(transparent)]
    Cell(#[from] KeyError),
    /// A fragment that is truncated or has bad offsets.
    #[error(transparent)]
    Fragment(#[from] FragmentError),
    /// Text that is not UTF-8, or more than 2 GiB of it in a batch.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// A rowkey that ends before one of its parts.
    #[error("a rowkey of {len} bytes ends before byte {need}")]
    ShortKey {
        /// The length of the rowkey.
        len: usize,
        /// The length that it needs.
        need: usize,
    },
    /// More text than one Arrow column holds.
    #[error("more than 2 GiB in one column of a batch")]
    TooMuchText,
}

/// Decodes a fixed-width cell to a native value. `N` is the cell's width.
pub(super) trait FixedCell<const N: usize>: ArrowPrimitiveType {
    fn native(bytes: [u8; N]) -> Self::Native;
}

macro_rules! fixed_cells {
    ($($arrow:ty, $bytes:literal, $from:expr;)*) => {$(
        impl FixedCell<$bytes> for $arrow {
            #[inline]
            fn native(bytes: [u8; $bytes]) -> Self::Native {
                $from(bytes)
            }
        }
    )*};
}

fixed_cells! {
    Int16Type, 2, i16::from_ordered;
    Int32Type, 4, i32::from_ordered;
    Int64Type, 8, i64::from_ordered;
    Date32Type, 4, i32::from_ordered;
    Time64MicrosecondType, 8, i64::from_ordered;
    TimestampMicrosecondType, 8, i64::from_ordered;
    Decimal128Type, 4, |bytes| i128::from(i32::from_ordered(bytes));
    Decimal128Type, 8, |bytes| i128::from(i64::from_ordered(bytes));
    Decimal128Type, 16, i128::from_ordered;
    // Bytes that encode no float become NaN: checksums protect the data on disk.
    Float32Type, 4, |bytes| float::single_from_bytes(bytes).unwrap_or(f32::NAN);
    Float64Type, 8, |bytes| float::double_from_bytes(bytes).unwrap_or(f64::NAN);
}

/// Builds the column at `position` from rows for which [`fragment::is_dense_of`] holds. The NULL bits of a column that
/// is not `nullable` are not read.
pub(crate) fn dense(
    layout: &Layout,
    position: usize,
    ty: &DataType,
    nullable: bool,
    rows: &[&[u8]],
) -> Result<ArrayRef, BuildError> {
    if let Some(column) = layout.fixed_column(position) {
        let nulls = null_buffer(rows, nullable, |row| column.is_null(row));
        return dense_fixed(&column, ty, rows, nulls);
    }
    let Some(column) = layout.variable_column(position) else {
        return Err(BuildError::TooMuchText);
    };
    let nulls = null_buffer(rows, nullable, |row| column.is_null(row));
    dense_variable(&column, ty, rows, nulls)
}

fn dense_fixed(
    column: &FixedColumn,
    ty: &DataType,
    rows: &[&[u8]],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, BuildError> {
    Ok(match (ty, column.width()) {
        (DataType::SmallInt, _) => dense_primitive::<Int16Type, 2>(column, ty, rows, nulls),
        (DataType::Integer, _) => dense_primitive::<Int32Type, 4>(column, ty, rows, nulls),
        (DataType::BigInt, _) => dense_primitive::<Int64Type, 8>(column, ty, rows, nulls),
        (DataType::Date, _) => dense_primitive::<Date32Type, 4>(column, ty, rows, nulls),
        (DataType::Time(_), _) => dense_primitive::<Time64MicrosecondType, 8>(column, ty, rows, nulls),
        (DataType::Timestamp(_) | DataType::TimestampTz(_), _) => {
            dense_primitive::<TimestampMicrosecondType, 8>(column, ty, rows, nulls)
        }
        (DataType::Real, _) => dense_primitive::<Float32Type, 4>(column, ty, rows, nulls),
        (DataType::Double, _) => dense_primitive::<Float64Type, 8>(column, ty, rows, nulls),
        (DataType::Numeric(_), 4) => dense_primitive::<Decimal128Type, 4>(column, ty, rows, nulls),
        (DataType::Numeric(_), 8) => dense_primitive::<Decimal128Type, 8>(column, ty, rows, nulls),
        (DataType::Numeric(_), _) => dense_primitive::<Decimal128Type, 16>(column, ty, rows, nulls),
        _ => {
            // boolean, uuid and binary(n) are rare enough for the general way.
            let mut sink = sink(ty, rows.len());
            for row in rows {
                sink.push(column.read(row))?;
            }
            sink.finish()?
        }
    })
}

fn dense_primitive<T: FixedCell<N>, const N: usize>(
    column: &FixedColumn,
    ty: &DataType,
    rows: &[&[u8]],
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    // `is_dense_of` holds for every row, so the default is never used.
    let value = |row: &&[u8]| column.array::<N>(row).map(|bytes| T::native(*bytes)).unwrap_or_default();
    let mut values: Vec<T::Native> = rows.iter().map(value).collect();
    if let Some(nulls) = &nulls {
        // The bytes of a NULL are the least value of the type; expressions, which are computed for NULL slots too,
        // could overflow.
        for (at, value) in values.iter_mut().enumerate() {
            if nulls.is_null(at) {
                *value = T::Native::default();
            }
        }
    }
    primitive::<T>(values, nulls, ty)
}

pub(super) fn primitive<T: ArrowPrimitiveType>(
    values: Vec<T::Native>,
    nulls: Option<NullBuffer>,
    ty: &DataType,
) -> ArrayRef {
    let array = PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls);
    // Sets precision, scale and time zone, which the native values do not have.
    Arc::new(array.with_data_type(arrow_type(ty)))
}

fn dense_variable(
    column: &VariableColumn,
    ty: &DataType,
    rows: &[&[u8]],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, BuildError> {
    if !ty.is_text() && !ty.is_bytes() {
        let mut sink = sink(ty, rows.len());
        for row in rows {
            sink.push(column.read(row)?)?;
        }
        return sink.finish();
    }
    let mut bytes = Vec::with_capacity(rows.len() * 8);
    let mut ends = Vec::with_capacity(rows.len() + 1);
    ends.push(0_i32);
    for row in rows {
        // A NULL has no bytes, so its slot is empty.
        bytes.extend_from_slice(column.bytes(row)?);
        ends.push(i32::try_from(bytes.len()).map_err(|_| BuildError::TooMuchText)?);
    }
    variable_array(ty, bytes, ends, nulls)
}

pub(super) fn variable_array(
    ty: &DataType,
    bytes: Vec<u8>,
    ends: Vec<i32>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, BuildError> {
    let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
    let values = Buffer::from_vec(bytes);
    Ok(if ty.is_text() {
        Arc::new(StringArray::try_new(offsets, values, nulls)?)
    } else {
        Arc::new(BinaryArray::try_new(offsets, values, nulls)?)
    })
}

/// Returns `None` if no row is NULL; does not check a column that is not nullable.
fn null_buffer(rows: &[&[u8]], nullable: bool, is_null: impl Fn(&[u8]) -> bool) -> Option<NullBuffer> {
    if !nullable || !rows.iter().any(|row| is_null(row)) {
        return None;
    }
    let valid = |row: usize| rows.get(row).is_some_and(|row| !is_null(row));
    Some(NullBuffer::new(BooleanBuffer::collect_bool(rows.len(), valid)))
}

/// Builds the column of a key part that has the same offset in every key.
pub(crate) fn key_column(
    (offset, width): (usize, usize),
    descending: bool,
    ty: &DataType,
    batch: &RowBatch,
) -> Result<ArrayRef, BuildError> {
    let at = KeySlot { offset, width, mask: if descending { 0xFF } else { 0 } };
    match (ty, width) {
        (DataType::SmallInt, _) => at.primitive::<Int16Type, 2>(ty, batch),
        (DataType::Integer, _) => at.primitive::<Int32Type, 4>(ty, batch),
        (DataType::BigInt, _) => at.primitive::<Int64Type, 8>(ty, batch),
        (DataType::Date, _) => at.primitive::<Date32Type, 4>(ty, batch),
        (DataType::Time(_), _) => at.primitive::<Time64MicrosecondType, 8>(ty, batch),
        (DataType::Timestamp(_) | DataType::TimestampTz(_), _) => {
            at.primitive::<TimestampMicrosecondType, 8>(ty, batch)
        }
        (DataType::Real, _) => at.primitive::<Float32Type, 4>(ty, batch),
        (DataType::Double, _) => at.primitive::<Float64Type, 8>(ty, batch),
        (DataType::Numeric(_), 4) => at.primitive::<Decimal128Type, 4>(ty, batch),
        (DataType::Numeric(_), 8) => at.primitive::<Decimal128Type, 8>(ty, batch),
        (DataType::Numeric(_), 16) => at.primitive::<Decimal128Type, 16>(ty, batch),
        _ => at.any(ty, batch),
    }
}

struct KeySlot {
    offset: usize,
    width: usize,
    /// XORed with the bytes: 0xFF for a descending part.
    mask: u8,
}

impl KeySlot {
    fn primitive<T: FixedCell<N>, const N: usize>(
        &self,
        ty: &DataType,
        batch: &RowBatch,
    ) -> Result<ArrayRef, BuildError> {
        let mut values = Vec::with_capacity(batch.len());
        for key in batch.keys() {
            let Some(bytes) = key.get(self.offset..).and_then(|rest| rest.first_chunk::<N>()) else {
                return Err(BuildError::ShortKey { len: key.len(), need: self.offset + N });
            };
            values.push(T::native(bytes.map(|byte| byte ^ self.mask)));
        }
        Ok(primitive::<T>(values, None, ty))
    }

    fn any(&self, ty: &DataType, batch: &RowBatch) -> Result<ArrayRef, BuildError> {
        let mut sink = sink(ty, batch.len());
        let mut cell = Vec::new();
        for key in batch.keys() {
            let Some(bytes) = key.get(self.offset..self.offset + self.width) else {
                return Err(BuildError::ShortKey { len: key.len(), need: self.offset + self.width });
            };
            cell.clear();
            cell.extend(bytes.iter().map(|byte| byte ^ self.mask));
            sink.push(Some(&cell))?;
        }
        sink.finish()
    }
}
