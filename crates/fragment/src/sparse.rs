//! Sparse fragments: cells by qualifier, for rows with cells that are in no layout, or with few of the layout's cells.
//!
//! ```text
//!   header   count (2)   qualifiers (2 each, ascending)   end offsets (2 or 4 each)   values
//! ```

use crate::FragmentError;
use crate::dense::{check_ends, end_at};
use crate::encoder::{check_size, write_ends};
use crate::header::{self, WIDE};

/// Appends a sparse fragment to `out`: `cells` by ascending qualifier, none of them NULL. `layout` is the table's
/// current layout; its columns without a cell are NULL.
///
/// # Errors
/// [`FragmentError::QualifierOrder`], [`FragmentError::TooLarge`]; `out` is unchanged then.
pub fn encode_sparse(layout: u16, cells: &[(u16, &[u8])], out: &mut Vec<u8>) -> Result<(), FragmentError> {
    let (count, size) = check(cells)?;
    let wide = size > usize::from(u16::MAX);
    out.reserve(header::LEN + 2 + 6 * cells.len() + size);
    header::write(if wide { WIDE } else { 0 }, layout, out);
    out.extend(count.to_be_bytes());
    for (qualifier, _) in cells {
        out.extend(qualifier.to_be_bytes());
    }
    let values = cells.iter().map(|&(_, value)| value);
    if wide {
        write_ends(values.clone(), out, |end, out| out.extend((end as u32).to_be_bytes()));
    } else {
        write_ends(values.clone(), out, |end, out| out.extend((end as u16).to_be_bytes()));
    }
    for value in values {
        out.extend_from_slice(value);
    }
    Ok(())
}

/// Checks the cells and returns their number and total length.
fn check(cells: &[(u16, &[u8])]) -> Result<(u16, usize), FragmentError> {
    let limit = usize::from(u16::MAX);
    let count = u16::try_from(cells.len());
    let count = count.map_err(|_| FragmentError::TooLarge { what: "cells", size: cells.len(), limit })?;
    for (before, found) in cells.iter().zip(cells.iter().skip(1)) {
        if before.0 >= found.0 {
            return Err(FragmentError::QualifierOrder { before: before.0, found: found.0 });
        }
    }
    let size = cells.iter().map(|(_, value)| value.len()).sum();
    check_size(size)?;
    Ok((count, size))
}

/// The checked cells of a sparse fragment.
#[derive(Clone, Copy, Debug)]
pub struct SparseView<'a> {
    qualifiers: &'a [[u8; 2]],
    ends: &'a [u8],
    values: &'a [u8],
    wide: bool,
}

impl<'a> SparseView<'a> {
    pub(crate) fn parse(bytes: &'a [u8], wide: bool) -> Result<Self, FragmentError> {
        let truncated = |part, need| FragmentError::Truncated { part, len: bytes.len(), need };
        let first = header::LEN + 2;
        let Some(&count) = bytes.get(header::LEN..).and_then(|rest| rest.first_chunk()) else {
            return Err(truncated("cell count", first));
        };
        let count = usize::from(u16::from_be_bytes(count));
        let (ends_at, width) = (first + 2 * count, if wide { 4 } else { 2 });
        let values_at = ends_at + width * count;
        let (Some(qualifiers), Some(ends), Some(values)) =
            (bytes.get(first..ends_at), bytes.get(ends_at..values_at), bytes.get(values_at..))
        else {
            return Err(truncated("qualifiers and end offsets", values_at));
        };
        let view = Self { qualifiers: qualifiers.as_chunks().0, ends, values, wide };
        view.check()?;
        Ok(view)
    }

    fn check(&self) -> Result<(), FragmentError> {
        for (&before, &found) in self.qualifiers.iter().zip(self.qualifiers.iter().skip(1)) {
            if before >= found {
                let (before, found) = (u16::from_be_bytes(before), u16::from_be_bytes(found));
                return Err(FragmentError::QualifierOrder { before, found });
            }
        }
        let len = self.values.len();
        if self.wide { check_ends::<4>(self.ends, len) } else { check_ends::<2>(self.ends, len) }
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.qualifiers.len()
    }

    /// Returns true if there are no cells.
    pub fn is_empty(&self) -> bool {
        self.qualifiers.is_empty()
    }

    /// The bytes of the cell `qualifier`; `None` if it does not exist.
    pub fn cell(&self, qualifier: u16) -> Option<&'a [u8]> {
        let at = self.qualifiers.binary_search(&qualifier.to_be_bytes()).ok()?;
        self.value(at)
    }

    /// All cells by ascending qualifier.
    pub fn cells(&self) -> impl Iterator<Item = (u16, &'a [u8])> {
        let cells = self.qualifiers.iter().enumerate();
        cells.map(|(at, &qualifier)| (u16::from_be_bytes(qualifier), self.value(at).unwrap_or_default()))
    }

    fn value(&self, at: usize) -> Option<&'a [u8]> {
        let end = |at| if self.wide { end_at::<4>(self.ends, at) } else { end_at::<2>(self.ends, at) };
        let start = match at {
            0 => 0,
            at => end(at - 1)?,
        };
        self.values.get(start..end(at)?)
    }
}
