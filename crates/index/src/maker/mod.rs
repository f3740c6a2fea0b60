//! Encodes the index entries of stored rows by copying the rows' bytes: for loads and index builds.
//!
//! ```text
//!   rowkey    [salt] part part          ──copied──>   part of an entry's key
//!   fragment  cell cell cell            ──copied──>   part of an entry's key, cell of its fragment
//! ```
//! Key parts are encoded from cells, so nothing is decoded. The fastest way that a row allows is taken:
//!
//! - `fixed`: all columns of the entry are at constant places, which are copied;
//! - `copied`: the parts and cells of the row are found first;
//! - [`IndexCodec::entry`] from the decoded row: for indexes with expressions or a predicate, and rows of an older layout.

mod copied;
mod fixed;

use crate::{IndexCodec, IndexResult};
use catalog::{RowCodec, RowResult};
use copied::{Buffers, Copied, OpenRow};
use types::Datum;

/// Encodes the entries of one table's rows in some of its indexes.
#[derive(Clone, Debug)]
pub struct EntryMaker {
    table: RowCodec,
    indexes: Vec<OfIndex>,
    /// A decoded row, with a value for each column of the table.
    row: Vec<Datum>,
    slots: Vec<(usize, usize)>,
    buffers: Buffers,
}

#[derive(Clone, Debug)]
struct OfIndex {
    codec: IndexCodec,
    copied: Option<Copied>,
}

impl EntryMaker {
    /// For rows of `table` in `indexes`, in the same order.
    ///
    /// # Errors
    /// [`catalog::RowError::Internal`] for an inconsistent index definition.
    pub fn new<'i>(table: &RowCodec, indexes: impl IntoIterator<Item = &'i IndexCodec>) -> RowResult<Self> {
        let mut all = Vec::new();
        for codec in indexes {
            all.push(OfIndex { codec: codec.clone(), copied: Copied::new(table, codec)? });
        }
        let row = vec![Datum::Null; table.places().len()];
        Ok(Self { table: table.clone(), indexes: all, row, slots: Vec::new(), buffers: Buffers::default() })
    }

    /// The indexes.
    pub fn indexes(&self) -> impl Iterator<Item = &IndexCodec> {
        self.indexes.iter().map(|of| &of.codec)
    }

    /// Calls `put` for each entry of a row: the number of the index, the key, and the fragment without a commit stamp.
    ///
    /// # Errors
    /// [`catalog::RowError::Corrupted`] for bytes that are not a row of the table, [`catalog::RowError::Key`] for a key
    /// that is too long; errors of expressions.
    pub fn make(&mut self, key: &[u8], fragment: &[u8], mut put: impl FnMut(usize, &[u8], &[u8])) -> IndexResult<()> {
        let Self { table, indexes, row, slots, buffers } = self;
        let (mut open, mut slots) = (None, Some(slots));
        for (at, OfIndex { codec, copied }) in indexes.iter().enumerate() {
            if let Some(copied) = copied {
                if copied.make_fixed(codec, key, fragment, buffers)? {
                    put(at, &buffers.key, copied.fragment().unwrap_or_default());
                    continue;
                }
                if let Some(slots) = slots.take() {
                    open = Some(OpenRow::new(table, key, fragment, slots)?);
                }
                if let Some(row) = &open
                    && copied.make(codec, row, buffers)?
                {
                    put(at, &buffers.key, copied.fragment().unwrap_or(&buffers.fragment));
                    continue;
                }
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
