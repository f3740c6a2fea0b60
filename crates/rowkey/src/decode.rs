//! Decodes keys, completely or part by part.
//!
//! Scans use [`KeySchema::split`] and [`crate::KeyPart::cell`] with reused buffers, to avoid allocations per row.

use crate::{KeyError, KeySchema};
use types::Datum;

impl KeySchema {
    /// Decodes all parts. The salt byte must be present, but is not verified.
    ///
    /// # Errors
    /// [`KeyError`] with the offset at which the bytes stop being a key of this schema.
    pub fn decode(&self, key: &[u8]) -> Result<Vec<Datum>, KeyError> {
        let mut values = Vec::with_capacity(self.parts.len());
        let mut buffer = Vec::new();
        let mut offset = self.salt_width();
        for part in &self.parts {
            let bytes = front(part, key, offset)?;
            values.push(part.decode(bytes, &mut buffer).map_err(|error| error.at(offset))?);
            offset += bytes.len();
        }
        ended(key, offset)?;
        Ok(values)
    }

    /// Overwrites `slots` with the start and end of every part.
    ///
    /// # Errors
    /// [`KeyError`] if the bytes are not of this schema; values are not checked.
    pub fn split(&self, key: &[u8], slots: &mut Vec<(usize, usize)>) -> Result<(), KeyError> {
        slots.clear();
        let mut offset = self.salt_width();
        for part in &self.parts {
            let end = offset + front(part, key, offset)?.len();
            slots.push((offset, end));
            offset = end;
        }
        ended(key, offset)
    }

    /// The start of a part, in a key with all parts and no trailing bytes.
    ///
    /// # Errors
    /// As [`KeySchema::split`]; [`KeyError::NoSuchPart`].
    pub fn part_start(&self, key: &[u8], part: usize) -> Result<usize, KeyError> {
        let (mut offset, mut start) = (self.salt_width(), None);
        for (at, of_key) in self.parts.iter().enumerate() {
            if at == part {
                start = Some(offset);
            }
            offset += front(of_key, key, offset)?.len();
        }
        ended(key, offset)?;
        start.ok_or(KeyError::NoSuchPart { part })
    }

    /// The bytes of one part. Skips preceding parts of variable width one by one; to read several parts,
    /// [`KeySchema::split`] is faster.
    ///
    /// # Errors
    /// [`KeyError`] if the bytes are not of this schema, [`KeyError::NoSuchPart`].
    pub fn part_bytes<'a>(&self, key: &'a [u8], part: usize) -> Result<&'a [u8], KeyError> {
        let wanted = self.parts.get(part).ok_or(KeyError::NoSuchPart { part })?;
        let mut offset = self.fixed_offset(part).unwrap_or(self.salt_width());
        if self.fixed_offset(part).is_none() {
            for before in self.parts.iter().take(part) {
                offset += front(before, key, offset)?.len();
            }
        }
        front(wanted, key, offset)
    }

    /// Decodes one part; `buffer` is scratch space that the caller reuses.
    ///
    /// # Errors
    /// As [`KeySchema::part_bytes`].
    pub fn decode_part(&self, key: &[u8], part: usize, buffer: &mut Vec<u8>) -> Result<Datum, KeyError> {
        let bytes = self.part_bytes(key, part)?;
        self.parts.get(part).ok_or(KeyError::NoSuchPart { part })?.decode(bytes, buffer)
    }

    /// The key without its salt byte.
    pub fn unsalted<'a>(&self, key: &'a [u8]) -> &'a [u8] {
        key.get(self.salt_width()..).unwrap_or_default()
    }
}

/// The bytes of the part at `offset`.
fn front<'a>(part: &crate::KeyPart, key: &'a [u8], offset: usize) -> Result<&'a [u8], KeyError> {
    let rest = key.get(offset..).ok_or(KeyError::Truncated { offset: key.len() })?;
    let length = part.length(rest).map_err(|error| error.at(offset))?;
    rest.get(..length).ok_or(KeyError::Truncated { offset: key.len() })
}

fn ended(key: &[u8], offset: usize) -> Result<(), KeyError> {
    if offset == key.len() { Ok(()) } else { Err(KeyError::TrailingBytes { offset }) }
}
