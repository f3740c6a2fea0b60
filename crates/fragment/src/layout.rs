//! The offsets of the columns in a dense fragment. Computed once per table, used for every row.

use crate::header;
use crate::{FixedColumn, VariableColumn};
use store::NullBit;

/// A column of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutColumn {
    /// Permanent id of the column: unaffected by renaming, and not reused after dropping.
    pub qualifier: u16,
    /// The width of a fixed-width column in bytes; `None` for a variable-width column.
    pub width: Option<u16>,
}

/// A list of columns and their offsets. Immutable once rows were written with its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    id: u16,
    columns: Vec<LayoutColumn>,
    places: Vec<Place>,
    /// Columns by qualifier, ascending, for [`Layout::position`].
    by_qualifier: Vec<(u16, usize)>,
    /// End of the fixed part, where the end offsets of the variable columns begin.
    ends: usize,
    variable: usize,
}

/// The position of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Byte offset in the fragment, and width.
    Fixed(usize, usize),
    /// Index among the variable columns.
    Variable(usize),
}

impl Layout {
    /// The layout of `columns`. Qualifiers must be unique: of equal ones, lookups find an arbitrary one.
    pub fn new(id: u16, columns: Vec<LayoutColumn>) -> Self {
        let mut ends = header::LEN + columns.len().div_ceil(8);
        let mut variable = 0;
        let mut places = Vec::with_capacity(columns.len());
        for column in &columns {
            places.push(match column.width.map(usize::from) {
                Some(width) => {
                    ends += width;
                    Place::Fixed(ends - width, width)
                }
                None => {
                    variable += 1;
                    Place::Variable(variable - 1)
                }
            });
        }
        let mut by_qualifier: Vec<_> = columns.iter().enumerate().map(|(at, c)| (c.qualifier, at)).collect();
        by_qualifier.sort_unstable();
        Self { id, columns, places, by_qualifier, ends, variable }
    }

    /// The id that fragments refer to.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// The columns in the order of their cells.
    pub fn columns(&self) -> &[LayoutColumn] {
        &self.columns
    }

    /// The index of the column with `qualifier`.
    pub fn position(&self, qualifier: u16) -> Option<usize> {
        let found = self.by_qualifier.binary_search_by_key(&qualifier, |&(q, _)| q).ok()?;
        self.by_qualifier.get(found).map(|&(_, at)| at)
    }

    /// Byte offset and mask of column `i`'s NULL bit, also for a filter.
    pub fn null_bit(&self, i: usize) -> NullBit {
        ((header::LEN + i / 8) as u32, 1 << (i % 8))
    }

    /// The offset of fixed-width column `i`.
    pub fn fixed_offset(&self, i: usize) -> Option<u32> {
        match self.place(i)? {
            Place::Fixed(offset, _) => u32::try_from(offset).ok(),
            Place::Variable(_) => None,
        }
    }

    /// The number of variable-width columns.
    pub fn variable_count(&self) -> usize {
        self.variable
    }

    /// Length of the header, NULL bits and fixed columns, after which the end offsets begin.
    pub fn fixed_len(&self) -> usize {
        self.ends
    }

    /// Length of the shortest dense fragment: the fixed part and 2-byte end offsets.
    pub fn min_len(&self) -> usize {
        self.ends + 2 * self.variable
    }

    /// A reader of fixed-width column `i` for loops over many rows.
    pub fn fixed_column(&self, i: usize) -> Option<FixedColumn> {
        match self.place(i)? {
            Place::Fixed(offset, width) => Some(FixedColumn::new(offset, width, self.null_bit(i))),
            Place::Variable(_) => None,
        }
    }

    /// A reader of variable-width column `i` for loops over many rows.
    pub fn variable_column(&self, i: usize) -> Option<VariableColumn> {
        match self.place(i)? {
            Place::Variable(index) => Some(VariableColumn::new(self.ends, index, self.variable, self.null_bit(i))),
            Place::Fixed(..) => None,
        }
    }

    pub(crate) fn place(&self, i: usize) -> Option<Place> {
        self.places.get(i).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_columns_stand_in_front_whatever_the_order() {
        let widths = [None, Some(4), None, Some(16), Some(1)];
        let columns = widths.iter().enumerate().map(|(i, &width)| LayoutColumn { qualifier: 10 - i as u16, width });
        let layout = Layout::new(3, columns.collect());
        let offsets: Vec<_> = (0..6).map(|i| layout.fixed_offset(i)).collect();
        assert_eq!(offsets, [None, Some(21), None, Some(25), Some(41), None]);
        let variable: Vec<_> =
            (0..6).map(|i| layout.place(i).map(|place| matches!(place, Place::Variable(_)))).collect();
        assert_eq!(variable, [Some(true), Some(false), Some(true), Some(false), Some(false), None]);
        assert_eq!((layout.fixed_len(), layout.min_len()), (42, 46));
        assert_eq!(layout.position(7), Some(3));
        assert_eq!(layout.position(11), None);
    }

    #[test]
    fn the_ninth_column_has_the_first_bit_of_the_second_byte() {
        let column = |qualifier| LayoutColumn { qualifier, width: Some(2) };
        let layout = Layout::new(0, (0..9).map(column).collect());
        assert_eq!(layout.null_bit(7), (20, 0x80));
        assert_eq!(layout.null_bit(8), (21, 0x01));
        assert_eq!(layout.fixed_offset(0), Some(22));
    }
}
