//! Keys of entries whose columns have constant places in the rows of the newest layout.
//!
//! The other cells of a row are neither found nor checked, as in a scan that reads few columns.

use super::copied::From;
use catalog::{RowCodec, RowResult};
use fragment::{FixedColumn, Layout, is_dense_of};
use rowkey::KeyPart;
use std::ops::Range;

/// The places of an entry's key columns.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    /// Length of the rowkeys.
    rowkey: usize,
    layout: Layout,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    /// Adjacent parts of the rowkey.
    Key(Range<usize>),
    /// A cell, encoded as this part of the entry's key.
    Cell(usize, KeyPart, FixedColumn),
}

impl Fixed {
    /// Returns `None` if some column has no constant place.
    pub(super) fn new(table: &RowCodec, key: &[(KeyPart, From)]) -> Option<Self> {
        let (rowkey, current) = (table.key_schema().fixed_len()?, table.current()?);
        let mut pieces: Vec<Piece> = Vec::with_capacity(key.len());
        for (index, (part, from)) in key.iter().enumerate() {
            match *from {
                From::Key { part: at, as_is: true } => {
                    let (start, width) = table.key_schema().fixed_slot(at)?;
                    match pieces.last_mut() {
                        Some(Piece::Key(before)) if before.end == start => before.end += width,
                        _ => pieces.push(Piece::Key(start..start + width)),
                    }
                }
                From::Key { as_is: false, .. } => return None,
                From::Cell { column, ty } => {
                    let position = current.positions.get(column).copied().flatten()?;
                    let column = current.layout.fixed_column(position)?;
                    if current.types.get(position) != Some(&ty) {
                        return None;
                    }
                    pieces.push(Piece::Cell(index, *part, column));
                }
            }
        }
        Some(Self { rowkey, layout: current.layout.clone(), pieces })
    }

    /// Appends the columns to an entry's key. Returns false, without a change, for a row of another layout.
    ///
    /// # Errors
    /// [`catalog::RowError::Key`] for a NULL in a column of the key that is NOT NULL.
    pub(super) fn put(&self, rowkey: &[u8], fragment: &[u8], key: &mut Vec<u8>) -> RowResult<bool> {
        if rowkey.len() != self.rowkey || !is_dense_of(fragment, &self.layout) {
            return Ok(false);
        }
        for piece in &self.pieces {
            match piece {
                Piece::Key(range) => key.extend_from_slice(rowkey.get(range.clone()).unwrap_or_default()),
                Piece::Cell(index, part, column) => part.encode_cell(*index, column.read(fragment), key)?,
            }
        }
        Ok(true)
    }
}
