//! Builds the rows of a computed table by column names.

use crate::definition::{ColumnDef, Definition};
use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Float32Array, Float32Builder, Float64Array, Int16Array, Int16Builder,
    Int32Array, Int64Array, Int64Builder, IntervalMonthDayNanoArray, ListBuilder, StringArray, StringBuilder,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType as ArrowType, IntervalMonthDayNano, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{Result, internal_datafusion_err, internal_err};
use std::sync::Arc;

/// A value, independent of the Arrow type of its column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// An interval.
    Seconds(i64),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<String>),
}

/// The columns of a table, built row by row.
#[derive(Debug)]
pub(crate) struct Rows {
    columns: Vec<ColumnDef>,
    values: Vec<Vec<Cell>>,
    count: usize,
    /// The first unknown column name: a defect of this crate, reported by `finish`.
    unknown: Option<&'static str>,
}

impl Rows {
    pub(crate) fn new(definition: &Definition) -> Result<Self> {
        let columns = definition.columns()?;
        let values = columns.iter().map(|_| Vec::new()).collect();
        Ok(Self { columns, values, count: 0, unknown: None })
    }

    /// Adds a row. Omitted columns are NULL, or zero, false or empty if NOT NULL.
    pub(crate) fn add<const N: usize>(&mut self, cells: [(&'static str, Cell); N]) {
        for (column, values) in self.columns.iter().zip(&mut self.values) {
            values.push(if column.not_null { column.zero() } else { Cell::Null });
        }
        for (name, cell) in cells {
            let place = self.columns.iter().position(|column| column.name == name);
            match place.and_then(|place| self.values.get_mut(place)).and_then(|values| values.last_mut()) {
                Some(last) => *last = cell,
                None => self.unknown = self.unknown.or(Some(name)),
            }
        }
        self.count += 1;
    }

    /// Builds the record batch.
    ///
    /// # Errors
    /// A cell of the wrong type, or an unknown column name.
    pub(crate) fn finish(self, schema: &SchemaRef) -> Result<RecordBatch> {
        if let Some(name) = self.unknown {
            return internal_err!("computed rows name a column {name} that their table has not");
        }
        let arrays = self.columns.iter().zip(self.values).map(|(column, cells)| column.array(cells));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        Ok(RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)?)
    }
}

impl ColumnDef {
    fn zero(&self) -> Cell {
        match self.arrow_type() {
            ArrowType::Boolean => Cell::Bool(false),
            ArrowType::Float32 | ArrowType::Float64 => Cell::Float(0.0),
            ArrowType::Utf8 | ArrowType::Binary => Cell::Text(String::new()),
            ArrowType::List(item) if item.data_type() == &ArrowType::Utf8 => Cell::Texts(Vec::new()),
            ArrowType::List(_) => Cell::Ints(Vec::new()),
            _ => Cell::Int(0),
        }
    }

    fn array(&self, cells: Vec<Cell>) -> Result<ArrayRef> {
        let ty = self.arrow_type();
        Ok(match &ty {
            ArrowType::Boolean => Arc::new(self.read(cells, Cell::into_bool)?.collect::<BooleanArray>()),
            ArrowType::Int16 => Arc::new(self.read(cells, Cell::into_int::<i16>)?.collect::<Int16Array>()),
            ArrowType::Int32 => Arc::new(self.read(cells, Cell::into_int::<i32>)?.collect::<Int32Array>()),
            ArrowType::Int64 => Arc::new(self.read(cells, Cell::into_int::<i64>)?.collect::<Int64Array>()),
            ArrowType::Float32 => {
                // Rounded on purpose: the column is `real`.
                Arc::new(self.read(cells, Cell::into_float)?.map(|v| v.map(|v| v as f32)).collect::<Float32Array>())
            }
            ArrowType::Float64 => Arc::new(self.read(cells, Cell::into_float)?.collect::<Float64Array>()),
            ArrowType::Timestamp(..) => {
                let times = self.read(cells, Cell::into_int::<i64>)?.collect::<TimestampMicrosecondArray>();
                Arc::new(times.with_timezone("UTC"))
            }
            ArrowType::Interval(_) => {
                Arc::new(self.read(cells, Cell::into_interval)?.collect::<IntervalMonthDayNanoArray>())
            }
            ArrowType::Binary => {
                let texts: Vec<Option<String>> = self.read(cells, Cell::into_text)?.collect();
                Arc::new(texts.iter().map(|text| text.as_ref().map(String::as_bytes)).collect::<BinaryArray>())
            }
            ArrowType::List(item) => self.lists(cells, item.data_type())?,
            _ => Arc::new(self.read(cells, Cell::into_text)?.collect::<StringArray>()),
        })
    }

