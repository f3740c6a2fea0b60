//! Reads one column of many dense rows: the inner loops of a scan.
//!
//! ```text
//!   for row in rows:  is_dense_of(row, layout)?          once per row: header and length of the fixed part
//!   for column:       for row in rows: column.read(row)  offsets are constants of the loop
//! ```
//! The fixed part needs no further checks. Variable cells check their own two offsets when they are read, so that a
//! scan pays only for the columns that it reads.

use crate::header::{DENSE, FORMAT, WIDE};
use crate::{FragmentError, Layout};
use store::NullBit;

/// Returns true if this is a dense fragment of `layout` that contains its fixed part and all end offsets.
#[inline]
pub fn is_dense_of(fragment: &[u8], layout: &Layout) -> bool {
    let Some(&[format, flags, l0, l1]) = fragment.first_chunk() else { return false };
    // 2-byte and 4-byte end offsets differ by 2 bytes per variable column.
    let wider = if flags & WIDE == 0 { 0 } else { 2 * layout.variable_count() };
    format == FORMAT
        && flags & !WIDE == DENSE
        && u16::from_be_bytes([l0, l1]) == layout.id()
        && fragment.len() >= layout.min_len() + wider
}

/// A fixed-width column of rows for which [`is_dense_of`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedColumn {
    offset: usize,
    width: usize,
    null_byte: usize,
    null_mask: u8,
}

impl FixedColumn {
    pub(crate) fn new(offset: usize, width: usize, (null_byte, null_mask): NullBit) -> Self {
        Self { offset, width, null_byte: null_byte as usize, null_mask }
    }

    /// The width of a value in bytes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns true if the column is NULL. A fragment that is too short counts as NULL.
    #[inline]
    pub fn is_null(&self, fragment: &[u8]) -> bool {
        is_null(fragment, self.null_byte, self.null_mask)
    }

    /// The bytes as an array, zeros for NULL. `N` should be the column's width. `None` only if `N` reaches beyond the
    /// fragment, which does not happen after [`is_dense_of`].
    #[inline]
    pub fn array<'a, const N: usize>(&self, fragment: &'a [u8]) -> Option<&'a [u8; N]> {
        fragment.get(self.offset..)?.first_chunk()
    }

    /// The bytes, zeros for NULL. `None` as in [`Self::array`].
    #[inline]
    pub fn bytes<'a>(&self, fragment: &'a [u8]) -> Option<&'a [u8]> {
        fragment.get(self.offset..self.offset + self.width)
    }

    /// The bytes; `None` for NULL.
    #[inline]
    pub fn read<'a>(&self, fragment: &'a [u8]) -> Option<&'a [u8]> {
        if self.is_null(fragment) { None } else { self.bytes(fragment) }
    }
}

/// A variable-width column of rows for which [`is_dense_of`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableColumn {
    /// Offset of the table of end offsets.
    ends: usize,
    /// Index of this column's end offset.
    index: usize,
    /// Number of end offsets.
    count: usize,
    null_byte: usize,
    null_mask: u8,
}

impl VariableColumn {
    pub(crate) fn new(ends: usize, index: usize, count: usize, (null_byte, null_mask): NullBit) -> Self {
        Self { ends, index, count, null_byte: null_byte as usize, null_mask }
    }

    /// Returns true if the column is NULL. A fragment that is too short counts as NULL.
    #[inline]
    pub fn is_null(&self, fragment: &[u8]) -> bool {
        is_null(fragment, self.null_byte, self.null_mask)
    }

    /// The bytes; `None` for NULL.
    ///
    /// # Errors
    /// [`FragmentError::BadOffset`] and [`FragmentError::Truncated`] for invalid offsets.
    #[inline]
    pub fn read<'a>(&self, fragment: &'a [u8]) -> Result<Option<&'a [u8]>, FragmentError> {
        if self.is_null(fragment) {
            return Ok(None);
        }
        self.bytes(fragment).map(Some)
    }

    /// The bytes, empty for NULL.
    ///
    /// # Errors
    /// As [`Self::read`].
    #[inline]
    pub fn bytes<'a>(&self, fragment: &'a [u8]) -> Result<&'a [u8], FragmentError> {
        let wide = fragment.get(1).is_some_and(|flags| flags & WIDE != 0);
        let span = if wide { self.span::<4>(fragment) } else { self.span::<2>(fragment) };
        span.and_then(|(start, end)| fragment.get(start..end)).ok_or_else(|| self.what_is_wrong(fragment, span))
    }

    /// Start and end in the fragment, from this column's end offset and the one before.
    #[inline]
    fn span<const N: usize>(&self, fragment: &[u8]) -> Option<(usize, usize)> {
        let values = self.ends + N * self.count;
        let ends = fragment.get(self.ends..values)?;
        let end = end_at::<N>(ends, self.index)?;
        let start = match self.index {
            0 => 0,
            index => end_at::<N>(ends, index - 1)?,
        };
        Some((values + start, values + end))
    }

    #[cold]
    fn what_is_wrong(&self, fragment: &[u8], span: Option<(usize, usize)>) -> FragmentError {
        let len = fragment.len();
        match span {
            Some((start, end)) if end < start => FragmentError::BadOffset { cell: self.index, start, end },
            Some((_, need)) => FragmentError::Truncated { part: "variable columns", len, need },
            None => FragmentError::Truncated { part: "end offsets", len, need: self.ends + 2 * self.count },
        }
    }
}

/// The end offset at `index` in a table of `N`-byte offsets.
#[inline]
pub(crate) fn end_at<const N: usize>(ends: &[u8], index: usize) -> Option<usize> {
    let bytes: &[u8; N] = ends.get(N * index..)?.first_chunk()?;
    Some(bytes.iter().fold(0, |end, &byte| end << 8 | usize::from(byte)))
}

/// Checks a table of end offsets: it must ascend and end with the length of `values`.
pub(crate) fn check_ends<const N: usize>(ends: &[u8], values: usize) -> Result<(), FragmentError> {
    let mut start = 0;
    for cell in 0..ends.len() / N {
        let end = end_at::<N>(ends, cell).unwrap_or_default();
        if end < start {
            return Err(FragmentError::BadOffset { cell, start, end });
        }
        start = end;
    }
    match start.cmp(&values) {
        std::cmp::Ordering::Less => Err(FragmentError::TrailingBytes { len: values, end: start }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(FragmentError::Truncated { part: "values", len: values, need: start }),
    }
}

#[inline]
fn is_null(fragment: &[u8], byte: usize, mask: u8) -> bool {
    fragment.get(byte).is_none_or(|bits| bits & mask != 0)
}
