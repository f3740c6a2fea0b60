//! Entries copied from the cells and key parts of a row.

use super::fixed::Fixed;
use crate::IndexCodec;
use catalog::row_codec::{FragmentReader, Place};
use catalog::{RowCodec, RowError, RowResult};
use rowkey::{KeyError, KeyPart, KeySchema, MAX_KEY_BYTES};
use types::DataType;

/// Reused for each entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    pub(super) key: Vec<u8>,
    pub(super) fragment: Vec<u8>,
    cell: Vec<u8>,
}

/// An index whose entries can be copied from bytes of the row.
#[derive(Clone, Debug)]
pub(super) struct Copied {
    key: Vec<(KeyPart, From)>,
    values: Vec<From>,
    /// The fragment, if there are no included columns: it is the same for all rows.
    fragment: Option<Vec<u8>>,
    fixed: Option<Fixed>,
}

/// Where the bytes of a column are in a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum From {
    /// In a part of the rowkey; `as_is` if the entries encode it alike.
    Key { part: usize, as_is: bool },
    /// In the cell of a column.
    Cell { column: usize, ty: DataType },
}

/// A row whose key parts and cells are found.
pub(super) struct OpenRow<'r> {
    table: &'r RowCodec,
    rowkey: &'r [u8],
    /// Start and end of each part of the rowkey.
    slots: &'r [(usize, usize)],
    cells: FragmentReader<'r>,
}

impl<'r> OpenRow<'r> {
    /// Finds the parts and cells of a row. `slots` is scratch space that the caller reuses.
    ///
    /// # Errors
    /// [`RowError::Corrupted`] for bytes that are not a row of the table.
    pub(super) fn new(
        table: &'r RowCodec,
        rowkey: &'r [u8],
        fragment: &'r [u8],
        slots: &'r mut Vec<(usize, usize)>,
    ) -> RowResult<Self> {
        let cells = table.fragment_reader(fragment)?;
        table.key_schema().split(rowkey, slots).map_err(|error| table.corrupted(&error))?;
        Ok(Self { table, rowkey, slots, cells })
    }

    fn part(&self, part: usize) -> &'r [u8] {
        self.slots.get(part).and_then(|(start, end)| self.rowkey.get(*start..*end)).unwrap_or_default()
    }

    /// The cell of a part of the rowkey.
    fn cell_of_part<'c>(&self, part: usize, buffer: &'c mut Vec<u8>) -> RowResult<Option<&'c [u8]>>
    where
        'r: 'c,
    {
        let schema = self.table.key_schema().parts.get(part).ok_or(KeyError::NoSuchPart { part })?;
        schema.cell(self.part(part), buffer).map_err(|error| self.table.corrupted(&error))
    }
}

impl Copied {
    /// Returns `None` for an index with expressions or a predicate.
    ///
    /// # Errors
    /// [`RowError::Internal`] for an inconsistent index definition.
    pub(super) fn new(table: &RowCodec, codec: &IndexCodec) -> RowResult<Option<Self>> {
        if codec.index().texts().next().is_some() {
            return Ok(None);
        }
        let entries = codec.entries();
        let from = |entry: usize, part: Option<&KeyPart>| {
            let column = codec.source(entry)?;
            Some(match table.places().get(column)? {
                Place::Key(at) => From::Key { part: *at, as_is: table.key_schema().parts.get(*at) == part },
                Place::Value(_) => From::Cell { column, ty: table.table().columns.get(column)?.ty },
            })
        };
        let broken = || RowError::internal(format!("no column for an entry of index \"{}\"", codec.index().name));
        let mut key = Vec::new();
        for (part, column) in entries.key_schema().parts.iter().zip(entries.key_columns()) {
            key.push((*part, from(*column, Some(part)).ok_or_else(broken)?));
        }
        let mut values = Vec::new();
        for (at, place) in entries.places().iter().enumerate() {
            if let Place::Value(_) = place {
                values.push(from(at, None).ok_or_else(broken)?);
            }
        }
        let mut fragment = Vec::new();
        let same = values.is_empty();
        if same {
            entries.encode_cells_into(&[], &mut fragment)?;
        }
        let fixed = Fixed::new(table, &key).filter(|_| same);
        Ok(Some(Self { key, values, fragment: same.then_some(fragment), fixed }))
    }

