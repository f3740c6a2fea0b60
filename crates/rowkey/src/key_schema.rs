//! The schema of a table's rowkeys.

use serde::{Deserialize, Serialize};
use types::DataType;

/// The id of this codec. Each table records it, so that another encoding can be added as a second codec.
pub const CODEC_ID: u16 = 1;

/// Maximum length of a key, including the salt: HBase's limit, applied to every store.
pub const MAX_KEY_BYTES: usize = 32_767;

/// The parts of a key, in key order, and its salt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySchema {
    /// Never empty.
    pub parts: Vec<KeyPart>,
    /// Number of salt buckets, from 2 to 256; `None` without a salt byte.
    pub salt_buckets: Option<u16>,
    /// Whether the salt is that of another key, set by the caller. Then the bucket cannot be computed from the key.
    #[serde(default)]
    pub salted_by_row: bool,
}

/// One part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyPart {
    /// Type of its values.
    pub ty: DataType,
    /// Sorted from large to small.
    pub descending: bool,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Whether NULLs sort before all values, in either direction.
    pub nulls_first: bool,
}

impl KeyPart {
    /// An ascending NOT NULL part.
    pub fn ascending(ty: DataType) -> Self {
        Self { ty, descending: false, nullable: false, nulls_first: false }
    }

    /// A descending NOT NULL part.
    pub fn descending(ty: DataType) -> Self {
        Self { ty, descending: true, nullable: false, nulls_first: true }
    }
}

impl KeySchema {
    /// A key without salt.
    pub fn new(parts: Vec<KeyPart>) -> Self {
        Self { parts, salt_buckets: None, salted_by_row: false }
    }

    /// Width of the salt byte: 0 or 1.
    pub fn salt_width(&self) -> usize {
        usize::from(self.salt_buckets.is_some())
    }

    /// Offset of a part, including the salt byte, if all parts before it are NOT NULL and fixed-width.
    pub fn fixed_offset(&self, part: usize) -> Option<usize> {
        let before = self.parts.get(..part).filter(|_| part < self.parts.len())?;
        before.iter().try_fold(self.salt_width(), |offset, part| Some(offset + part.fixed_width()?))
    }

    /// Offset and width of a part that has the same position in every key.
    pub fn fixed_slot(&self, part: usize) -> Option<(usize, usize)> {
        Some((self.fixed_offset(part)?, self.parts.get(part)?.fixed_width()?))
    }

    /// Offset and width of each part's value in a key without NULLs, and the length of such a key, if all types are
    /// fixed-width. A key of another length has NULLs, because a NULL takes fewer bytes than a value.
    pub fn slots_without_nulls(&self) -> Option<(Vec<(usize, usize)>, usize)> {
        let (mut slots, mut end) = (Vec::with_capacity(self.parts.len()), self.salt_width());
        for part in &self.parts {
            let (start, width) = (end + usize::from(part.nullable), part.ty.fixed_width()?);
            slots.push((start, width));
            end = start + width;
        }
        Some((slots, end))
    }

    /// Length of every key, if constant.
    pub fn fixed_len(&self) -> Option<usize> {
        self.parts.iter().try_fold(self.salt_width(), |len, part| Some(len + part.fixed_width()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Datum;

    #[test]
    fn a_key_is_as_long_as_one_without_nulls_if_it_has_none() {
        let nullable = |ty| KeyPart { nullable: true, ..KeyPart::ascending(ty) };
        let parts = vec![nullable(DataType::Integer), KeyPart::descending(DataType::BigInt), nullable(DataType::Date)];
        let schema = KeySchema::new(parts);
        let (slots, length) = schema.slots_without_nulls().unwrap_or_default();
        assert_eq!((slots.as_slice(), length), ([(1, 4), (5, 8), (14, 4)].as_slice(), 18));
        let values = [Datum::Int4(7), Datum::Int8(8), Datum::Date(9)];
        for nulls in 0..4_u8 {
            let value = |at: usize| match at != 1 && nulls & (1 << (at / 2)) != 0 {
                true => Datum::Null,
                false => values.get(at).cloned().unwrap_or(Datum::Null),
            };
            let mut key = Vec::new();
            assert_eq!(schema.encode(&[value(0), value(1), value(2)], &mut key), Ok(()));
            assert_eq!(key.len() == length, nulls == 0, "{nulls:b}: {key:?}");
        }
        let variable = KeySchema::new(vec![KeyPart::ascending(DataType::Text)]);
        assert_eq!(variable.slots_without_nulls(), None);
    }
}
