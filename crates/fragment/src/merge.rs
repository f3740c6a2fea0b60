//! Changing some cells of a row and keeping the others.

use crate::{Fragment, FragmentError, Layout, encode_dense, encode_sparse};
use std::collections::BTreeMap;

/// A new value of one cell; `None` makes it NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellChange<'a> {
    /// Which cell.
    pub qualifier: u16,
    /// Its bytes.
    pub value: Option<&'a [u8]>,
}

/// Appends to `out` what `changes`, in order, make of the fragment `old`.
///
/// `written` is the layout that `old` names, `current` the one to write. The result is dense, unless
/// cells remain that `current` does not have: then it is sparse. Two rules join the layouts:
/// - a cell that `written` has and `current` has not belonged to a dropped column, and is left out;
/// - a column that only `current` has is NULL unless changed: a default of an added column is for the
///   caller to put in front of `changes`.
///
/// # Errors
/// What is wrong with `old`; [`FragmentError::CellWidth`], [`FragmentError::TooLarge`].
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

/// Dense if `layout` has all the cells, else sparse.
fn encode(cells: &BTreeMap<u16, &[u8]>, layout: &Layout, out: &mut Vec<u8>) -> Result<(), FragmentError> {
    if cells.keys().all(|&qualifier| layout.position(qualifier).is_some()) {
        let row: Vec<_> = layout.columns().iter().map(|column| cells.get(&column.qualifier).copied()).collect();
        return encode_dense(layout, &row, out);
    }
    let row: Vec<_> = cells.iter().map(|(&qualifier, &value)| (qualifier, value)).collect();
    encode_sparse(layout.id(), &row, out)
}
