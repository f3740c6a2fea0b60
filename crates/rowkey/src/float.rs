//! Floats: IEEE bits, transformed into the order of SQL.
//!
//! The sign bit of a positive number is set, all bits of a negative number are inverted; then the bytes compare as the
//! numbers do. Both zeros are encoded as `0.0`, and every `NaN` alike, above `Infinity`.
//!
//! ```text
//! double  -Infinity  00 0F FF FF FF FF FF FF
//!               0.0  80 00 00 00 00 00 00 00
//!               1.0  BF F0 00 00 00 00 00 00
//!          Infinity  FF F0 00 00 00 00 00 00
//!               NaN  FF F8 00 00 00 00 00 00
//! ```

const SIGN32: u32 = 1 << 31;
const SIGN64: u64 = 1 << 63;

/// Encodes a `real`.
pub fn single_to_bytes(value: f32) -> [u8; 4] {
    let canonical = if value.is_nan() {
        0x7FC0_0000
    } else if value == 0.0 {
        0
    } else {
        value.to_bits()
    };
    let ordered = if canonical & SIGN32 == 0 { canonical | SIGN32 } else { !canonical };
    ordered.to_be_bytes()
}

/// Decodes a `real`; `None` for bytes that the encoder does not write: a negative zero or a non-canonical `NaN`.
pub fn single_from_bytes(bytes: [u8; 4]) -> Option<f32> {
    let ordered = u32::from_be_bytes(bytes);
    let value = f32::from_bits(if ordered & SIGN32 == 0 { !ordered } else { ordered ^ SIGN32 });
    (single_to_bytes(value) == bytes).then_some(value)
}

/// Encodes a `double precision`.
pub fn double_to_bytes(value: f64) -> [u8; 8] {
    let canonical = if value.is_nan() {
        0x7FF8_0000_0000_0000
    } else if value == 0.0 {
        0
    } else {
        value.to_bits()
    };
    let ordered = if canonical & SIGN64 == 0 { canonical | SIGN64 } else { !canonical };
    ordered.to_be_bytes()
}

/// As [`single_from_bytes`].
pub fn double_from_bytes(bytes: [u8; 8]) -> Option<f64> {
    let ordered = u64::from_be_bytes(bytes);
    let value = f64::from_bits(if ordered & SIGN64 == 0 { !ordered } else { ordered ^ SIGN64 });
    (double_to_bytes(value) == bytes).then_some(value)
}
