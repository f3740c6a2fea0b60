//! Encodes the index entries of stored rows by copying the rows' bytes: for loads and index builds.
//!
//! ```text
//!   rowkey    [salt] part part          ──copied──>   part of an entry's key
//!   fragment  cell cell cell            ──copied──>   part of an entry's key, cell of its fragment
//! ```
//! Key parts are encoded from cells, so nothing is decoded. [`IndexCodec::entry`] encodes entries from the decoded row
//! if copying is not enough: for indexes with expressions or a predicate, and for rows of an older layout.

use crate::{IndexCodec, IndexResult};
use catalog::row_codec::{FragmentReader, Place};
use catalog::{RowCodec, RowError, RowResult};
use rowkey::{KeyError, KeyPart, KeySchema, MAX_KEY_BYTES};
use types::{DataType, Datum};

/// Encodes the entries of one table's rows in some of its indexes.
#[derive(Clone, Debug)]
pub struct EntryMaker {
    table: RowCodec,
    indexes: Vec<OfIndex>,
    /// A decoded row, with a value for each column of the table.
    row: Vec<Datum>,
    buffers: Buffers,
}

#[derive(Clone, Debug)]
struct OfIndex {
    codec: IndexCodec,
    copied: Option<Copied>,
}

/// Reused for each row.
#[derive(Clone, Debug, Default)]
struct Buffers {
    slots: Vec<(usize, usize)>,
    key: Vec<u8>,
    fragment: Vec<u8>,
    cell: Vec<u8>,
}

/// An index whose entries can be copied from bytes of the row.
#[derive(Clone, Debug)]
struct Copied {
    key: Vec<(KeyPart, From)>,
    values: Vec<From>,
    /// The fragment, if there are no included columns: it is the same for all rows.
    fragment: Option<Vec<u8>>,
}

/// Where the bytes of a column are in a row.
#[derive(Clone, Copy, Debug)]
enum From {
    /// In a part of the rowkey; `as_is` if the entries encode it alike.
    Key { part: usize, as_is: bool },
    /// In the cell of a column.
    Cell { column: usize, ty: DataType },
}

impl EntryMaker {
    /// For rows of `table` in `indexes`, in the same order.
    ///
    /// # Errors
    /// [`RowError::Internal`] for an inconsistent index definition.
    pub fn new<'i>(table: &RowCodec, indexes: impl IntoIterator<Item = &'i IndexCodec>) -> RowResult<Self> {
        let mut all = Vec::new();
        for codec in indexes {
            all.push(OfIndex { codec: codec.clone(), copied: Copied::new(table, codec)? });
        }
        let row = vec![Datum::Null; table.places().len()];
        Ok(Self { table: table.clone(), indexes: all, row, buffers: Buffers::default() })
    }

    /// The indexes.
    pub fn indexes(&self) -> impl Iterator<Item = &IndexCodec> {
        self.indexes.iter().map(|of| &of.codec)
    }

    /// Calls `put` for each entry of a row: the number of the index, the key, and the fragment without a commit stamp.
    ///
    /// # Errors
    /// [`RowError::Corrupted`] for bytes that are not a row of the table, [`RowError::Key`] for a key that is too long;
    /// errors of expressions.
    pub fn make(&mut self, key: &[u8], fragment: &[u8], mut put: impl FnMut(usize, &[u8], &[u8])) -> IndexResult<()> {
        let Self { table, indexes, row, buffers } = self;
        let reader = table.fragment_reader(fragment)?;
        table.key_schema().split(key, &mut buffers.slots).map_err(|error| table.corrupted(&error))?;
        for (at, OfIndex { codec, copied }) in indexes.iter().enumerate() {
            if let Some(copied) = copied
                && copied.make(table, codec, key, &reader, buffers)?
            {
                put(at, &buffers.key, copied.fragment.as_deref().unwrap_or(&buffers.fragment));
                continue;
            }
            let values = table.decode_row(key, fragment, codec.columns())?;
            for (column, value) in codec.columns().iter().zip(values) {
                if let Some(slot) = row.get_mut(*column) {
                    *slot = value;
                }
            }
            if let Some(entry) = codec.entry(row)? {
                put(at, &entry.key, &entry.fragment);
            }
        }
        Ok(())
    }
}

