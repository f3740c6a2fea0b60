//! Cells of arrays: the size of each dimension, NULL bits, then the elements' cells.
//!
//! ```text
//!   01 | flags | dimensions | per dimension: size u32, lower bound i32 | NULL bits | elements
//!   flags: 01 there are NULLs, and NULL bits            element: its cell, after its length (u32) if not fixed-width
//! ```
//!
//! An empty array has no dimensions. Each array has exactly one encoding, so equal bytes are equal arrays; the byte
//! order is not the order of the arrays. Decoded lengths are not trusted: no more is allocated than the bytes can hold.

use crate::{KeyError, cell_value};
use types::array::MAX_DIMENSIONS;
use types::{DataType, Datum};

const VERSION: u8 = 1;
const HAS_NULLS: u8 = 1;
/// The only supported lower bound.
const LOWER_BOUND: i32 = 1;

/// Appends the cell of an array of `item`s.
///
/// # Errors
/// [`KeyError::Dimensions`] if the number of dimensions is not the column's, [`KeyError::Uneven`] for sub-arrays of
/// different sizes, [`KeyError::WrongType`] for more than six dimensions and for elements of another type.
pub(crate) fn encode(ty: &DataType, item: &DataType, items: &[Datum], out: &mut Vec<u8>) -> Result<(), KeyError> {
    let wrong = || KeyError::WrongType { ty: ty.sql_name(), found: "array".to_owned() };
    let items = if is_hollow(items) { &[] } else { items };
    let sizes = types::array::dimensions(items);
    let mut leaves = Vec::with_capacity(items.len());
    collect(items, &sizes, &mut leaves).ok_or(KeyError::Uneven)?;
    if sizes.len() > MAX_DIMENSIONS {
        return Err(wrong());
    }
    let declared = usize::from(ty.dimensions());
    if !sizes.is_empty() && sizes.len() != declared {
        return Err(KeyError::Dimensions { found: sizes.len(), declared });
    }
    let nulls = leaves.iter().any(|leaf| leaf.is_null());
    out.extend([VERSION, u8::from(nulls), u8::try_from(sizes.len()).unwrap_or(0)]);
    for size in &sizes {
        out.extend(u32::try_from(*size).map_err(|_| wrong())?.to_be_bytes());
        out.extend(LOWER_BOUND.to_be_bytes());
    }
    if nulls {
        for eight in leaves.chunks(8) {
            out.push(eight.iter().rev().fold(0, |bits, leaf| bits << 1 | u8::from(leaf.is_null())));
        }
    }
    for leaf in leaves {
        encode_element(item, leaf, out)?;
    }
    Ok(())
}

