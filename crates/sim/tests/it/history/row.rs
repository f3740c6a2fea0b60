//! Rows that contain their number and the step that wrote them.

use fragment::{Fragment, Layout, LayoutColumn};

/// The key of row `number`; keys sort like numbers.
pub(crate) fn key(number: u64) -> Vec<u8> {
    [&number.to_be_bytes()[..], b"-row"].concat()
}

/// The number of a key made by [`key`].
pub(crate) fn number_of(key: &[u8]) -> Option<u64> {
    let (number, tail) = key.split_first_chunk::<8>()?;
    (tail == b"-row").then_some(u64::from_be_bytes(*number))
}

/// The fragment that step `writer` writes to row `number`. Lengths differ, and some exceed a page.
pub(crate) fn fragment(number: u64, writer: u64) -> Vec<u8> {
    let mixed = (number.wrapping_mul(31) ^ writer.wrapping_mul(0x9E37_79B9)) >> 3;
    let length = if mixed.is_multiple_of(97) { 5_000 } else { 20 + mixed % 180 };
    let filler: Vec<u8> = (0..length).map(|at| (mixed.wrapping_mul(at + 7) >> 5) as u8).collect();
    let mut out = Vec::new();
    let cells = [Some(number.to_be_bytes()), Some(writer.to_be_bytes())];
    let cells =
        [cells[0].as_ref().map(<[u8; 8]>::as_slice), cells[1].as_ref().map(<[u8; 8]>::as_slice), Some(&filler[..])];
    fragment::encode_dense(&layout(), &cells, &mut out).unwrap();
    out
}

/// The step that wrote `bytes` to row `number`, if the bytes are exactly what that step writes.
pub(crate) fn writer_of(number: u64, bytes: &[u8]) -> Option<u64> {
    let layout = layout();
    let found = Fragment::parse(bytes).ok()?;
    let found = found.dense(&layout).ok()?;
    let writer = u64::from_be_bytes(found.cell(1)?.try_into().ok()?);
    let wanted = fragment(number, writer);
    let wanted = Fragment::parse(&wanted).ok()?;
    let wanted = wanted.dense(&layout).ok()?;
    // Compares the cells only, because the store stamps the header.
    (0..3).all(|cell| found.cell(cell) == wanted.cell(cell)).then_some(writer)
}

fn layout() -> Layout {
    let column = |qualifier, width| LayoutColumn { qualifier, width };
    Layout::new(1, vec![column(1, Some(8)), column(2, Some(8)), column(3, None)])
}