impl Copied {
    /// Returns `None` for an index with expressions or a predicate.
    fn new(table: &RowCodec, codec: &IndexCodec) -> RowResult<Option<Self>> {
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
        Ok(Some(Self { key, values, fragment: same.then_some(fragment) }))
    }

    /// Writes the entry to the buffers. Returns false if the row does not have the bytes.
    fn make(
        &self,
        table: &RowCodec,
        codec: &IndexCodec,
        rowkey: &[u8],
        reader: &FragmentReader<'_>,
        buffers: &mut Buffers,
    ) -> RowResult<bool> {
        let schema = codec.entries().key_schema();
        if !self.put_key(table, schema, rowkey, reader, buffers)? {
            return Ok(false);
        }
        let salt = match schema.salted_by_row {
            true => rowkey.first().copied(),
            false => schema.salt_of(schema.unsalted(&buffers.key)),
        };
        if let (true, Some(salt), Some(first)) = (schema.salt_buckets.is_some(), salt, buffers.key.first_mut()) {
            *first = salt;
        }
        let len = buffers.key.len();
        if len > MAX_KEY_BYTES {
            return Err(KeyError::TooLong { len, limit: MAX_KEY_BYTES }.into());
        }
        match self.fragment {
            Some(_) => Ok(true),
            None => self.put_fragment(table, codec, reader, &mut buffers.fragment),
        }
    }

    /// Writes the key with a placeholder for its salt.
    fn put_key(
        &self,
        table: &RowCodec,
        schema: &KeySchema,
        rowkey: &[u8],
        reader: &FragmentReader<'_>,
        buffers: &mut Buffers,
    ) -> RowResult<bool> {
        let Buffers { slots, key, cell, .. } = buffers;
        key.clear();
        if schema.salt_buckets.is_some() {
            key.push(0);
        }
        for (index, (part, from)) in self.key.iter().enumerate() {
            let column = match *from {
                From::Key { part: at, as_is: true } => {
                    key.extend_from_slice(slot(rowkey, slots, at));
                    continue;
                }
                From::Key { part: at, .. } => {
                    let bytes = slot(rowkey, slots, at);
                    table_cell(table.key_schema(), at, bytes, cell).map_err(|error| table.corrupted(&error))?
                }
                From::Cell { column, ty } => match reader.cell(table, column) {
                    Some((written, bytes)) if written == ty => bytes,
                    _ => return Ok(false),
                },
            };
            part.encode_cell(index, column, key)?;
        }
        Ok(true)
    }

    fn put_fragment(
        &self,
        table: &RowCodec,
        codec: &IndexCodec,
        reader: &FragmentReader<'_>,
        fragment: &mut Vec<u8>,
    ) -> RowResult<bool> {
        let mut cells = Vec::with_capacity(self.values.len());
        for from in &self.values {
            match *from {
                From::Cell { column, ty } => match reader.cell(table, column) {
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

fn slot<'k>(key: &'k [u8], slots: &[(usize, usize)], part: usize) -> &'k [u8] {
    slots.get(part).and_then(|(start, end)| key.get(*start..*end)).unwrap_or_default()
}

/// The cell of a part of the rowkey.
fn table_cell<'c>(
    schema: &KeySchema,
    part: usize,
    bytes: &'c [u8],
    buffer: &'c mut Vec<u8>,
) -> Result<Option<&'c [u8]>, KeyError> {
    schema.parts.get(part).ok_or(KeyError::NoSuchPart { part })?.cell(bytes, buffer)
}