fn encode_element(item: &DataType, leaf: &Datum, out: &mut Vec<u8>) -> Result<(), KeyError> {
    if leaf.is_null() {
        return Ok(());
    }
    if item.fixed_width().is_some() {
        return cell_value::encode_fixed(item, leaf, out);
    }
    let start = out.len();
    out.extend([0; 4]);
    cell_value::encode_variable(item, leaf, out)?;
    let length = u32::try_from(out.len() - start - 4)
        .map_err(|_| KeyError::WrongType { ty: item.sql_name(), found: "more than 4 GiB".to_owned() })?;
    if let Some(slot) = out.get_mut(start..start + 4) {
        slot.copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

/// Whether an array has no elements, such as an array of empty arrays.
fn is_hollow(items: &[Datum]) -> bool {
    items.iter().all(|item| matches!(item, Datum::Array(parts) if is_hollow(parts)))
}

/// Collects the elements in order, if all sub-arrays have these sizes and the same depth.
fn collect<'a>(items: &'a [Datum], sizes: &[usize], leaves: &mut Vec<&'a Datum>) -> Option<()> {
    let Some((size, inner)) = sizes.split_first() else { return items.is_empty().then_some(()) };
    if items.len() != *size {
        return None;
    }
    for item in items {
        match item {
            Datum::Array(parts) if !inner.is_empty() => collect(parts, inner, leaves)?,
            Datum::Array(_) => return None,
            leaf if inner.is_empty() => leaves.push(leaf),
            _ => return None,
        }
    }
    Some(())
}

/// Reads the cell of an array of `item`s.
///
/// # Errors
/// [`KeyError::BadValue`] for bytes that [`encode`] does not write, and errors of the elements' cells.
pub(crate) fn decode(ty: &DataType, item: &DataType, bytes: &[u8]) -> Result<Vec<Datum>, KeyError> {
    let mut reader = Reader { ty, bytes, offset: 0 };
    let [version, flags, dimensions] = reader.take()?;
    if version != VERSION || flags & !HAS_NULLS != 0 || (dimensions != 0 && dimensions != ty.dimensions()) {
        return Err(reader.bad());
    }
    let mut sizes = Vec::with_capacity(dimensions.into());
    for _ in 0..dimensions {
        let size = u32::from_be_bytes(reader.take()?) as usize;
        if size == 0 || i32::from_be_bytes(reader.take()?) != LOWER_BOUND {
            return Err(reader.bad());
        }
        sizes.push(size);
    }
    // The smallest element is one byte, or one bit if it is NULL.
    let has_nulls = flags == HAS_NULLS;
    let most = if has_nulls { reader.left().saturating_mul(8) } else { reader.left() };
    let count = sizes.iter().try_fold(usize::from(!sizes.is_empty()), |product, size| product.checked_mul(*size));
    let count = count.filter(|count| *count <= most).ok_or_else(|| reader.bad())?;
    let nulls = reader.nulls(has_nulls, count)?;
    let mut leaves = Vec::with_capacity(count.min(reader.left()));
    for at in 0..count {
        let null = nulls.get(at / 8).is_some_and(|bits| bits >> (at % 8) & 1 == 1);
        leaves.push(if null { Datum::Null } else { reader.element(item)? });
    }
    if reader.left() > 0 {
        return Err(reader.bad());
    }
    Ok(nest(leaves, sizes.get(1..).unwrap_or_default()))
}

/// Nests the elements into sub-arrays of the sizes `inner`.
fn nest(mut items: Vec<Datum>, inner: &[usize]) -> Vec<Datum> {
    for size in inner.iter().rev() {
        let mut parts = Vec::with_capacity(items.len() / (*size).max(1));
        let mut rest = items.into_iter();
        loop {
            let part: Vec<Datum> = rest.by_ref().take(*size).collect();
            if part.is_empty() {
                break;
            }
            parts.push(Datum::Array(part));
        }
        items = parts;
    }
    items
}

struct Reader<'a> {
    ty: &'a DataType,
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    fn bad(&self) -> KeyError {
        KeyError::BadValue { offset: self.offset, ty: self.ty.sql_name() }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.offset
    }

    fn slice(&mut self, length: usize) -> Result<&'a [u8], KeyError> {
        let found = self.bytes.get(self.offset..).and_then(|rest| rest.get(..length)).ok_or_else(|| self.bad())?;
        self.offset += length;
        Ok(found)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], KeyError> {
        let slice = self.slice(N)?;
        slice.try_into().map_err(|_| self.bad())
    }

    /// Reads the NULL bits: present only if one of them is set, and unset after the last element.
    fn nulls(&mut self, there: bool, count: usize) -> Result<&'a [u8], KeyError> {
        if !there {
            return Ok(&[]);
        }
        let bits = self.slice(count.div_ceil(8))?;
        let behind = bits.last().is_some_and(|last| !count.is_multiple_of(8) && last >> (count % 8) != 0);
        if behind || bits.iter().all(|byte| *byte == 0) { Err(self.bad()) } else { Ok(bits) }
    }

    fn element(&mut self, item: &DataType) -> Result<Datum, KeyError> {
        let base = self.offset;
        match item.fixed_width() {
            Some(width) => cell_value::decode_fixed(item, self.slice(width)?).map_err(|error| error.at(base)),
            None => {
                let length = u32::from_be_bytes(self.take()?) as usize;
                let cell = self.slice(length)?;
                cell_value::decode_variable(item, cell).map_err(|error| error.at(base + 4))
            }
        }
    }
}
