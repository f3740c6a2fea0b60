//! `numeric` without precision: sign, exponent, digits and an end mark, in an order-preserving encoding.
//!
//! The number is `0.d1d2d3... * 10^exponent` with nonzero `d1`, so numbers of one sign compare by exponent first, then
//! by digits. Two digits are one byte, 01 to 64 (hex) for 00 to 99; 00 ends the digits and sorts below every pair. For
//! a negative number, all bytes after the sign are inverted.
//!
//! ```text
//!     12.5  03  42  0D 33 00      0.125 * 10^2: exponent 40 + 2, pairs 12 and 50, end
//!        0  02
//!    -12.5  01  BD  F2 CC FF
//! ```
//!
//! Trailing zeros are removed, so equal numbers (1.0 and 1.00) have equal bytes. The signs 00 and 04 to FF are reserved
//! for infinities and NaN before and after the numbers.

use crate::KeyError;
use types::{DataType, Decimal};

const NEGATIVE: u8 = 0x01;
const ZERO: u8 = 0x02;
const POSITIVE: u8 = 0x03;
/// Added to the exponent (-37 to 38) to get an unsigned byte.
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

/// The length of the number at the front of `input`; `mask` is FF in a descending part.
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

/// Decodes a number that fills `bytes` (ascending).
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
    // Each number has one encoding: the first digit and the last pair are nonzero, or `encode` did not write the bytes.
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
    // The last pair may end in a padding zero; with it, 38 digits after the decimal point would count as 39.
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
