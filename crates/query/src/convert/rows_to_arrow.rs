//! Converts rows of the store to Arrow columns.
//!
//! ```text
//!   all rows dense, of the newest layout   column by column, at offsets that are constants of the loop
//!   otherwise                              column by column over gathered cells: other layouts, sparse rows
//!   key columns                            at fixed offsets of each key, also if that holds only because no key of the
//!                                          batch has a NULL; otherwise keys are split part by part
//! ```
//! Arrays are built from plain vectors, and text is validated as UTF-8 once for each column of a batch.

use crate::convert::arrow_type::table_schema;
use crate::convert::cell_sink::{self, CellSink};
use crate::convert::column_builder;
use crate::error::{QueryError, QueryResult};
use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use catalog::RowError;
use catalog::row_codec::{Place, RowCodec};
use rowkey::cell_value;
use std::borrow::Cow;
use std::sync::Arc;
use store::RowBatch;
use types::{DataType, Datum};

/// Decodes some columns of a table's rows.
#[derive(Clone, Debug)]
pub struct RowDecoder {
    codec: Arc<RowCodec>,
    columns: Vec<Wanted>,
    schema: SchemaRef,
}

#[derive(Clone, Debug)]
struct Wanted {
    /// Index in the table.
    index: usize,
    ty: DataType,
    nullable: bool,
    place: Place,
    /// The cell of rows that are older than the column.
    missing: Option<Vec<u8>>,
}

impl RowDecoder {
    /// Creates a decoder of `columns`, in this order.
    ///
    /// # Errors
    /// [`QueryError::Internal`] for a column that the table does not have.
    pub fn new(codec: &Arc<RowCodec>, columns: &[usize]) -> QueryResult<Self> {
        let mut wanted = Vec::with_capacity(columns.len());
        for &index in columns {
            let (Some(column), Some(place)) = (codec.table().columns.get(index), codec.places().get(index)) else {
                return Err(QueryError::internal(format!("no column {index}")));
            };
            let missing = match &column.missing {
                Datum::Null => None,
                value => {
                    let mut cell = Vec::new();
                    cell_value::encode(&column.ty, value, &mut cell).map_err(RowError::from)?;
                    Some(cell)
                }
            };
            wanted.push(Wanted { index, ty: column.ty, nullable: !column.not_null, place: *place, missing });
        }
        let schema = Arc::new(table_schema(codec.table()).project(columns)?);
        Ok(Self { codec: Arc::clone(codec), columns: wanted, schema })
    }

    /// Replaces the fields by others of the same types.
    #[must_use]
    pub(crate) fn with_schema(self, schema: SchemaRef) -> Self {
        Self { schema, ..self }
    }

    /// Returns the schema of the batches from [`Self::decode`].
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns whether the scan must return rowkeys.
    pub fn needs_keys(&self) -> bool {
        self.columns.iter().any(|column| matches!(column.place, Place::Key(_)))
    }

    /// Returns whether the scan must return fragments.
    pub fn needs_values(&self) -> bool {
        self.columns.iter().any(|column| matches!(column.place, Place::Value(_)))
    }

    /// Returns the length of the key prefix that determines all columns, if several keys may share it: the columns are
    /// leading parts of the key at fixed offsets, and not the whole key.
    pub(crate) fn key_prefix(&self) -> Option<usize> {
        let schema = self.codec.key_schema();
        let end = |column: &Wanted| match column.place {
            Place::Key(part) => schema.fixed_slot(part).map(|(start, width)| start + width),
            Place::Value(_) => None,
        };
        let ends: Option<Vec<usize>> = self.columns.iter().map(end).collect();
        ends?.into_iter().max().filter(|end| schema.fixed_len() != Some(*end))
    }