    /// The fragment of the entries, if it is the same for all rows.
    pub(super) fn fragment(&self) -> Option<&[u8]> {
        self.fragment.as_deref()
    }

    /// Writes the key of the entry to the buffers, without opening the row. Returns false if that is not possible.
    ///
    /// # Errors
    /// [`RowError::Key`] for a key that is too long.
    pub(super) fn make_fixed(
        &self,
        codec: &IndexCodec,
        rowkey: &[u8],
        fragment: &[u8],
        buffers: &mut Buffers,
    ) -> RowResult<bool> {
        let Some(fixed) = &self.fixed else { return Ok(false) };
        let schema = codec.entries().key_schema();
        begin_key(schema, &mut buffers.key);
        if !fixed.put(rowkey, fragment, &mut buffers.key)? {
            return Ok(false);
        }
        end_key(schema, rowkey, &mut buffers.key)?;
        Ok(true)
    }

    /// Writes the entry to the buffers. Returns false if the row does not have the bytes.
    ///
    /// # Errors
    /// [`RowError::Corrupted`], [`RowError::Key`].
    pub(super) fn make(&self, codec: &IndexCodec, row: &OpenRow<'_>, buffers: &mut Buffers) -> RowResult<bool> {
        let schema = codec.entries().key_schema();
        begin_key(schema, &mut buffers.key);
        if !self.put_key(row, buffers)? {
            return Ok(false);
        }
        end_key(schema, row.rowkey, &mut buffers.key)?;
        match self.fragment {
            Some(_) => Ok(true),
            None => self.put_fragment(codec, row, &mut buffers.fragment),
        }
    }

    fn put_key(&self, row: &OpenRow<'_>, buffers: &mut Buffers) -> RowResult<bool> {
        let Buffers { key, cell, .. } = buffers;
        for (index, (part, from)) in self.key.iter().enumerate() {
            let column = match *from {
                From::Key { part: at, as_is: true } => {
                    key.extend_from_slice(row.part(at));
                    continue;
                }
                From::Key { part: at, .. } => row.cell_of_part(at, cell)?,
                From::Cell { column, ty } => match row.cells.cell(row.table, column) {
                    Some((written, bytes)) if written == ty => bytes,
                    _ => return Ok(false),
                },
            };
            part.encode_cell(index, column, key)?;
        }
        Ok(true)
    }

    fn put_fragment(&self, codec: &IndexCodec, row: &OpenRow<'_>, fragment: &mut Vec<u8>) -> RowResult<bool> {
        let mut cells = Vec::with_capacity(self.values.len());
        for from in &self.values {
            match *from {
                From::Cell { column, ty } => match row.cells.cell(row.table, column) {
                    Some((written, bytes)) if written == ty => cells.push(bytes),
                    _ => return Ok(false),
                },
                // A rowkey column is in the key of an entry, not in its fragment.
                From::Key { .. } => return Ok(false),
            }
        }
        fragment.clear();
        codec.entries().encode_cells_into(&cells, fragment)?;
        Ok(true)
    }
}

/// Begins a key with a placeholder for its salt.
fn begin_key(schema: &KeySchema, key: &mut Vec<u8>) {
    key.clear();
    if schema.salt_buckets.is_some() {
        key.push(0);
    }
}

/// Writes the salt of a key and checks its length.
fn end_key(schema: &KeySchema, rowkey: &[u8], key: &mut [u8]) -> RowResult<()> {
    if schema.salt_buckets.is_some() {
        let salt = match schema.salted_by_row {
            true => rowkey.first().copied(),
            false => schema.salt_of(schema.unsalted(key)),
        };
        if let (Some(salt), Some(first)) = (salt, key.first_mut()) {
            *first = salt;
        }
    }
    let len = key.len();
    if len > MAX_KEY_BYTES {
        return Err(KeyError::TooLong { len, limit: MAX_KEY_BYTES }.into());
    }
    Ok(())
}
