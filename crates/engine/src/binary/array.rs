//! Arrays in the binary format.
//!
//! ```text
//!   dimensions i32 | has NULLs i32 | element oid u32 | per dimension: size i32, lower bound i32 | fields, length first
//! ```

use bytes::{Buf, BufMut};
use types::{DataType, Datum, TypeError};

/// PostgreSQL's limit of dimensions.
const MAX_DIMENSIONS: usize = 6;

pub(super) fn put(ty: &DataType, items: &[Datum], out: &mut Vec<u8>) {
    let element = ty.item().unwrap_or(DataType::Text);
    let dimensions = types::array::dimensions(items);
    out.put_i32(dimensions.len() as i32);
    out.put_i32(i32::from(has_null(items)));
    out.put_u32(element.oid());
    for size in dimensions {
        out.put_i32(size as i32);
        out.put_i32(1);
    }
    put_items(&element, items, out);
}

fn has_null(items: &[Datum]) -> bool {
    items.iter().any(|item| match item {
        Datum::Array(inner) => has_null(inner),
        item => item.is_null(),
    })
}

fn put_items(element: &DataType, items: &[Datum], out: &mut Vec<u8>) {
    for item in items {
        match item {
            Datum::Array(inner) => put_items(element, inner, out),
            item => put_item(element, item, out),
        }
    }
}

fn put_item(element: &DataType, item: &Datum, out: &mut Vec<u8>) {
    if item.is_null() {
        return out.put_i32(-1);
    }
    let start = out.len();
    out.put_i32(0);
    super::put(element, item, out);
    let length = (out.len() - start - 4) as u32;
    if let Some(field) = out.get_mut(start..start + 4) {
        field.copy_from_slice(&length.to_be_bytes());
    }
}

/// Reads an array; `None` if the bytes are not in that format.
pub(super) fn get(element: &DataType, mut bytes: &[u8]) -> Result<Option<Datum>, TypeError> {
    if bytes.len() < 12 {
        return Ok(None);
    }
    let (count, _, oid) = (bytes.get_i32(), bytes.get_i32(), bytes.get_u32());
    let Ok(count) = usize::try_from(count) else { return Ok(None) };
    // Elements of another type would be misread.
    if count > MAX_DIMENSIONS || bytes.len() < count * 8 || oid != element.oid() {
        return Ok(None);
    }
    let mut sizes = Vec::with_capacity(count);
    for _ in 0..count {
        let (size, _) = (bytes.get_i32(), bytes.get_i32());
        let Ok(size) = usize::try_from(size) else { return Ok(None) };
        sizes.push(size);
    }
    // An array with an empty dimension is empty, whatever the other dimensions are.
    if sizes.is_empty() || sizes.contains(&0) {
        return Ok(bytes.is_empty().then_some(Datum::Array(Vec::new())));
    }
    let items = get_items(element, &sizes, &mut bytes)?;
    Ok(items.filter(|_| bytes.is_empty()).map(Datum::Array))
}

fn get_items(element: &DataType, sizes: &[usize], bytes: &mut &[u8]) -> Result<Option<Vec<Datum>>, TypeError> {
    let Some((size, inner)) = sizes.split_first() else { return Ok(None) };
    let mut items = Vec::new();
    for _ in 0..*size {
        let item = if inner.is_empty() {
            get_item(element, bytes)?
        } else {
            get_items(element, inner, bytes)?.map(Datum::Array)
        };
        let Some(item) = item else { return Ok(None) };
        items.push(item);
    }
    Ok(Some(items))
}

fn get_item(element: &DataType, bytes: &mut &[u8]) -> Result<Option<Datum>, TypeError> {
    if bytes.len() < 4 {
        return Ok(None);
    }
    let length = bytes.get_i32();
    if length == -1 {
        return Ok(Some(Datum::Null));
    }
    let Some((field, rest)) = usize::try_from(length).ok().and_then(|length| bytes.split_at_checked(length)) else {
        return Ok(None);
    };
    *bytes = rest;
    super::get(element, field)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use types::ElementType;

    fn read(element: ElementType, text: &str) -> Datum {
        types::text::parse(&DataType::Array(element), text).unwrap()
    }

    #[test]
    fn arrays_come_back() {
        let cases = [
            (ElementType::Integer, "{1,2,NULL}"),
            (ElementType::Integer, "{{1,2},{3,4}}"),
            (ElementType::Text, "{}"),
            (ElementType::Numeric, "{1.5,-2}"),
        ];
        for (element, text) in cases {
            let Datum::Array(items) = read(element, text) else { unreachable!() };
            let mut out = Vec::new();
            put(&DataType::Array(element), &items, &mut out);
            assert_eq!(get(&element.data_type(), &out).unwrap(), Some(Datum::Array(items)), "{text}");
            assert_eq!(get(&element.data_type(), &out[..out.len() - 1]).unwrap(), None);
        }
    }

    #[test]
    fn the_bytes_are_those_of_postgresql() {
        // select array_send('{1,NULL}'::int[])
        let Datum::Array(items) = read(ElementType::Integer, "{1,NULL}") else { unreachable!() };
        let mut out = Vec::new();
        put(&DataType::Array(ElementType::Integer), &items, &mut out);
        let want =
            [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 23, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 1, 255, 255, 255, 255];
        assert_eq!(out, want);
    }
}
