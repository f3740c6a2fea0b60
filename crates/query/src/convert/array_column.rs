//! Converts cells of arrays and intervals to Arrow columns.
//!
//! The Arrow type of a column fixes the dimensions of its arrays, also for a batch that has only empty arrays.

use super::arrow_type::arrow_type;
use super::cell_sink::CellSink;
use super::column_builder::BuildError;
use super::scalar::{datums_to_array, interval_to_arrow};
use crate::error::{QueryError, QueryResult};
use arrow::array::{ArrayRef, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, IntervalMonthDayNano, IntervalMonthDayNanoType};
use arrow::error::ArrowError;
use datafusion::common::DataFusionError;
use rowkey::{KeyError, cell_value};
use std::sync::Arc;
use types::{DataType, Datum};

/// Collects a column of arrays.
pub(super) struct ArraySink {
    ty: DataType,
    rows: Vec<Datum>,
}

impl ArraySink {
    pub(super) fn boxed(ty: &DataType, rows: usize) -> Box<dyn CellSink> {
        Box::new(Self { ty: *ty, rows: Vec::with_capacity(rows) })
    }
}

impl CellSink for ArraySink {
    fn push(&mut self, cell: Option<&[u8]>) -> Result<(), BuildError> {
        let value = cell.map(|bytes| cell_value::decode(&self.ty, bytes)).transpose()?;
        self.rows.push(value.unwrap_or(Datum::Null));
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ArrayRef, BuildError> {
        let made = column_of_arrays(&self.ty, self.rows);
        made.map_err(|error| ArrowError::from_external_error(Box::new(error)).into())
    }
}

/// Builds a column of arrays in the Arrow type of `ty`, which fixes their dimensions.
///
/// # Errors
/// [`QueryError::Internal`] for an array of other dimensions, and errors of [`datums_to_array`] for the items.
pub(super) fn column_of_arrays(ty: &DataType, rows: Vec<Datum>) -> QueryResult<ArrayRef> {
    let item = ty.item().unwrap_or(*ty);
    lists(&item, &arrow_type(ty), rows)
}

/// Builds lists of `item`s, or lists of lists.
fn lists(item: &DataType, ty: &ArrowType, rows: Vec<Datum>) -> QueryResult<ArrayRef> {
    let bad = || QueryError::internal(format!("an array of other dimensions than its column of {item}"));
    let ArrowType::List(field) = ty else {
        let nested = rows.iter().any(|row| matches!(row, Datum::Array(_)));
        return if nested { Err(bad()) } else { datums_to_array(item, rows) };
    };
    let valid: Vec<bool> = rows.iter().map(|row| !row.is_null()).collect();
    let (mut lengths, mut parts) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        match row {
            Datum::Null => lengths.push(0),
            Datum::Array(items) => {
                lengths.push(items.len());
                parts.extend(items);
            }
            _ => return Err(bad()),
        }
    }
    i32::try_from(parts.len()).map_err(|_| QueryError::internal("more than 2 billion elements in one batch"))?;
    let values = lists(item, field.data_type(), parts)?;
    let nulls = valid.contains(&false).then(|| NullBuffer::from(valid));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let made = ListArray::try_new(Arc::clone(field), offsets, values, nulls);
    Ok(Arc::new(made.map_err(DataFusionError::from)?))
}

/// Collects a column of intervals.
pub(super) struct IntervalSink {
    rows: Vec<Option<IntervalMonthDayNano>>,
}

impl IntervalSink {
    pub(super) fn boxed(rows: usize) -> Box<dyn CellSink> {
        Box::new(Self { rows: Vec::with_capacity(rows) })
    }
}

impl CellSink for IntervalSink {
    fn push(&mut self, cell: Option<&[u8]>) -> Result<(), BuildError> {
        let ty = DataType::Interval;
        self.rows.push(match cell.map(|bytes| cell_value::decode(&ty, bytes)).transpose()? {
            None => None,
            Some(Datum::Interval(value)) => {
                let bad = || KeyError::BadValue { offset: 0, ty: ty.sql_name() };
                Some(interval_to_arrow(value).map_err(|_| bad())?)
            }
            Some(_) => return Err(KeyError::BadValue { offset: 0, ty: ty.sql_name() }.into()),
        });
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ArrayRef, BuildError> {
        Ok(Arc::new(self.rows.into_iter().collect::<arrow::array::PrimitiveArray<IntervalMonthDayNanoType>>()))
    }
}
