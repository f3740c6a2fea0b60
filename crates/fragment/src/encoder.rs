//! Encodes the cells of a row as a dense fragment. The inverse of `decoder.rs`.

use crate::header::{self, DENSE, WIDE};
use crate::{FragmentError, Layout};

/// Appends a dense fragment to `out`: one cell per column of `layout`, `None` for NULL. The stamp is zero.
///
/// # Errors
/// [`FragmentError::CellCount`], [`FragmentError::CellWidth`], [`FragmentError::TooLarge`]; `out` is unchanged then.
pub fn encode_dense(layout: &Layout, cells: &[Option<&[u8]>], out: &mut Vec<u8>) -> Result<(), FragmentError> {
    let variable = check(layout, cells)?;
    let wide = variable > usize::from(u16::MAX);
    let flags = if wide { DENSE | WIDE } else { DENSE };
    out.reserve(layout.fixed_len() + 4 * layout.variable_count() + variable);
    header::write(flags, layout.id(), out);
    write_null_bits(cells, out);
    write_fixed(layout, cells, out);
    if wide {
        write_ends(variable_cells(layout, cells), out, |end, out| out.extend((end as u32).to_be_bytes()));
    } else {
        write_ends(variable_cells(layout, cells), out, |end, out| out.extend((end as u16).to_be_bytes()));
    }
    for cell in variable_cells(layout, cells) {
        out.extend_from_slice(cell);
    }
    Ok(())
}

/// Checks the cells and returns the total length of the variable ones.
fn check(layout: &Layout, cells: &[Option<&[u8]>]) -> Result<usize, FragmentError> {
    let columns = layout.columns();
    if columns.len() != cells.len() {
        let (expected, found) = (columns.len(), cells.len());
        return Err(FragmentError::CellCount { layout: layout.id(), expected, found });
    }
    let mut variable = 0;
    for (column, cell) in columns.iter().zip(cells) {
        let Some(cell) = cell else { continue };
        match column.width.map(usize::from) {
            None => variable += cell.len(),
            Some(expected) if expected != cell.len() => {
                return Err(FragmentError::CellWidth { qualifier: column.qualifier, expected, found: cell.len() });
            }
            Some(_) => {}
        }
    }
    check_size(variable)?;
    Ok(variable)
}

/// Checks that the end offsets fit in 4 bytes.
pub(crate) fn check_size(size: usize) -> Result<(), FragmentError> {
    match u32::try_from(size) {
        Ok(_) => Ok(()),
        Err(_) => Err(FragmentError::TooLarge { what: "row", size, limit: u32::MAX as usize }),
    }
}

fn write_null_bits(cells: &[Option<&[u8]>], out: &mut Vec<u8>) {
    for eight in cells.chunks(8) {
        let bit = |(i, cell): (usize, &Option<&[u8]>)| u8::from(cell.is_none()) << i;
        out.push(eight.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit));
    }
}

fn write_fixed(layout: &Layout, cells: &[Option<&[u8]>], out: &mut Vec<u8>) {
    for (column, cell) in layout.columns().iter().zip(cells) {
        match (column.width, cell) {
            (Some(_), Some(cell)) => out.extend_from_slice(cell),
            (Some(width), None) => out.resize(out.len() + usize::from(width), 0),
            (None, _) => {}
        }
    }
}

/// The bytes of each variable column, empty for NULL.
fn variable_cells<'a>(layout: &'a Layout, cells: &'a [Option<&'a [u8]>]) -> impl Iterator<Item = &'a [u8]> {
    let columns = layout.columns().iter().zip(cells);
    columns.filter(|(column, _)| column.width.is_none()).map(|(_, cell)| cell.unwrap_or_default())
}

/// Writes the end of each cell, relative to the start of the first.
pub(crate) fn write_ends<'a>(
    cells: impl Iterator<Item = &'a [u8]>,
    out: &mut Vec<u8>,
    write: impl Fn(usize, &mut Vec<u8>),
) {
    let mut end = 0;
    for cell in cells {
        end += cell.len();
        write(end, out);
    }
}
