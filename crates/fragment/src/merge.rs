//! Changes some cells of a row.

use crate::{Fragment, FragmentError, Layout, encode_dense, encode_sparse};
use std::collections::BTreeMap;

/// A new value of one cell; `None` makes it NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellChange<'a> {
    /// The changed cell.
    pub qualifier: u16,
    /// The new bytes.
    pub value: Option<&'a [u8]>,
}

/// Applies `changes`, in order, to the fragment `old` and appends the result to `out`.
///
/// `written` is the layout of `old`, `current` the one of the result. The result is dense, or sparse if it has cells
/// that are not in `current`. Differences between the layouts:
/// - a cell that is in `written` but not in `current` belongs to a dropped column and is omitted;
/// - a column that is only in `current` is NULL unless changed: the caller puts the default of an added column before
///   the other changes.
///
/// # Errors
/// Errors of `old`; [`FragmentError::CellWidth`], [`FragmentError::TooLarge`].
pub fn merge(
    old: &[u8],
    written: &Layout,
    current: &Layout,
    changes: &[CellChange<'_>],
    out: &mut Vec<u8>,
) -> Result<(), FragmentError> {
    let fragment = Fragment::parse(old)?;
    if fragment.layout_id() != written.id() {
        return Err(FragmentError::WrongLayout { found: fragment.layout_id(), expected: written.id() });
    }
    let mut cells = BTreeMap::new();
    for (qualifier, value) in fragment.cells(written)? {
        let dropped = written.position(qualifier).is_some() && current.position(qualifier).is_none();
        if !dropped {
            cells.insert(qualifier, value);
        }
    }
    for change in changes {
        match change.value {
            Some(value) => cells.insert(change.qualifier, value),
            None => cells.remove(&change.qualifier),
        };
    }
    encode(&cells, current, out)
}

/// Encodes a dense fragment if all cells are in `layout`, otherwise a sparse one.
fn encode(cells: &BTreeMap<u16, &[u8]>, layout: &Layout, out: &mut Vec<u8>) -> Result<(), FragmentError> {
    if cells.keys().all(|&qualifier| layout.position(qualifier).is_some()) {
        let row: Vec<_> = layout.columns().iter().map(|column| cells.get(&column.qualifier).copied()).collect();
        return encode_dense(layout, &row, out);
    }
    let row: Vec<_> = cells.iter().map(|(&qualifier, &value)| (qualifier, value)).collect();
    encode_sparse(layout.id(), &row, out)
}
