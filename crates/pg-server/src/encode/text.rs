//! The text format: values as `types::text` prints them, times in the session's time zone.

use engine::TimeZone;
use types::{DataType, Datum};

/// Prints values into a reused buffer, which avoids an allocation per value.
pub(crate) struct Printer {
    /// Time zone of `timestamptz` values.
    zone: TimeZone,
    scratch: String,
}

impl Printer {
    pub(crate) fn new(zone: TimeZone) -> Self {
        Self { zone, scratch: String::new() }
    }

    /// Appends `value` as PostgreSQL prints it.
    pub(super) fn put(&mut self, ty: &DataType, value: &Datum, out: &mut Vec<u8>) {
        self.scratch.clear();
        match (ty, value) {
            (DataType::Text | DataType::Varchar(_), Datum::Text(text)) => {
                return out.extend_from_slice(text.as_bytes());
            }
            _ => self.zone.print(ty, value, &mut self.scratch),
        }
        out.extend_from_slice(self.scratch.as_bytes());
    }
}

/// Bytes of the field length and of the longest integer.
const INTEGER_FIELD: usize = 4 + 20;

/// Appends an integer in decimal with its length in front: most fields are numbers, and the standard library's
/// formatting takes several times as long.
pub(super) fn put_integer_field(value: i64, out: &mut Vec<u8>) {
    // Filled from the end: the last two digits first, then the sign, then the length.
    let mut field = [0_u8; INTEGER_FIELD];
    let mut left = field.as_mut_slice();
    let mut rest = value.unsigned_abs();
    while rest >= 100 {
        left = put_in_front(left, two_digits((rest % 100) as u8));
        rest /= 100;
    }
    left = match rest as u8 {
        one @ 0..10 => put_in_front(left, [b'0' + one]),
        two => put_in_front(left, two_digits(two)),
    };
    if value < 0 {
        left = put_in_front(left, *b"-");
    }
    let length = (INTEGER_FIELD - left.len()) as u32;
    if let Some(place) = left.last_chunk_mut() {
        *place = length.to_be_bytes();
    }
    let start = left.len().saturating_sub(4);
    out.extend_from_slice(field.get(start..).unwrap_or_default());
}

#[inline]
fn two_digits(number: u8) -> [u8; 2] {
    [b'0' + number / 10, b'0' + number % 10]
}

/// Puts bytes at the end of `left` and returns the rest of it.
#[inline]
fn put_in_front<const N: usize>(left: &mut [u8], bytes: [u8; N]) -> &mut [u8] {
    match left.split_last_chunk_mut() {
        Some((left, last)) => {
            *last = bytes;
            left
        }
        None => &mut [],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_look_as_the_standard_library_prints_them() {
        let edges = [0, 1, 9, 10, 11, 99, 100, 12_345, i64::from(i32::MIN), i64::MAX - 1, i64::MAX, i64::MIN];
        for value in edges.into_iter().flat_map(|value| [value, value.wrapping_neg()]) {
            let mut out = Vec::new();
            put_integer_field(value, &mut out);
            let text = value.to_string();
            assert_eq!(out, [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat());
        }
    }
}
