//! The text format: what `types::text` prints, times in the session's zone.

use bytes::{BufMut, BytesMut};
use engine::TimeZone;
use types::{DataType, Datum};

/// What printing needs, so that a row needs no string of its own.
pub(crate) struct Printer {
    /// Where times with a zone are shown.
    zone: TimeZone,
    scratch: String,
}

impl Printer {
    pub(crate) fn new(zone: TimeZone) -> Self {
        Self { zone, scratch: String::new() }
    }

    /// Appends `value` as PostgreSQL prints it.
    pub(super) fn put(&mut self, ty: &DataType, value: &Datum, out: &mut BytesMut) {
        self.scratch.clear();
        match (ty, value) {
            (DataType::Text | DataType::Varchar(_), Datum::Text(text)) => return out.put_slice(text.as_bytes()),
            (_, Datum::Int2(value)) => return put_integer((*value).into(), out),
            (_, Datum::Int4(value)) => return put_integer((*value).into(), out),
            (_, Datum::Int8(value)) => return put_integer(*value, out),
            _ => self.zone.print(ty, value, &mut self.scratch),
        }
        out.put_slice(self.scratch.as_bytes());
    }
}

/// Appends an integer in decimal: numbers are most of what is sent, and the standard library's formatting takes
/// several times as long.
fn put_integer(value: i64, out: &mut BytesMut) {
    // Digits from the last to the first, at the end; then the sign.
    let mut text = [0_u8; 20];
    let mut start = text.len();
    let mut rest = value.unsigned_abs();
    for place in text.iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        start -= 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.put_u8(b'-');
    }
    out.put_slice(text.get(start..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_look_as_the_standard_library_prints_them() {
        let edges = [0, 1, 9, 10, 11, 99, 100, 12_345, i64::from(i32::MIN), i64::MAX - 1, i64::MAX, i64::MIN];
        for value in edges.into_iter().flat_map(|value| [value, value.wrapping_neg()]) {
            let mut out = BytesMut::new();
            put_integer(value, &mut out);
            assert_eq!(out, value.to_string());
        }
    }
}
