//! Variable-length key parts (text, bytes): zero bytes are escaped, and an end mark follows.
//!
//! A rowkey is the concatenation of its parts, so each part must be self-terminating, and comparing encoded bytes must
//! give the order of the values. A descending part has every byte inverted, including marks; `mask` is FF for
//! descending and 00 for ascending parts, so that a scan decodes both in one pass.
//!
//! ```text
//! value       61    00    62          'a' 0 'b'
//! ascending   61  00 FF   62  00 01   00 FF = a zero byte, 00 01 = the end
//! descending  9E  FF 00   9D  FF FE
//! ```

use crate::KeyError;

/// After a zero byte: the zero belongs to the value. Above [`END`], so 'a' sorts before 'a\0'.
const ESCAPED: u8 = 0xFF;
/// After a zero byte: the end of the part. Needed because the next part may begin with `ESCAPED`.
const END: u8 = 0x01;

/// Appends `value` to `key`: its bytes, one more for each zero byte, and two for the end.
///
/// `encode(a) < encode(b)` bytewise exactly when `a < b`, and no encoding is a prefix of another.
pub(crate) fn encode(value: &[u8], key: &mut Vec<u8>) {
    encode_open(value, key);
    key.extend([0, END]);
}

/// As [`encode`] without the end mark: the common prefix of the encodings of all values that begin with `value`.
pub(crate) fn encode_open(value: &[u8], key: &mut Vec<u8>) {
    let mut runs = value.split(|&byte| byte == 0);
    key.extend_from_slice(runs.next().unwrap_or_default());
    for run in runs {
        key.extend([0, ESCAPED]);
        key.extend_from_slice(run);
    }
}

/// Length of the part at the front of `input`.
///
/// # Errors
/// As [`decode`].
pub(crate) fn length(input: &[u8], mask: u8) -> Result<usize, KeyError> {
    walk(input, mask, |_| {})
}

/// Decodes one part from the front of `input` and returns its length. Overwrites `value`, which the caller reuses, so
/// that a scan does not allocate per row.
///
/// # Errors
/// [`KeyError::Truncated`] without an end mark, [`KeyError::BadEscape`] if a zero byte is followed by neither mark. In
/// both cases [`encode`] did not write these bytes.
pub(crate) fn decode(input: &[u8], mask: u8, value: &mut Vec<u8>) -> Result<usize, KeyError> {
    value.clear();
    let length = walk(input, mask, |run| value.extend_from_slice(run))?;
    if mask != 0 {
        value.iter_mut().for_each(|byte| *byte ^= mask);
    }
    Ok(length)
}

/// Passes the bytes between zero bytes to `visit` (still masked, including zeros that belong to the value). Returns the
/// length of the part.
fn walk(input: &[u8], mask: u8, mut visit: impl FnMut(&[u8])) -> Result<usize, KeyError> {
    let mut rest = input;
    loop {
        let zero = rest.iter().position(|byte| byte ^ mask == 0);
        let (run, marks) =
            zero.and_then(|at| rest.split_at_checked(at)).ok_or(KeyError::Truncated { offset: input.len() })?;
        visit(run);
        let [zero, mark, tail @ ..] = marks else { return Err(KeyError::Truncated { offset: input.len() }) };
        match mark ^ mask {
            END => return Ok(input.len() - tail.len()),
            ESCAPED => visit(std::slice::from_ref(zero)),
            mark => return Err(KeyError::BadEscape { offset: input.len() - tail.len() - 2, mark }),
        }
        rest = tail;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn a_key_cut_anywhere_is_an_error() {
        let mut key = Vec::new();
        encode(b"a\0b", &mut key);
        assert_eq!(key, [0x61, 0, 0xFF, 0x62, 0, 1]);
        while key.pop().is_some() {
            assert!(decode(&key, 0, &mut Vec::new()).is_err(), "{key:02X?}");
        }
    }

    #[test]
    fn a_part_ends_where_the_next_begins() {
        let mut key = Vec::new();
        encode(b"a\0", &mut key);
        let end = key.len();
        key.extend([0xFF, 0, 1]);
        let mut value = Vec::new();
        assert_eq!(decode(&key, 0, &mut value), Ok(end));
        assert_eq!(value, b"a\0");
        let inverted: Vec<u8> = key.iter().map(|byte| !byte).collect();
        assert_eq!(decode(&inverted, 0xFF, &mut value), Ok(end));
        assert_eq!(value, b"a\0");
    }

    #[test]
    fn a_bad_mark_is_reported_where_it_is() {
        let error = decode(&[0x61, 0, 7], 0, &mut Vec::new()).unwrap_err();
        assert_eq!(error, KeyError::BadEscape { offset: 1, mark: 7 });
        assert_eq!(error.to_string(), "rowkey byte 1: 00 is followed by 07, expected FF (a zero byte) or 01 (the end)");
    }
}
