//! Integers: big-endian with the sign bit flipped, so that the bytes compare as the numbers do.
//!
//! ```text
//! integer   -2147483648  00 00 00 00
//!                    -1  7F FF FF FF
//!                     0  80 00 00 00
//!                     1  80 00 00 01
//! ```

/// A signed integer with an order-preserving encoding of `N` bytes.
pub trait Ordered<const N: usize>: Copy {
    /// Encodes the integer.
    fn to_ordered(self) -> [u8; N];
    /// Decodes the integer.
    fn from_ordered(bytes: [u8; N]) -> Self;
}

macro_rules! ordered {
    ($($int:ty, $bytes:literal;)*) => {$(
        impl Ordered<$bytes> for $int {
            fn to_ordered(self) -> [u8; $bytes] {
                (self ^ <$int>::MIN).to_be_bytes()
            }

            fn from_ordered(bytes: [u8; $bytes]) -> Self {
                <$int>::from_be_bytes(bytes) ^ <$int>::MIN
            }
        }
    )*};
}

ordered! {
    i16, 2;
    i32, 4;
    i64, 8;
    i128, 16;
}