    /// Decodes the rows of `batch` to Arrow columns.
    ///
    /// # Errors
    /// [`QueryError::Row`] for bytes that are not rows of this table.
    pub fn decode(&self, batch: &RowBatch) -> QueryResult<RecordBatch> {
        let mut arrays: Vec<Option<ArrayRef>> = vec![None; self.columns.len()];
        if self.needs_keys() {
            self.decode_keys(batch, &mut arrays)?;
        }
        if self.needs_values() {
            self.decode_values(batch, &mut arrays)?;
        }
        let arrays: Option<Vec<ArrayRef>> = arrays.into_iter().collect();
        let arrays = arrays.ok_or_else(|| QueryError::internal("a column that nothing decoded"))?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.len()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)?)
    }

    fn decode_values(&self, batch: &RowBatch, arrays: &mut [Option<ArrayRef>]) -> QueryResult<()> {
        let current = self.codec.current().ok_or_else(|| QueryError::internal("a table without a layout"))?;
        let mut rows: Vec<&[u8]> = Vec::with_capacity(batch.len());
        let mut plain = true;
        for segment in batch.segments() {
            for fragment in segment.fragments() {
                plain &= fragment::is_dense_of(fragment, &current.layout);
                rows.push(fragment);
            }
        }
        for (column, array) in self.columns.iter().zip(arrays) {
            let Place::Value(position) = column.place else { continue };
            *array = Some(if plain {
                column_builder::dense(&current.layout, position, &column.ty, column.nullable, &rows)
                    .map_err(|error| self.codec.corrupted(&error))?
            } else {
                self.gather(column, &rows)?
            });
        }
        Ok(())
    }

    /// Gathers cells of rows that are not all dense and of the newest layout.
    fn gather(&self, column: &Wanted, rows: &[&[u8]]) -> QueryResult<ArrayRef> {
        let mut sink = cell_sink::sink(&column.ty, rows.len());
        for row in rows {
            let reader = self.codec.fragment_reader(row)?;
            let cell: Option<Cow<'_, [u8]>> = match reader.cell(&self.codec, column.index) {
                None => column.missing.as_deref().map(Cow::Borrowed),
                Some((_, None)) => None,
                Some((ty, Some(bytes))) if ty == column.ty => Some(Cow::Borrowed(bytes)),
                Some(_) => {
                    let mut bytes = Vec::new();
                    cell_value::encode(&column.ty, &reader.value(&self.codec, column.index)?, &mut bytes)
                        .map_err(RowError::from)?;
                    Some(Cow::Owned(bytes))
                }
            };
            sink.push(cell.as_deref()).map_err(|error| self.codec.corrupted(&error))?;
        }
        sink.finish().map_err(|error| self.codec.corrupted(&error).into())
    }

    fn decode_keys(&self, batch: &RowBatch, arrays: &mut [Option<ArrayRef>]) -> QueryResult<()> {
        let schema = self.codec.key_schema();
        let without_nulls = schema.slots_without_nulls().filter(|(_, length)| all_are_as_long(batch, *length));
        let slot_of = |part| match &without_nulls {
            Some((slots, _)) => slots.get(part).copied(),
            None => schema.fixed_slot(part),
        };
        let mut walked: Vec<(usize, usize, Box<dyn CellSink>)> = Vec::new();
        for (at, (column, array)) in self.columns.iter().zip(arrays.iter_mut()).enumerate() {
            let Place::Key(part) = column.place else { continue };
            match (slot_of(part), schema.parts.get(part)) {
                (Some(slot), Some(key_part)) => {
                    let made = column_builder::key_column(slot, key_part.descending, &column.ty, batch);
                    *array = Some(made.map_err(|error| self.codec.corrupted(&error))?);
                }
                _ => walked.push((at, part, cell_sink::sink(&column.ty, batch.len()))),
            }
        }
        if walked.is_empty() {
            return Ok(());
        }
        self.walk_keys(batch, &mut walked)?;
        for (at, _, sink) in walked {
            let made = sink.finish().map_err(|error| self.codec.corrupted(&error))?;
            if let Some(array) = arrays.get_mut(at) {
                *array = Some(made);
            }
        }
        Ok(())
    }

    /// Decodes key parts without a fixed offset: splits each key once for all of them.
    fn walk_keys(&self, batch: &RowBatch, walked: &mut [(usize, usize, Box<dyn CellSink>)]) -> QueryResult<()> {
        let schema = self.codec.key_schema();
        let mut slots = Vec::new();
        let mut buffer = Vec::new();
        for key in batch.keys() {
            schema.split(key, &mut slots).map_err(|error| self.codec.corrupted(&error))?;
            for (_, part, sink) in walked.iter_mut() {
                let bytes = slots.get(*part).and_then(|&(start, end)| key.get(start..end)).unwrap_or_default();
                let Some(key_part) = schema.parts.get(*part) else { continue };
                let cell = key_part.cell(bytes, &mut buffer).map_err(|error| self.codec.corrupted(&error))?;
                sink.push(cell).map_err(|error| self.codec.corrupted(&error))?;
            }
        }
        Ok(())
    }
}

/// Returns whether each key has so many bytes.
fn all_are_as_long(batch: &RowBatch, length: usize) -> bool {
    let mut end = 0;
    batch.key_ends().iter().all(|key_end| {
        end += length;
        *key_end as usize == end
    })
}
