//! Decodes a fragment into cells, row by row. Loops over many rows of one layout use `dense.rs`. The inverse of
//! `encoder.rs`.

use crate::dense::check_ends;
use crate::header::{DENSE, Header, WIDE};
use crate::layout::Place;
use crate::{FragmentError, Layout, SparseView, is_dense_of};
use store::{CommitNo, Timestamp};

/// A fragment with a parsed header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment<'a> {
    bytes: &'a [u8],
    header: Header,
}

impl<'a> Fragment<'a> {
    /// Parses the header. [`Self::dense`] and [`Self::sparse`] parse the cells.
    ///
    /// # Errors
    /// [`FragmentError::Truncated`], [`FragmentError::UnknownFormat`], [`FragmentError::UnknownFlags`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, FragmentError> {
        Header::read(bytes).map(|header| Self { bytes, header })
    }

    /// Returns true for a dense fragment: all columns of its layout at known offsets.
    pub fn is_dense(&self) -> bool {
        self.header.flags & DENSE != 0
    }

    /// The id of the layout that the fragment was written with.
    pub fn layout_id(&self) -> u16 {
        self.header.layout
    }

    /// The timestamp of the fragment.
    pub fn timestamp(&self) -> Timestamp {
        Timestamp(self.header.timestamp)
    }

    /// The commit that wrote the fragment.
    pub fn commit(&self) -> CommitNo {
        CommitNo(self.header.commit)
    }

    /// The cells by column number. Checks all offsets.
    ///
    /// # Errors
    /// [`FragmentError::WrongForm`], [`FragmentError::WrongLayout`], or an error in the offsets.
    pub fn dense<'l>(&self, layout: &'l Layout) -> Result<DenseView<'a, 'l>, FragmentError> {
        if !self.is_dense() {
            return Err(FragmentError::WrongForm { found: "sparse", expected: "dense" });
        }
        if self.layout_id() != layout.id() {
            return Err(FragmentError::WrongLayout { found: self.layout_id(), expected: layout.id() });
        }
        if self.header.flags & WIDE == 0 { self.checked::<2>(layout) } else { self.checked::<4>(layout) }
    }

    fn checked<'l, const N: usize>(&self, layout: &'l Layout) -> Result<DenseView<'a, 'l>, FragmentError> {
        let (len, first) = (self.bytes.len(), layout.fixed_len());
        let need = first + N * layout.variable_count();
        let Some((fixed, values)) = self.bytes.split_at_checked(need) else {
            return Err(FragmentError::Truncated { part: "fixed part", len, need });
        };
        check_ends::<N>(fixed.get(first..).unwrap_or_default(), values.len())?;
        Ok(DenseView { bytes: self.bytes, layout })
    }

    /// The cells by qualifier.
    ///
    /// # Errors
    /// [`FragmentError::WrongForm`], or an error in the qualifiers or offsets.
    pub fn sparse(&self) -> Result<SparseView<'a>, FragmentError> {
        if self.is_dense() {
            return Err(FragmentError::WrongForm { found: "dense", expected: "sparse" });
        }
        SparseView::parse(self.bytes, self.header.flags & WIDE != 0)
    }

    /// All cells that are not NULL, of a dense or sparse fragment. `layout` must be the one of [`Self::layout_id`].
    ///
    /// # Errors
    /// As [`Self::dense`] and [`Self::sparse`].
    pub fn cells(&self, layout: &Layout) -> Result<Vec<(u16, &'a [u8])>, FragmentError> {
        if !self.is_dense() {
            return Ok(self.sparse()?.cells().collect());
        }
        let view = self.dense(layout)?;
        let columns = layout.columns().iter().zip(view.cells());
        Ok(columns.filter_map(|(column, cell)| Some((column.qualifier, cell?))).collect())
    }
}

/// The checked cells of a dense fragment.
#[derive(Clone, Copy, Debug)]
pub struct DenseView<'a, 'l> {
    bytes: &'a [u8],
    layout: &'l Layout,
}

impl<'a> DenseView<'a, '_> {
    /// The bytes of column `i`; `None` if it is NULL or the layout has no such column.
    pub fn cell(&self, i: usize) -> Option<&'a [u8]> {
        debug_assert!(is_dense_of(self.bytes, self.layout));
        match self.layout.place(i)? {
            Place::Fixed(..) => self.layout.fixed_column(i)?.read(self.bytes),
            // The view was checked, so this cannot fail.
            Place::Variable(_) => self.layout.variable_column(i)?.read(self.bytes).ok()?,
        }
    }

    /// All cells in the order of the layout.
    pub fn cells(&self) -> impl Iterator<Item = Option<&'a [u8]>> {
        (0..self.layout.columns().len()).map(|i| self.cell(i))
    }
}