    fn lists(&self, cells: Vec<Cell>, item: &ArrowType) -> Result<ArrayRef> {
        Ok(match item {
            ArrowType::Utf8 => {
                let mut builder = ListBuilder::new(StringBuilder::new());
                for list in self.read(cells, Cell::into_texts)? {
                    builder.append_option(list.map(|list| list.into_iter().map(Some)));
                }
                Arc::new(builder.finish())
            }
            ArrowType::Float32 => {
                let mut builder = ListBuilder::new(Float32Builder::new());
                for list in self.read(cells, Cell::into_floats)? {
                    // Rounded on purpose: the items are `real`.
                    builder.append_option(list.map(|list| list.into_iter().map(|item| Some(item as f32))));
                }
                Arc::new(builder.finish())
            }
            ArrowType::Int16 => {
                let mut builder = ListBuilder::new(Int16Builder::new());
                for list in self.read(cells, Cell::into_ints)? {
                    builder.append_option(list.map(|list| list.into_iter().map(|item| i16::try_from(item).ok())));
                }
                Arc::new(builder.finish())
            }
            _ => {
                let mut builder = ListBuilder::new(Int64Builder::new());
                for list in self.read(cells, Cell::into_ints)? {
                    builder.append_option(list.map(|list| list.into_iter().map(Some)));
                }
                Arc::new(builder.finish())
            }
        })
    }

    /// Converts cells to values of one type; `None` is NULL.
    fn read<T>(&self, cells: Vec<Cell>, read: fn(Cell) -> Option<T>) -> Result<std::vec::IntoIter<Option<T>>> {
        let mut values = Vec::with_capacity(cells.len());
        for cell in cells {
            if cell == Cell::Null {
                values.push(None);
                continue;
            }
            let bad = || internal_datafusion_err!("a computed value is not of the type of its column {}", self.name);
            values.push(Some(read(cell).ok_or_else(bad)?));
        }
        Ok(values.into_iter())
    }
}

impl Cell {
    fn into_bool(self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(value) } else { None }
    }

    fn into_int<T: TryFrom<i64>>(self) -> Option<T> {
        if let Self::Int(value) = self { T::try_from(value).ok() } else { None }
    }

    fn into_float(self) -> Option<f64> {
        if let Self::Float(value) = self { Some(value) } else { None }
    }

    fn into_interval(self) -> Option<IntervalMonthDayNano> {
        if let Self::Seconds(value) = self {
            Some(IntervalMonthDayNano::new(0, 0, value.checked_mul(1_000_000_000)?))
        } else {
            None
        }
    }

    fn into_text(self) -> Option<String> {
        if let Self::Text(value) = self { Some(value) } else { None }
    }

    fn into_ints(self) -> Option<Vec<i64>> {
        if let Self::Ints(value) = self { Some(value) } else { None }
    }

    fn into_floats(self) -> Option<Vec<f64>> {
        if let Self::Floats(value) = self { Some(value) } else { None }
    }

    fn into_texts(self) -> Option<Vec<String>> {
        if let Self::Texts(value) = self { Some(value) } else { None }
    }
}

macro_rules! cells_from {
    ($($from:ty, $value:ident => $cell:expr;)*) => {
        $(impl From<$from> for Cell {
            fn from($value: $from) -> Self {
                $cell
            }
        })*
    };
}

cells_from! {
    bool, value => Self::Bool(value);
    u32, value => Self::Int(i64::from(value));
    i32, value => Self::Int(i64::from(value));
    i16, value => Self::Int(i64::from(value));
    i64, value => Self::Int(value);
    // Small counts, such as the number of columns.
    usize, value => Self::Int(i64::try_from(value).unwrap_or(i64::MAX));
    f64, value => Self::Float(value);
    char, value => Self::Text(value.to_string());
    &str, value => Self::Text(value.to_owned());
    String, value => Self::Text(value);
    Vec<i64>, value => Self::Ints(value);
    Vec<String>, value => Self::Texts(value);
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
