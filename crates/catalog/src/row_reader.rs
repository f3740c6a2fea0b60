//! Reads some columns of stored rows in place. Positions that are the same in every row are computed once.

use crate::row_codec::{Place, RowCodec};
use crate::{RowError, RowResult};
use fragment::{FixedColumn, VariableColumn, is_dense_of};
use rowkey::integer::Ordered;
use rowkey::{KeySchema, cell_value};
use std::ops::Range;
use types::{DataType, Datum};

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A value.
    Value(Datum),
    /// Text borrowed from the row, of a type whose stored bytes are its text form.
    Text(&'a str),
}

/// Reads the same columns of many rows.
#[derive(Debug)]
pub struct RowReader {
    codec: RowCodec,
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    index: usize,
    ty: DataType,
    source: Source,
}

/// Where a column is stored in rows of the newest layout.
#[derive(Debug)]
enum Source {
    /// A part of the key.
    Key(usize),
    /// A key part whose bytes are a cell value, at a fixed position in every key.
    KeyCell(Range<usize>, usize),
    Fixed(FixedColumn),
    Variable(VariableColumn),
}

impl RowReader {
    /// A reader of the columns `wanted` (indexes in order of declaration).
    ///
    /// # Errors
    /// [`RowError::Internal`] for a column that does not exist.
    pub fn new(codec: &RowCodec, wanted: &[usize]) -> RowResult<Self> {
        let broken = |index: usize| RowError::internal(format!("no column {index}"));
        let current = codec.current().ok_or_else(|| RowError::internal("no layout"))?;
        let mut columns = Vec::with_capacity(wanted.len());
        for &index in wanted {
            let column = codec.table().columns.get(index).ok_or_else(|| broken(index))?;
            let source = match codec.places().get(index) {
                Some(Place::Key(part)) => key_source(codec.key_schema(), *part),
                Some(Place::Value(at)) => match current.layout.fixed_column(*at) {
                    Some(fixed) => Source::Fixed(fixed),
                    None => Source::Variable(current.layout.variable_column(*at).ok_or_else(|| broken(index))?),
                },
                None => return Err(broken(index)),
            };
            columns.push(Column { index, ty: column.ty, source });
        }
        Ok(Self { codec: codec.clone(), columns })
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Calls `each` with the row's values, in the order of `wanted`. The caller provides `buffer`, so that it can be
    /// reused.
    ///
    /// # Errors
    /// [`RowError::Corrupted`] for bytes that are not a row of this table.
    pub fn read(
        &self,
        key: &[u8],
        fragment: &[u8],
        buffer: &mut Vec<u8>,
        mut each: impl FnMut(usize, Cell<'_>),
    ) -> RowResult<()> {
        let current = self.codec.current().filter(|current| is_dense_of(fragment, &current.layout));
        let other = if current.is_none() { Some(self.codec.fragment_reader(fragment)?) } else { None };
        for (at, column) in self.columns.iter().enumerate() {
            let cell = match (&column.source, &other) {
                (Source::Key(part), _) => Cell::Value(self.codec.decode_key_part(key, *part, buffer)?),
                (Source::KeyCell(place, part), _) => match key.get(place.clone()) {
                    Some(bytes) => self.cell(column, Some(bytes))?,
                    // The key is too short: decoding the part returns the error.
                    None => Cell::Value(self.codec.decode_key_part(key, *part, buffer)?),
                },
                (_, Some(reader)) => Cell::Value(reader.value(&self.codec, column.index)?),
                (Source::Fixed(place), None) => self.cell(column, place.read(fragment))?,
                (Source::Variable(place), None) => {
                    self.cell(column, place.read(fragment).map_err(|error| self.codec.corrupted(&error))?)?
                }
            };
            each(at, cell);
        }
        Ok(())
    }

    /// Decodes integers and text here, because most columns have these types.
    #[inline]
    fn cell<'a>(&self, column: &Column, bytes: Option<&'a [u8]>) -> RowResult<Cell<'a>> {
        let Some(bytes) = bytes else { return Ok(Cell::Value(Datum::Null)) };
        match (&column.ty, bytes) {
            (DataType::Integer, &[a, b, c, d]) => Ok(Cell::Value(Datum::Int4(i32::from_ordered([a, b, c, d])))),
            (DataType::BigInt, &[a, b, c, d, e, f, g, h]) => {
                Ok(Cell::Value(Datum::Int8(i64::from_ordered([a, b, c, d, e, f, g, h]))))
            }
            (DataType::Text | DataType::Varchar(_), bytes) => {
                std::str::from_utf8(bytes).map(Cell::Text).map_err(|error| self.codec.corrupted(&error))
            }
            (ty, bytes) => cell_value::decode(ty, bytes).map(Cell::Value).map_err(|error| self.codec.corrupted(&error)),
        }
    }
}

/// Finds a key part of fixed position. Descending parts are inverted; parts after one of variable width have no fixed
/// position.
fn key_source(schema: &KeySchema, part: usize) -> Source {
    let ascending = schema.parts.get(part).is_some_and(|part| !part.descending);
    match schema.fixed_slot(part).filter(|_| ascending) {
        Some((start, width)) => Source::KeyCell(start..start + width, part),
        None => Source::Key(part),
    }
}
