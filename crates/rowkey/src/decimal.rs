//! `numeric` without precision: sign, exponent, digits and an end mark, in an order-preserving form.
//!
//! The number is `0.d1d2d3... * 10^exponent` with `d1` not zero, so numbers of one sign compare by exponent first, by
//! digits then. Two digits are one byte, 01 to 64 (hex) for 00 to 99; 00 ends them and sorts below every pair. Of a
//! negative number everything after the sign is inverted.
//!
//! ```text
//!     12.5  03  42  0D 33 00      0.125 * 10^2: exponent 40 + 2, pairs 12 and 50, end
//!        0  02
//!    -12.5  01  BD  F2 CC FF
//! ```
//!
//! Equal numbers (1.0 and 1.00) have no idle zeros here, so their bytes are equal. 00 and 04 to FF are free for
//! infinities and NaN in front of and behind the numbers.

use crate::KeyError;
use types::{DataType, Decimal};

const NEGATIVE: u8 = 0x01;
const ZERO: u8 = 0x02;
const POSITIVE: u8 = 0x03;
/// Added to the exponent (-37 to 38), so that it is a byte that sorts.
const EXPONENT_BIAS: i8 = 0x40;
const END: u8 = 0x00;

/// Appends the number.
pub(crate) fn encode(value: Decimal, key: &mut Vec<u8>) {
    let plain = value.normalized();
    if plain.unscaled == 0 {
        return key.push(ZERO);
    }
    let digits = plain.unscaled.unsigned_abs().to_string();
    let exponent = i64::try_from(digits.len()).unwrap_or(0) - i64::from(plain.scale);
    let negative = plain.unscaled < 0;
    key.push(if negative { NEGATIVE } else { POSITIVE });
    let mask = if negative { 0xFF } else { 0 };
    // Between 0x40 - 37 and 0x40 + 38: one byte.
    key.push(u8::try_from(i64::from(EXPONENT_BIAS) + exponent).unwrap_or(0) ^ mask);
    let significant = digits.trim_end_matches('0').as_bytes();
    for pair in significant.chunks(2) {
        let (tens, ones) = match pair {
            [tens, ones] => (tens - b'0', ones - b'0'),
            [tens] => (tens - b'0', 0),
            _ => (0, 0),
        };
        key.push((tens * 10 + ones + 1) ^ mask);
    }
    key.push(END ^ mask);
}

/// Bytes that the number at the front of `input` takes; `mask` is FF in a descending part.
pub(crate) fn length(input: &[u8], mask: u8) -> Result<usize, KeyError> {
    let sign = input.first().ok_or(KeyError::Truncated { offset: 0 })? ^ mask;
    let end = match sign {
        ZERO => return Ok(1),
        NEGATIVE => !END ^ mask,
        POSITIVE => END ^ mask,
        _ => return Err(bad_value()),
    };
    let digits = input.get(2..).unwrap_or_default();
    let end = digits.iter().position(|byte| *byte == end).ok_or(KeyError::Truncated { offset: input.len() })?;
    Ok(end + 3)
}

/// Reads a number that fills `bytes` (ascending form).
pub(crate) fn decode(bytes: &[u8]) -> Result<Decimal, KeyError> {
    let (sign, mask) = match bytes {
        [ZERO] => return Ok(Decimal::ZERO),
        [NEGATIVE, ..] => (-1, 0xFF),
        [POSITIVE, ..] => (1, 0),
        [] => return Err(KeyError::Truncated { offset: 0 }),
        _ => return Err(bad_value()),
    };
    let value = match bytes {
        [_, exponent, pairs @ .., end] if end ^ mask == END => number(exponent ^ mask, pairs, mask),
        _ => None,
    };
    value.map(|value| Decimal { unscaled: sign * value.unscaled, scale: value.scale }).ok_or_else(bad_value)
}

fn number(exponent: u8, pairs: &[u8], mask: u8) -> Option<Decimal> {
    // One number, one form: the first digit and the last pair are not zero, or `encode` did not write this.
    let (first, last) = (pairs.first()? ^ mask, pairs.last()? ^ mask);
    if first <= 10 || last == 1 {
        return None;
    }
    let mut unscaled = 0_i128;
    for byte in pairs {
        let pair = (byte ^ mask).checked_sub(1).filter(|pair| *pair < 100)?;
        unscaled = unscaled.checked_mul(100)?.checked_add(i128::from(pair))?;
    }
    let digits = i32::try_from(pairs.len()).ok()? * 2;
    let mut scale = digits - (i32::from(exponent) - i32::from(EXPONENT_BIAS));
    // The last pair may hold one digit and a zero; without it 38 digits behind the point would seem to be 39.
    while scale > 0 && unscaled != 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    if scale < 0 {
        let factor = types::decimal::power_of_ten(u8::try_from(-scale).ok()?)?;
        return Decimal::new(unscaled.checked_mul(factor)?, 0);
    }
    Decimal::new(unscaled, u8::try_from(scale).ok()?)
}

fn bad_value() -> KeyError {
    KeyError::BadValue { offset: 0, ty: DataType::Numeric(None).sql_name() }
}
