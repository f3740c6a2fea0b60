//! Encodes a table's rows as rowkeys and fragments, and decodes them. No other code does.
//!
//! ```text
//!   row, one Datum per column    --encode_key-->       [salt] key parts
//!   (in order of declaration)    --encode_fragment-->  dense fragment of the newest layout
//! ```
//! A row is read with the layout that its fragment names: columns added later have their `missing` value, dropped
//! columns are skipped, sparse fragments are read cell by cell.

use crate::table::SALT_OF_ROW;
use crate::{ColumnId, LayoutDef, RowError, RowResult, Table};
use fragment::{Fragment, Layout, LayoutColumn};
use rowkey::{KeyPart, KeySchema, cell_value};
use std::sync::Arc;
use types::{DataType, Datum, coerce};

/// Where a column of the table is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A part of the rowkey, by position.
    Key(usize),
    /// A column of the newest layout, by position.
    Value(usize),
}

/// One layout of the table, and the positions of the table's columns in it.
#[derive(Clone, Debug)]
pub struct TableLayout {
    /// Offsets.
    pub layout: Layout,
    /// Type of each layout column, also of dropped ones.
    pub types: Vec<DataType>,
    /// Position of each table column in the layout; `None` for key columns and columns added later.
    pub positions: Vec<Option<usize>>,
}

/// Encodes and decodes the rows of one version of a table.
#[derive(Clone, Debug)]
pub struct RowCodec {
    table: Arc<Table>,
    key: KeySchema,
    places: Vec<Place>,
    /// The column index of each key part.
    key_columns: Vec<usize>,
    /// By id, ascending.
    layouts: Vec<TableLayout>,
}

