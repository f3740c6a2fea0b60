//! Reading one column of many dense rows: the loops of a scan.
//!
//! ```text
//!   for row in rows:  is_dense_of(row, layout)?          once a row: header and length of the fixed part
//!   for column:       for row in rows: column.read(row)  offsets are constants of the loop
//! ```
//! The fixed part needs no further check. Variable cells check their own two offsets when they are
//! read, so that a scan pays for the columns it wants and no other.

use crate::header::{DENSE, FORMAT, WIDE};
use crate::{FragmentError, Layout};
use store::NullBit;

/// Is this a dense fragment of `layout`, long enough for its fixed part and all end offsets?
#[inline]
pub fn is_dense_of(fragment: &[u8], layout: &Layout) -> bool {
    let Some(&[format, flags, l0, l1]) = fragment.first_chunk() else { return false };
    // The two forms of end offsets differ by 2 bytes for each variable column.
    let wider = if flags & WIDE == 0 { 0 } else { 2 * layout.variable_count() };
    format == FORMAT
        && flags & !WIDE == DENSE
        && u16::from_be_bytes([l0, l1]) == layout.id()
        && fragment.len() >= layout.min_len() + wider
}

/// A fixed-width column of rows that [`is_dense_of`] holds for.
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

    /// Bytes of a value.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Is it NULL here? A fragment too short to say counts as NULL.
    #[inline]
    pub fn is_null(&self, fragment: &[u8]) -> bool {
        is_null(fragment, self.null_byte, self.null_mask)
    }

    /// Its bytes as an array of the column's width, zeros when it is NULL. `None` only when `N` reaches
    /// beyond the fragment, which does not happen after [`is_dense_of`].
    #[inline]
    pub fn array<'a, const N: usize>(&self, fragment: &'a [u8]) -> Option<&'a [u8; N]> {
        fragment.get(self.offset..)?.first_chunk()
    }

    /// Its bytes, zeros when it is NULL. `None` as in [`Self::array`].
    #[inline]
    pub fn bytes<'a>(&self, fragment: &'a [u8]) -> Option<&'a [u8]> {
        fragment.get(self.offset..self.offset + self.width)
    }

    /// Its bytes; `None` when it is NULL.
    #[inline]
    pub fn read<'a>(&self, fragment: &'a [u8]) -> Option<&'a [u8]> {
        if self.is_null(fragment) { None } else { self.bytes(fragment) }
    }
}

/// A variable-width column of rows that [`is_dense_of`] holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableColumn {
    /// Where the table of end offsets begins.
    ends: usize,
    /// Which of them is this column's.
    index: usize,
    /// How many there are.
    count: usize,
    null_byte: usize,
    null_mask: u8,
}

impl VariableColumn {
    pub(crate) fn new(ends: usize, index: usize, count: usize, (null_byte, null_mask): NullBit) -> Self {
        Self { ends, index, count, null_byte: null_byte as usize, null_mask }
    }

    /// Is it NULL here? A fragment too short to say counts as NULL.
    #[inline]
    pub fn is_null(&self, fragment: &[u8]) -> bool {
        is_null(fragment, self.null_byte, self.null_mask)
    }

    /// Its bytes; `None` when it is NULL.
    ///
    /// # Errors
    /// [`FragmentError::BadOffset`] and [`FragmentError::Truncated`] for offsets that no encoder wrote.
    #[inline]
    pub fn read<'a>(&self, fragment: &'a [u8]) -> Result<Option<&'a [u8]>, FragmentError> {
        if self.is_null(fragment) {
            return Ok(None);
        }
        self.bytes(fragment).map(Some)
    }

    /// Its bytes, none when it is NULL.
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

/// End offset `index` of a table of `N`-byte ones.
#[inline]
pub(crate) fn end_at<const N: usize>(ends: &[u8], index: usize) -> Option<usize> {
    let bytes: &[u8; N] = ends.get(N * index..)?.first_chunk()?;
    Some(bytes.iter().fold(0, |end, &byte| end << 8 | usize::from(byte)))
}

/// Checks a whole table of end offsets: ascending, and the last one the length of `values`.
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