impl RowCodec {
    /// The codec of `table`.
    ///
    /// # Errors
    /// [`RowError::Internal`] for an inconsistent table definition.
    pub fn new(table: &Arc<Table>) -> RowResult<Self> {
        let key = checked_key_schema(table)?;
        let layouts: Vec<_> = table.layouts.iter().map(|def| table_layout(table, def)).collect();
        let current = layouts.last().ok_or_else(|| broken(table, "no layout"))?;
        let mut places = Vec::with_capacity(table.columns.len());
        for (index, column) in table.columns.iter().enumerate() {
            let place = match table.key_position(column.id) {
                Some(part) => Place::Key(part),
                None => {
                    let position = current.positions.get(index).copied().flatten();
                    Place::Value(position.ok_or_else(|| broken(table, "a column without a place"))?)
                }
            };
            places.push(place);
        }
        let column_of = |id: ColumnId| table.columns.iter().position(|column| column.id == id);
        let key_columns = table.key.iter().filter_map(|part| column_of(part.column)).collect();
        Ok(Self { table: Arc::clone(table), key, places, key_columns, layouts })
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The schema of its rowkeys.
    pub fn key_schema(&self) -> &KeySchema {
        &self.key
    }

    /// Where each column is stored, in order of declaration.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The column index of each key part.
    pub fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    /// The layout that rows are written with.
    pub fn current(&self) -> Option<&TableLayout> {
        self.layouts.last()
    }

    /// The layout of that id.
    pub fn layout(&self, id: u16) -> Option<&TableLayout> {
        let at = self.layouts.binary_search_by_key(&id, |layout| layout.layout.id()).ok()?;
        self.layouts.get(at)
    }

    /// Overwrites `key` with the rowkey of `row` (one value per column, already of the column's type).
    ///
    /// # Errors
    /// [`RowError::NullColumn`], [`RowError::Key`].
    pub fn encode_key_into(&self, row: &[Datum], key: &mut Vec<u8>) -> RowResult<()> {
        let value = |column: &usize| row.get(*column).cloned().unwrap_or(Datum::Null);
        let values: Vec<Datum> = self.key_columns.iter().map(value).collect();
        self.encode_key_values(&values, key)
    }

    /// As [`Self::encode_key_into`], into a new buffer.
    ///
    /// # Errors
    /// As [`Self::encode_key_into`].
    pub fn encode_key(&self, row: &[Datum]) -> RowResult<Vec<u8>> {
        let mut key = Vec::new();
        self.encode_key_into(row, &mut key)?;
        Ok(key)
    }

    /// Encodes a rowkey to look up; `None` if it is too long, so that no row has it.
    ///
    /// # Errors
    /// As [`Self::encode_key_values`] for other reasons.
    pub fn key_to_look_up(&self, values: &[Datum]) -> RowResult<Option<Vec<u8>>> {
        let mut key = Vec::with_capacity(32);
        match self.encode_key_values(values, &mut key) {
            Ok(()) => Ok(Some(key)),
            Err(RowError::Key(rowkey::KeyError::TooLong { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Overwrites `key` with the rowkey of these key values, in key order.
    ///
    /// # Errors
    /// As [`Self::encode_key_into`].
    pub fn encode_key_values(&self, values: &[Datum], key: &mut Vec<u8>) -> RowResult<()> {
        self.key.encode(values, key).map_err(|error| match error {
            rowkey::KeyError::NullPart { part } => self.null_column(self.key_columns.get(part).copied()),
            error => error.into(),
        })
    }

    /// Appends the dense fragment of `row` in the newest layout; the store writes its commit stamp.
    ///
    /// # Errors
    /// [`RowError::NullColumn`], [`RowError::Key`] for a value that is not of its column's type,
    /// [`RowError::Fragment`].
    pub fn encode_fragment_into(&self, row: &[Datum], out: &mut Vec<u8>) -> RowResult<()> {
        let current = self.current().ok_or_else(|| broken(&self.table, "no layout"))?;
        let mut bytes = Vec::with_capacity(64);
        // Cells of dropped columns that the layout still has stay NULL.
        let mut spans: Vec<Option<(usize, usize)>> = vec![None; current.types.len()];
        for (index, column) in self.table.columns.iter().enumerate() {
            let Some(Place::Value(position)) = self.places.get(index) else { continue };
            let value = row.get(index).unwrap_or(&Datum::Null);
            if value.is_null() {
                if column.not_null {
                    return Err(self.null_column(Some(index)));
                }
                continue;
            }
            let start = bytes.len();
            encode_cell(&column.name, &column.ty, value, &mut bytes)?;
            if let Some(span) = spans.get_mut(*position) {
                *span = Some((start, bytes.len()));
            }
        }
        let cells: Vec<Option<&[u8]>> =
            spans.iter().map(|span| span.and_then(|(start, end)| bytes.get(start..end))).collect();
        Ok(fragment::encode_dense(&current.layout, &cells, out)?)
    }

    /// As [`Self::encode_fragment_into`], for encoded cells: one for each column of the newest layout.
    ///
    /// # Errors
    /// [`RowError::Fragment`].
    pub fn encode_cells_into(&self, cells: &[Option<&[u8]>], out: &mut Vec<u8>) -> RowResult<()> {
        let current = self.current().ok_or_else(|| broken(&self.table, "no layout"))?;
        Ok(fragment::encode_dense(&current.layout, cells, out)?)
    }

    /// As [`Self::encode_fragment_into`], into a new buffer.
    ///
    /// # Errors
    /// As [`Self::encode_fragment_into`].
    pub fn encode_fragment(&self, row: &[Datum]) -> RowResult<Vec<u8>> {
        let mut out = Vec::new();
        self.encode_fragment_into(row, &mut out)?;
        Ok(out)
    }

    /// Decodes the columns `wanted` (indexes in order of declaration).
    ///
    /// # Errors
    /// [`RowError::Corrupted`] for bytes that are not a row of this table.
    pub fn decode_row(&self, key: &[u8], fragment: &[u8], wanted: &[usize]) -> RowResult<Vec<Datum>> {
        let mut row = Vec::with_capacity(wanted.len());
        let reader = self.fragment_reader(fragment)?;
        let mut buffer = Vec::new();
        for &index in wanted {
            row.push(match self.places.get(index) {
                Some(Place::Key(part)) => self.decode_key_part(key, *part, &mut buffer)?,
                Some(Place::Value(_)) => reader.value(self, index)?,
                None => return Err(RowError::internal(format!("no column {index}"))),
            });
        }
        Ok(row)
    }

    /// Decodes one part of a rowkey. The caller provides `buffer`, so that it can be reused.
    ///
    /// # Errors
    /// [`RowError::Corrupted`] for bytes that are not a key of this table.
    pub fn decode_key_part(&self, key: &[u8], part: usize, buffer: &mut Vec<u8>) -> RowResult<Datum> {
        self.key.decode_part(key, part, buffer).map_err(|error| self.corrupted(&error))
    }

    /// Decodes all columns.
    ///
    /// # Errors
    /// As [`Self::decode_row`].
    pub fn decode_full(&self, key: &[u8], fragment: &[u8]) -> RowResult<Vec<Datum>> {
        let all: Vec<usize> = (0..self.table.columns.len()).collect();
        self.decode_row(key, fragment, &all)
    }

    /// Looks up a fragment's layout once, to read several values.
    ///
    /// # Errors
    /// As [`Self::decode_row`].
    pub fn fragment_reader<'a>(&'a self, bytes: &'a [u8]) -> RowResult<FragmentReader<'a>> {
        let parsed = Fragment::parse(bytes).map_err(|error| self.corrupted(&error))?;
        let layout = self
            .layout(parsed.layout_id())
            .ok_or_else(|| self.corrupted(&format!("layout {} is not one of the table's", parsed.layout_id())))?;
        let cells = if parsed.is_dense() {
            Cells::Dense(parsed.dense(&layout.layout).map_err(|error| self.corrupted(&error))?)
        } else {
            Cells::Sparse(parsed.sparse().map_err(|error| self.corrupted(&error))?)
        };
        Ok(FragmentReader { layout, cells })
    }

    fn null_column(&self, index: Option<usize>) -> RowError {
        let column = index.and_then(|index| self.table.columns.get(index));
        RowError::NullColumn {
            table: self.table.name.clone(),
            column: column.map(|column| column.name.clone()).unwrap_or_default(),
        }
    }

    /// The error for bytes that are not a row of this table.
    pub fn corrupted(&self, detail: &dyn std::fmt::Display) -> RowError {
        RowError::Corrupted { table: self.table.name.clone(), detail: detail.to_string() }
    }
}

/// The cells of one fragment.
#[derive(Debug)]
pub struct FragmentReader<'a> {
    layout: &'a TableLayout,
    cells: Cells<'a>,
}

#[derive(Debug)]
enum Cells<'a> {
    Dense(fragment::DenseView<'a, 'a>),
    Sparse(fragment::SparseView<'a>),
}

impl<'a> FragmentReader<'a> {
    /// The bytes of value column `index` and their type: outer `None` if the row is older than the column, inner `None`
    /// for NULL.
    pub fn cell(&self, codec: &RowCodec, index: usize) -> Option<(DataType, Option<&'a [u8]>)> {
        let position = self.layout.positions.get(index).copied().flatten()?;
        let ty = *self.layout.types.get(position)?;
        let bytes = match &self.cells {
            Cells::Dense(view) => view.cell(position),
            Cells::Sparse(view) => view.cell(codec.table.columns.get(index)?.id.0),
        };
        Some((ty, bytes))
    }

    /// The value of value column `index`.
    ///
    /// # Errors
    /// [`RowError::Corrupted`].
    pub fn value(&self, codec: &RowCodec, index: usize) -> RowResult<Datum> {
        let column = codec.table.columns.get(index).ok_or_else(|| RowError::internal(format!("no column {index}")))?;
        let value = match self.cell(codec, index) {
            None => column.missing.clone(),
            Some((_, None)) => Datum::Null,
            Some((ty, Some(bytes))) => {
                let value = cell_value::decode(&ty, bytes).map_err(|error| codec.corrupted(&error))?;
                // The layout is older than an ALTER COLUMN TYPE.
                if ty == column.ty { value } else { coerce::cast(&column.ty, value)? }
            }
        };
        Ok(value)
    }
}

/// Appends the encoded cell of a value column.
///
/// # Errors
/// [`RowError::Unsupported`] for an array with other dimensions than the column declares; [`RowError::Key`].
pub fn encode_cell(column: &str, ty: &DataType, value: &Datum, out: &mut Vec<u8>) -> RowResult<()> {
    cell_value::encode(ty, value, out).map_err(|error| match error {
        rowkey::KeyError::Dimensions { found, .. } => {
            let what = if found == 1 { "dimension" } else { "dimensions" };
            let feature = format!("an array of {found} {what} in column \"{column}\" of type {}", ty.column_name());
            RowError::Unsupported { feature }
        }
        error => error.into(),
    })
}

/// The schema of `table`'s rowkeys.
///
/// # Errors
/// [`RowError::Internal`] for a key part without a column.
fn checked_key_schema(table: &Table) -> RowResult<KeySchema> {
    let mut parts = Vec::with_capacity(table.key.len());
    for part in &table.key {
        let column = table.column(part.column).ok_or_else(|| broken(table, "a key part without a column"))?;
        parts.push(KeyPart {
            ty: column.ty,
            descending: part.descending,
            nullable: !column.not_null,
            nulls_first: part.nulls_first,
        });
    }
    let salted_by_row = table.salt_hash == SALT_OF_ROW;
    Ok(KeySchema { parts, salt_buckets: table.salt_buckets, salted_by_row })
}

fn table_layout(table: &Table, def: &LayoutDef) -> TableLayout {
    let width = |ty: &DataType| ty.fixed_width().and_then(|width| u16::try_from(width).ok());
    let columns = def.columns.iter().map(|(id, ty)| LayoutColumn { qualifier: id.0, width: width(ty) }).collect();
    let position = |id: ColumnId| def.columns.iter().position(|(column, _)| *column == id);
    TableLayout {
        layout: Layout::new(def.id, columns),
        types: def.columns.iter().map(|(_, ty)| *ty).collect(),
        positions: table.columns.iter().map(|column| position(column.id)).collect(),
    }
}

fn broken(table: &Table, what: &str) -> RowError {
    RowError::internal(format!("table \"{}\": {what}", table.name))
}
